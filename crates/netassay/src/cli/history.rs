//! The command line of `history`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use results::HistoryOrder;
use study::Percent;

use super::common::{Choice, Stored, Tables, one_of};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay history\n  netassay history quick --condition 'ipv4 offloads=none' -o history.svg\n  netassay history --tags 'v6.*' --metric receiver.cpu\n  netassay history nightly --last 30 --format json"
)]
pub(crate) struct History {
    /// The name of the studies; a number or a tag means the name of that study [default: the name
    /// of the newest study]
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<String>,
    /// The metric, such as throughput, receiver.cpu, latency_p99 [default: those of the newest
    /// study's comparisons]
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// A condition of the newest study, by its label or its short name; repeatable [default: all]
    #[arg(long, value_name = "CONDITION")]
    pub(crate) condition: Vec<String>,
    /// Only studies with a tag like this: * stands for any text, ? for any character; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(crate) tags: Vec<String>,
    /// The order of the studies [default: version with --tags, else time]
    #[arg(long, value_parser = one_of(ORDERS))]
    pub(crate) order: Option<HistoryOrder>,
    /// Only so many studies, the newest
    #[arg(long, value_name = "COUNT", default_value = "200")]
    pub(crate) last: NonZeroUsize,
    /// The confidence with which a history without a change shows none
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "95%")]
    pub(crate) confidence: Percent,
    /// Apply the confidence to each condition by itself, not to all together
    #[arg(long)]
    pub(crate) uncorrected: bool,
    /// Also write the chart to this file: .svg, or .html with its table
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) stored: Stored,
}

const ORDERS: &[Choice<HistoryOrder>] = &[
    (HistoryOrder::Time, "time", "The time at which they began"),
    (HistoryOrder::Version, "version", "The versions in their tags: v6.2 before v6.12"),
];

//! The command lines of `advise` and `gate`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use results::advice::AdviceGoal;
use results::gate::{Bound, GateOutcome};
use study::Percent;

use super::common::{Database, WIDE, word_of};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay advise\n  netassay advise 3 4 5 6 --goal throughput\n  netassay advise 3 --format md\n  netassay advise --fleet --goal cpu\n  netassay advise 3 --goal throughput --format sh > advice.sh\n  IF=eth0 sh advice.sh apply transmitter"
)]
pub(crate) struct Advise {
    /// Stored studies: numbers, tags or names (`netassay db list`) [default: the newest]
    #[arg(value_name = "STUDY")]
    pub(crate) studies: Vec<String>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Over all pairs of machines that the study's campaign measured: what holds on how many of
    /// them, and on which not (docs/fleets.md)
    #[arg(long)]
    pub(crate) fleet: bool,
    #[arg(long, help = WIDE)]
    pub(crate) wide: bool,
    #[command(flatten)]
    pub(crate) database: Database,
    /// The form of the advice
    #[arg(long, value_enum, default_value_t = AdviceFormat::Text)]
    pub(crate) format: AdviceFormat,
}

/// The question to the studies.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// A goal; repeatable [default: all that the studies measured]
    #[arg(long = "goal", value_name = "GOAL", value_parser = word_of::<AdviceGoal>())]
    pub(crate) goals: Vec<AdviceGoal>,
    /// The smallest difference that matters, in % of its base
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "2%")]
    pub(crate) matters: Percent,
    /// Confidence of all that is called proven in one study, together
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "95%")]
    pub(crate) confidence: Percent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdviceFormat {
    /// For people
    Text,
    /// Markdown, for a pull request or a mailing list
    Md,
    /// One JSON document
    Json,
    /// A script that applies and undoes what is recommended; it changes nothing by itself
    Sh,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "netassay gate [OPTIONS] --fail-if <BOUND> --baseline <STUDY> [STUDY]\n       netassay gate [OPTIONS] --fail-if <BOUND> --baseline-condition <CONDITION> [STUDY]",
    group(ArgGroup::new("beside").required(true).args(["baseline", "baseline_condition"])),
    after_help = "Exit codes: 0 pass, 10 fail, 11 inconclusive (or as --inconclusive says). docs/ci.md has workflows for GitHub and GitLab.\n\nExamples:\n  netassay gate new --baseline main --fail-if 'throughput < -2%' --fail-if 'cpu > +3%'\n  netassay gate --baseline 3 --fail-if 'kernel_instructions_packet > +0.5%' --require-complete\n  netassay gate kernel-ab --baseline-condition kernel=running --fail-if 'latency_p99 > +20us'\n  netassay gate new --baseline main --fail-if 'throughput < -2%' --format junit -o gate.xml\n  netassay gate new --baseline main --fleet --fail-if 'throughput < -2%'"
)]
pub(crate) struct Gate {
    /// The stored study to judge: its number, a tag or its name [default: the newest]
    pub(crate) study: Option<String>,
    /// Judge it against this stored study (number, tag or name)
    #[arg(long, value_name = "STUDY")]
    pub(crate) baseline: Option<String>,
    /// Judge its conditions against others of the same study: one by its label or its short name,
    /// or FACTOR=LEVEL, such as kernel=running: each condition against the one that differs from it
    /// in that factor alone
    #[arg(long, value_name = "CONDITION | FACTOR=LEVEL")]
    pub(crate) baseline_condition: Option<String>,
    /// Judge the campaign of the study over the pairs of machines that the baseline's campaign
    /// measured too (docs/fleets.md)
    #[arg(long, conflicts_with = "baseline_condition")]
    pub(crate) fleet: bool,
    /// A metric, < or >, and how far it may differ from the baseline: 'throughput < -2%' (of the
    /// baseline), 'latency_p99 > +20us'; repeatable
    #[arg(long, value_name = "BOUND", required = true)]
    pub(crate) fail_if: Vec<Bound>,
    /// The outcome where no check fails and some are inconclusive
    #[arg(long, value_name = "OUTCOME", value_parser = word_of::<GateOutcome>(), default_value = "inconclusive")]
    pub(crate) inconclusive: GateOutcome,
    /// Exit codes for `git bisect run`: 0 pass, 1 fail, 125 inconclusive or not comparable, 128 and
    /// more for everything else
    #[arg(long, conflicts_with = "inconclusive")]
    pub(crate) bisect: bool,
    /// Do not pass a study that lacks planned runs, or conditions of the baseline
    #[arg(long)]
    pub(crate) require_complete: bool,
    /// A TOML file of regressions that are known and accepted until a day (docs/ci.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) acknowledged: Option<PathBuf>,
    /// Confidence that the gate does not err, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 95.0)]
    pub(crate) confidence: f64,
    /// The form of the result; with --output only the file has this format
    #[arg(long, value_enum, default_value_t = GateFormat::Text)]
    pub(crate) format: GateFormat,
    /// Write the result to this file too
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[arg(long, help = WIDE)]
    pub(crate) wide: bool,
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// For people
    Text,
    /// Markdown, for a pull request
    Md,
    /// JUnit's XML, for a CI server
    Junit,
    /// One JSON document
    Json,
}

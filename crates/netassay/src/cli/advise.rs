//! The command line of `advise`.

use clap::{Args, ValueEnum};
use results::advice::AdviceGoal;
use study::Percent;

use super::common::{Choice, Database, Tables, one_of};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay advise\n  netassay advise 3 4 5 6 --goal throughput\n  netassay advise 3 --format md\n  netassay advise 3 --goal throughput --format sh > advice.sh\n  IF=eth0 sh advice.sh apply transmitter"
)]
pub(crate) struct Advise {
    /// Stored studies: numbers, tags or names (`netassay db list`) [default: the newest]
    #[arg(value_name = "STUDY")]
    pub(crate) studies: Vec<String>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) database: Database,
    /// How to print the advice
    #[arg(long, value_enum, default_value_t = AdviceFormat::Text)]
    pub(crate) format: AdviceFormat,
}

/// What is asked of the studies.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// What is to be improved; repeatable [default: all that the studies measured]
    #[arg(long = "goal", value_name = "GOAL", value_parser = one_of(GOALS))]
    pub(crate) goals: Vec<AdviceGoal>,
    /// The smallest difference that matters, in % of its base
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "2%")]
    pub(crate) matters: Percent,
    /// Confidence of all that is called proven in one study, together
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "95%")]
    pub(crate) confidence: Percent,
}

const GOALS: &[Choice<AdviceGoal>] = &[
    (AdviceGoal::Throughput, "throughput", "The rate: payload, packets or transactions per second"),
    (AdviceGoal::Cpu, "cpu", "CPU time per unit of work, on the side where the switch is set"),
    (AdviceGoal::Latency, "latency", "The time that 99 % of the transactions stay within"),
];

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

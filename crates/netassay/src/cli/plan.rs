//! The command line of `plan`.

use clap::Args;
use study::Percent;

use super::common::Stored;
use super::run::Changes;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay plan tcp-offload --detect 1%\n  netassay plan my.toml --detect 2% --power 90% --from 3\n  netassay plan my.toml --detect 2% --interaction 0.5% --within 3%"
)]
pub(crate) struct Plan {
    /// A bundled study or a TOML file
    pub(crate) study: String,
    #[command(flatten)]
    pub(crate) set: Changes,
    /// The difference to prove, in % of the baseline, such as 1%
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse)]
    pub(crate) detect: Percent,
    /// The chance to prove it, if it exists
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "80%")]
    pub(crate) power: Percent,
    /// Confidence of the intervals
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, default_value = "95%")]
    pub(crate) confidence: Percent,
    /// The metric [default: that of the study's first comparison]
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// Take the spread from this stored study (number, tag or name) [default: of those that show
    /// it one of this study, complete, with the same windows, and of several the newest]
    #[arg(long, value_name = "STORED", conflicts_with = "within")]
    pub(crate) from: Option<String>,
    /// State the spread of condition x boot, in % of the mean, instead of taking it from stored
    /// studies
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, requires = "within")]
    pub(crate) interaction: Option<Percent>,
    /// State the spread between runs, in % of the mean
    #[arg(long, value_name = "SHARE", value_parser = Percent::parse, requires = "interaction")]
    pub(crate) within: Option<Percent>,
    #[command(flatten)]
    pub(crate) stored: Stored,
}

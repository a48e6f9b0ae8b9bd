//! The command line of `study`: study files before they are measured.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use study::Percent;

use super::common::{Formatted, Stored};
use super::run::Changes;

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Write a commented starter study to NAME.toml
    New {
        /// The study's name; the file is NAME.toml in this directory
        name: String,
    },
    /// Check a study file, and show problems with line, column and remedy
    Check(Check),
    /// Compute how many boots and runs a difference needs, and how long they take
    Plan(Plan),
    /// List the bundled studies
    List(Formatted),
    /// Print the file of a bundled study
    Print {
        /// The name of the study (`netassay study list`)
        name: String,
    },
    /// Print the JSON schema of study files
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The study file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) set: Changes,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay study plan tcp-offload --detect 1%\n  netassay study plan my.toml --detect 2% --power 90% --from 3\n  netassay study plan my.toml --detect 2% --interaction 0.5% --within 3%"
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

//! The command line of `trace`.

use clap::Args;

use super::common::Formatted;

#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// List the bundled paths, each stage with what this kernel offers to probe; or only these
    #[arg(long, value_name = "NAME", num_args = 0.., required = true)]
    pub(crate) paths: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

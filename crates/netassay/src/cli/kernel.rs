//! The command line of `netassay kernel`.

use clap::{Args, Subcommand};

use super::common::{Formatted, Tables};

pub(super) const EXAMPLES: &str = "Examples:\n  netassay kernel fetch linux-image-cloud-amd64\n  netassay kernel fetch linux-image-cloud-amd64/bookworm-backports\n  netassay kernel fetch ./linux-image-6.12.0-1-amd64_6.12.1-1_amd64.deb\n  netassay kernel list";

#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// Fetch a distribution's kernel package and unpack it for guests; nothing is installed
    Fetch(Fetch),
    /// List the kernels that were fetched
    List(Listing),
}

#[derive(Debug, Args)]
pub(crate) struct Listing {
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[derive(Debug, Args)]
pub(crate) struct Fetch {
    /// The package, such as linux-image-cloud-amd64, with /RELEASE for that of a release, or a .deb
    /// file
    pub(crate) package: String,
}

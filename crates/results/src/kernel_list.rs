//! The kernels that were fetched for guests: this is the JSON of `netassay kernel list`.

use std::path::PathBuf;

use serde::Serialize;

/// A kernel that was fetched.
#[derive(Debug, Serialize)]
pub struct ListedKernel {
    /// The package, which is its name in a study.
    pub package: String,
    /// Other names: packages that refer to it.
    pub aliases: Vec<String>,
    /// The version of the package.
    pub version: Option<String>,
    /// The release of the kernel.
    pub release: Option<String>,
    /// Its image.
    pub image: PathBuf,
    /// The directory of its modules.
    pub modules: Option<PathBuf>,
}

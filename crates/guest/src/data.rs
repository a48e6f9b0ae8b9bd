//! Where fetched kernels are kept.

use std::env;
use std::path::PathBuf;

use crate::error::Error;

/// `$XDG_DATA_HOME/netassay/kernels`, or `~/.local/share/netassay/kernels` (XDG base directory specification: a relative
/// `XDG_DATA_HOME` does not count).
pub(crate) fn kernels() -> Result<PathBuf, Error> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = named("XDG_DATA_HOME").or_else(|| named("HOME").map(|home| home.join(".local/share")));
    Ok(data.ok_or(Error::NoHome)?.join("netassay/kernels"))
}

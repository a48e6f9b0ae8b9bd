//! The directories of fetched kernels and of trial results (XDG base directory specification:
//! relative directories do not count).

use std::env;
use std::path::PathBuf;

use crate::guest::error::Error;

/// `$XDG_DATA_HOME/netassay/kernels`, or `~/.local/share/netassay/kernels`.
pub(crate) fn kernels() -> Result<PathBuf, Error> {
    Ok(base("XDG_DATA_HOME", ".local/share").ok_or(Error::NoHome)?.join("netassay/kernels"))
}

/// `$XDG_CACHE_HOME/netassay/tried`, or `~/.cache/netassay/tried`.
pub(crate) fn tried() -> Option<PathBuf> {
    Some(base("XDG_CACHE_HOME", ".cache")?.join("netassay/tried"))
}

fn base(variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named(variable).or_else(|| named("HOME").map(|home| home.join(in_home)))
}

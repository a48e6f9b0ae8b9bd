use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::Target;

/// Why a setting of the machine cannot be read or changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// No setting that may be changed.
    #[error("cannot change {target}: {why}")]
    Forbidden {
        /// The setting.
        target: Target,
        /// Why not.
        why: String,
    },
    /// It cannot be read.
    #[error("cannot read {target}: {}: {errno}{}", path.display(), hint(errno))]
    Read {
        /// The setting.
        target: Target,
        /// Its file.
        path: PathBuf,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// It cannot be written.
    #[error("cannot set {target} to {value:?}: {}: {errno}{}", path.display(), hint(errno))]
    Write {
        /// The setting.
        target: Target,
        /// The value.
        value: String,
        /// Its file.
        path: PathBuf,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// Written, and read back otherwise.
    #[error("{target} was set to {value:?} and reads back {got:?}: {why}")]
    NotTaken {
        /// The setting.
        target: Target,
        /// The value asked for.
        value: String,
        /// The value read back.
        got: String,
        /// What that may come from.
        why: String,
    },
    /// The old value cannot be written back.
    #[error("{target} is not changed, because its present value could not be written back: {why}")]
    NoWayBack {
        /// The setting.
        target: Target,
        /// What happened when it was tried.
        why: String,
    },
    /// This file tells which boot of the machine, or which network namespace, this is; it cannot be
    /// read.
    #[error("cannot identify this machine and its boot, so nothing is changed or undone: {} cannot be read; mount /proc", .0.display())]
    Identity(PathBuf),
    /// No CPU has a governor.
    #[error(
        "no CPU here has a frequency governor (a virtual machine, or no cpufreq driver): remove `governor` from [machine]"
    )]
    NoGovernor,
    /// The interface has no interrupts of its own.
    #[error(
        "interface {0:?} has no interrupts of its own here (virtual, or it does not exist): remove it from `irq_affinity`"
    )]
    NoInterrupts(String),
    /// None of the features of a name can be switched.
    #[error(
        "interface {interface:?} cannot switch {names}: its driver does not allow it, or this kernel does not know it"
    )]
    NoFeature {
        /// The interface.
        interface: String,
        /// The features, in a row.
        names: String,
    },
    /// The interface's features cannot be read or set.
    #[error(transparent)]
    Host(#[from] crate::Error),
}

/// The way out that holds for every such file.
fn hint(errno: &io::Error) -> &'static str {
    match errno.kind() {
        io::ErrorKind::PermissionDenied => "; it needs root, outside of any user namespace",
        io::ErrorKind::ReadOnlyFilesystem => {
            "; it is mounted for reading only, as in most containers: run outside of it"
        }
        io::ErrorKind::NotFound => "; this kernel, or this network namespace, does not have it",
        io::ErrorKind::InvalidInput => "; the kernel rejects this value",
        _ => "",
    }
}

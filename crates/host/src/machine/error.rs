//! Errors of reading or changing a setting of the machine.

use std::io;
use std::path::Path;

use super::{Target, Value};
use crate::error::Error;

/// The setting must not be changed.
pub(super) fn forbidden(target: &Target, why: &str) -> Error {
    format!("cannot change {target}: {why}").into()
}

/// The setting is the whole machine's, and no network namespace's own.
pub(super) fn shared(target: &Target) -> Error {
    format!(
        "cannot set {target} in a network namespace: this kernel keeps one for the whole machine, if any; vary it between machines (--transmitter, --receiver and --change-machine), or set it before for both ends"
    )
    .into()
}

/// The setting's file cannot be read.
pub(super) fn unreadable(target: &Target, path: &Path, errno: io::Error) -> Error {
    refused(format_args!("read {target}"), path, errno)
}

/// The setting's file cannot be written.
pub(super) fn unwritable(target: &Target, value: &Value, path: &Path, errno: io::Error) -> Error {
    refused(format_args!("set {target} to {:?}", value.to_string()), path, errno)
}

fn refused(action: std::fmt::Arguments<'_>, path: &Path, errno: io::Error) -> Error {
    let way_out = hint(&errno);
    Error::failed(format_args!("cannot {action}: {}", path.display()), errno, way_out)
}

/// The value reads back differently after the write, perhaps because of `why`.
pub(super) fn not_taken(target: &Target, value: &Value, got: &str, why: &str) -> Error {
    format!("{target} was set to {:?} and reads back {got:?}: {why}", value.to_string()).into()
}

/// None of the features of a name can be switched; `names` are in a row.
pub(super) fn no_feature(interface: &str, names: &str) -> Error {
    format!(
        "interface {interface:?} cannot switch {names}: its driver does not allow it, or this kernel does not know it"
    )
    .into()
}

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

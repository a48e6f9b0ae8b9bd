//! The files that netassay writes.

use std::io::ErrorKind;
use std::path::Path;

pub(crate) use host::user_file::MayReplace;

use crate::failure::Failure;
use crate::output::named;

/// Writes a file over what may stand in its place.
pub(crate) fn write(path: &Path, text: &str, may_replace: MayReplace) -> Result<(), Failure> {
    host::user_file::write(path, text.as_bytes(), may_replace).map_err(|source| match source.kind() {
        ErrorKind::IsADirectory => {
            Failure::Usage(format!("{} is a directory: name a file in it", named(path)))
        }
        ErrorKind::InvalidInput => Failure::Usage(format!("cannot write {}: {source}", named(path))),
        _ => Failure::Write { path: path.to_owned(), source },
    })
}

//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::output::named;

/// Writes a file: aside first, then under its name, so that a reader finds the old one or the new
/// one. A link stays, and what it names is replaced; a pipe or a device is written to.
///
/// # Errors
/// [`Failure::Usage`] for a directory and for the database itself; [`Failure::Write`] where the
/// system refuses.
pub(crate) fn replace(path: &Path, text: &str, db: &Path) -> Result<(), Failure> {
    let failed = |source: io::Error| Failure::Write { path: path.to_owned(), source };
    let found = fs::canonicalize(path).ok();
    if found.is_some() && found == fs::canonicalize(db).ok() {
        return Err(Failure::Usage(format!(
            "{} is the database: name another file with --output",
            named(path)
        )));
    }
    if let Some(place) = &found {
        let kind = fs::metadata(place).map_err(failed)?;
        if kind.is_dir() {
            return Err(Failure::Usage(format!(
                "{} is a directory: name a file in it with --output",
                named(path)
            )));
        }
        if !kind.is_file() {
            return File::options()
                .write(true)
                .open(place)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(failed);
        }
    }
    let place = found.unwrap_or_else(|| path.to_owned());
    let aside = aside(&place);
    let written = File::create_new(&aside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        fs::rename(&aside, &place)
    });
    written.map_err(|source| {
        // What could not be made cannot be removed.
        if source.kind() != io::ErrorKind::AlreadyExists {
            let _ = fs::remove_file(&aside);
        }
        failed(source)
    })
}

/// A name of this process in the same directory.
fn aside(path: &Path) -> PathBuf {
    path.with_file_name(format!(".netassay-{}.tmp", std::process::id()))
}

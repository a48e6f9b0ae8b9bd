//! Standard output: data, and nothing else.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::failure::Failure;

/// Writes data to standard output. Whatever names, files and databases put into it, nothing commands the terminal.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text::lines(text).as_bytes()).and_then(|()| out.flush()).map_err(|error| {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Write { path: "standard output".into(), source: error },
        }
    })
}

/// A file's name on one line.
pub(crate) fn named(path: &Path) -> String {
    text::line(&path.display().to_string()).into_owned()
}

/// Writes one JSON value, indented, to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

/// One JSON value, indented, with every text exact: what a terminal must not see stands behind JSON's own escapes.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(format!("{}\n", text::escaped_json(&text)))
}

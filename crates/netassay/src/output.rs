//! Standard output: data, and nothing else.

use std::io::{self, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Writes data to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => Failure::Write { path: "standard output".into(), source: error },
    })
}

/// Writes one JSON value, indented, to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text =
        serde_json::to_string_pretty(value).map_err(|error| Failure::Internal(error.to_string()))?;
    text.push('\n');
    print(&text)
}

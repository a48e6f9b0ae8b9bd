//! A figure in a file of its own.

use std::path::Path;

use report::chart::{Figure, WIDE};

use crate::failure::Failure;
use crate::output::named;

/// How a figure is written.
pub(super) type Write = fn(&Figure) -> String;

/// An SVG file on paper of its own; it follows the reader's theme.
fn svg(figure: &Figure) -> String {
    format!("{}\n", figure.picture(WIDE))
}

/// How a file of this name is written; standard output gets an SVG file.
pub(super) fn written_to(path: &Path) -> Result<Write, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Ok(|figure| format!("{}\n", report::figure_page(figure))),
        Some("svg") => Ok(svg),
        _ if path.as_os_str() == "-" => Ok(svg),
        _ => Err(Failure::Usage(format!(
            "{}: a chart is an .svg or an .html file: end its name so",
            named(path)
        ))),
    }
}

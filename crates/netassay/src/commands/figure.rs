//! A figure in a file of its own.

use std::path::Path;

use report::standalone_figure;
use results::chart::Figure;

use crate::failure::Failure;
use crate::output::named;

/// How a figure is written.
pub(super) type Write = fn(&Figure) -> String;

/// How a file of this name is written; standard output gets an SVG file.
pub(super) fn written_to(path: &Path) -> Result<Write, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(standalone_figure::svg),
        Some("html" | "htm") => Ok(standalone_figure::html),
        _ if path.as_os_str() == "-" => Ok(standalone_figure::svg),
        _ => Err(Failure::Usage(format!(
            "{}: a chart is an .svg or an .html file: end its name so",
            named(path)
        ))),
    }
}

//! A figure in a file of its own.

use std::path::Path;

use chart::Figure;
use page::{Section, alone};

use crate::failure::Failure;
use crate::output::named;

/// How a figure is written.
pub(super) type Write = fn(&Figure) -> String;

/// How a file of this name is written; standard output gets an SVG file.
pub(super) fn written_to(path: &Path) -> Result<Write, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(alone::svg),
        Some("html" | "htm") => Ok(alone::html),
        _ if path.as_os_str() == "-" => Ok(alone::svg),
        _ => Err(Failure::Usage(format!(
            "{}: a chart is an .svg or an .html file: end its name so",
            named(path)
        ))),
    }
}

/// The figure with this name in the page; the error lists those that there are.
pub(super) fn find<'a>(sections: &'a [Section], name: &str) -> Result<&'a Figure, Failure> {
    let figures = || sections.iter().flat_map(|section| section.figures.iter().chain(&section.folded));
    let found = figures().find(|figure| figure.id.as_str() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = figures().map(|figure| figure.id.as_str()).collect();
        Failure::Nothing(match names.as_slice() {
            [] => format!("the report has no figure {name:?}, and no other: nothing was measured"),
            names => format!("the report has no figure {name:?}; it has {}", names.join(", ")),
        })
    })
}

//! What pages are laid out for: the terminal that standard output is.

use std::io;

use anstream::{AutoStream, ColorChoice};
use report::Layout;

/// `COLUMNS`, else the terminal's width, else 80; colours on a terminal that did not refuse them
/// (`NO_COLOR`).
pub(crate) fn of_standard_output(wide: bool) -> Layout {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let width = named.or_else(terminal).filter(|width| *width > 0).unwrap_or(Layout::PLAIN.width);
    Layout { width, wide, colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never }
}

//! Standard output: data only.

use std::io::{self, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use report::Layout;
use report::document::{Block, terminal};
use serde::Serialize;

use crate::cli::{Format, Formatted};
use crate::failure::Failure;

const ESCAPE: char = '\u{1b}';

/// Writes data to standard output. Text from names, files and databases cannot command the
/// terminal.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write(&words::sanitised_lines(text))
}

fn write(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => Failure::Write { path: "standard output".into(), source: error },
    })
}

/// The layout of pages: `COLUMNS`, else the terminal's width, else 80; colours on a terminal
/// without `NO_COLOR`.
pub(crate) fn layout(wide: bool) -> Layout {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let width = named.or_else(terminal).filter(|width| *width > 0).unwrap_or(Layout::PLAIN.width);
    Layout { width, wide, colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never }
}

pub(crate) fn show<T: Serialize>(
    result: &T,
    output: &Formatted,
    wide: bool,
    page: impl FnOnce(&T, Layout) -> String,
) -> Result<(), Failure> {
    let layout = layout(wide);
    match output.format {
        Format::Json => print_json(result),
        Format::Text => print_page(&page(result, layout), layout),
    }
}

/// Shows a result as JSON, or as the blocks of its view.
pub(crate) fn show_view<T: Serialize>(
    result: &T,
    output: &Formatted,
    wide: bool,
    view: impl FnOnce(&T, bool) -> Vec<Block<'static>>,
) -> Result<(), Failure> {
    show(result, output, wide, |result, layout| terminal(&view(result, layout.wide), layout))
}

/// Writes a page for people, wrapped to its layout. Only its colours reach the terminal as
/// commands.
pub(crate) fn print_page(page: &str, layout: Layout) -> Result<(), Failure> {
    write(&layout.wrap(&but_colours(page, &report::colour_sequences())))
}

/// Text without commands, except these colours, each of which begins with the escape character.
fn but_colours(page: &str, colours: &[String]) -> String {
    let mut parts = page.split(ESCAPE);
    let mut harmless = words::sanitised_lines(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let colour = colours.iter().find(|colour| part.starts_with(&colour[ESCAPE.len_utf8()..]));
        match colour {
            Some(colour) => {
                harmless.push_str(colour);
                harmless.push_str(&words::sanitised_lines(&part[colour.len() - ESCAPE.len_utf8()..]));
            }
            None => harmless.push_str(&words::sanitised_lines(&format!("{ESCAPE}{part}"))),
        }
    }
    harmless
}

/// A file's name on one line.
pub(crate) fn named(path: &Path) -> String {
    words::sanitised_line(&path.display().to_string()).into_owned()
}

/// Writes one JSON value, indented, to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

/// One JSON value, indented, with exact texts: hostile characters are JSON escapes.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(format!("{}\n", words::escaped_json(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_the_report_stay_and_every_other_command_is_reported() {
        let colours = report::colour_sequences();
        let [red, reset] = ["\u{1b}[31m", "\u{1b}[0m"];
        assert!([red, reset].iter().all(|one| colours.iter().any(|colour| colour == one)), "{colours:?}");
        let page = format!("a {red}slower{reset} b\nc \u{1b}[2K \u{1b}[31;1m \u{1b}");
        assert_eq!(
            but_colours(&page, &colours),
            format!("a {red}slower{reset} b\nc \\u{{1b}}[2K \\u{{1b}}[31;1m \\u{{1b}}")
        );
    }
}

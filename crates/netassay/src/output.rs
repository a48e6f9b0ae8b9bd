//! Standard output, which has data only; and the files that a user asks for.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
pub(crate) use host::user_file::MayReplace;
use report::Layout;
use report::chart::{Figure, WIDE};
use report::document::{Block, terminal};
use serde::Serialize;

use crate::cli::{Format, Formatted};
use crate::failure::{Failure, bail};

const ESCAPE: char = '\u{1b}';

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    // Text from names, files and databases must not command the terminal.
    write_out(&words::sanitised_lines(text))
}

fn write_out(text: &str) -> Result<(), Failure> {
    write_to(&mut anstream::stdout().lock(), text.as_bytes())
}

/// Prints what is no text, as it is.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    write_to(&mut io::stdout().lock(), bytes)
}

fn write_to(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Failure> {
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => Failure::Write { path: "standard output".into(), source: error },
    })
}

/// The layout of pages: `COLUMNS`, else the terminal's width, else 80; colours on a terminal
/// without `NO_COLOR`.
fn layout(wide: bool) -> Layout {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let width = named.or_else(terminal).filter(|width| *width > 0).unwrap_or(Layout::PLAIN.width);
    Layout { width, wide, colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never }
}

pub(crate) fn show_view<T: Serialize>(
    result: &T,
    output: &Formatted,
    view: impl FnOnce(&T, bool) -> Vec<Block<'static>>,
) -> Result<(), Failure> {
    match output.format {
        Format::Json => print(&json(result)?),
        Format::Text => print_blocks(&view(result, output.wide), output.wide),
    }
}

/// As [`show_view`] for a list, which is one field of the JSON.
pub(crate) fn show_list<T: Serialize>(
    field: &str,
    list: &[T],
    output: &Formatted,
    view: impl FnOnce(&[T]) -> Vec<Block<'static>>,
) -> Result<(), Failure> {
    show_view(&BTreeMap::from([(field, list)]), output, |_, _| view(list))
}

/// Writes blocks for people.
pub(crate) fn print_blocks(blocks: &[Block<'_>], wide: bool) -> Result<(), Failure> {
    let layout = layout(wide);
    // Of the commands to the terminal only our own colours stay.
    write_out(&layout.wrap(&but_colours(&terminal(blocks, layout), &report::colour_sequences())))
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

/// A file or a database in a message.
pub(crate) fn named(path: &Path) -> String {
    words::sanitised_line(&store::without_password(&path.display().to_string())).into_owned()
}

#[derive(Serialize)]
struct Versioned<'a, T> {
    format_version: u32,
    #[serde(flatten)]
    result: &'a T,
}

/// A result as one JSON object, indented.
pub(crate) fn json(result: &impl Serialize) -> Result<String, Failure> {
    let versioned = Versioned { format_version: store::export::FORMAT_VERSION, result };
    let text =
        serde_json::to_string_pretty(&versioned).map_err(|error| Failure::Internal(error.to_string()))?;
    // Programs get the exact texts; hostile characters in them are JSON's own escapes.
    Ok(format!("{}\n", words::escaped_json(&text)))
}

pub(crate) fn write(path: &Path, text: &str, may_replace: MayReplace) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes(), may_replace)
}

pub(crate) fn write_bytes(path: &Path, bytes: &[u8], may_replace: MayReplace) -> Result<(), Failure> {
    host::user_file::write(path, bytes, may_replace).map_err(|source| match source.kind() {
        ErrorKind::IsADirectory => {
            Failure::Usage(format!("{} is a directory: name a file in it", named(path)))
        }
        ErrorKind::InvalidInput => Failure::Usage(format!("cannot write {}: {source}", named(path))),
        _ => Failure::Write { path: path.to_owned(), source },
    })
}

pub(crate) type Draw = fn(&Figure) -> String;

pub(crate) fn drawing(path: &Path) -> Result<Draw, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Ok(|figure| format!("{}\n", report::figure_page(figure))),
        // The picture follows the reader's theme.
        Some("svg") => Ok(|figure| format!("{}\n", figure.picture(WIDE))),
        _ => bail!(Usage, "{}: a chart is an .svg or an .html file: end its name so", named(path)),
    }
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

//! Text of others in Markdown: nothing in it is markup, a link, or calls a person.

use super::super::bounded;

// An invisible mark between characters that would be read together. GitHub looks for names and
// addresses in the rendered text, where a backslash is gone already.
const APART: &str = "<!-- -->";

/// Text on one line, for a paragraph.
pub(crate) fn paragraph(words: &str) -> String {
    let shown = escaped(words);
    // What begins a heading, a list, a quotation or a rule; digits before a dot begin a list too.
    let digits = shown.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && shown[digits..].starts_with(['.', ')']) {
        return format!("{}\\{}", &shown[..digits], &shown[digits..]);
    }
    if shown.starts_with(['#', '-', '+', '=']) { format!("\\{shown}") } else { shown }
}

/// Text on one line, for a place inside a line.
pub fn escaped(words: &str) -> String {
    let words = bounded::line(words);
    let mut out = String::with_capacity(words.len());
    let mut before = None;
    let mut rest = words.chars().peekable();
    while let Some(letter) = rest.next() {
        let next = rest.peek().copied();
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(letter);
            }
            // Inside of a word it is itself.
            '_' if is_word(before) && is_word(next) => out.push('_'),
            '_' => out.push_str("\\_"),
            // A person, an issue, a web address, an emoji.
            '@' | '#' => {
                out.push(letter);
                out.push_str(APART);
            }
            ':' if next == Some('/') || next.is_some_and(char::is_alphabetic) && !is_word(before) => {
                out.push(':');
                out.push_str(APART);
            }
            '.' if out.to_ascii_lowercase().ends_with("www") => {
                out.push_str(APART);
                out.push('.');
            }
            other => out.push(other),
        }
        before = Some(letter);
    }
    out
}

/// Lines as they are.
pub(crate) fn fence(lines: &str) -> String {
    let lines = bounded::lines(lines);
    // A longer fence than any in the lines: none of them ends it.
    let longest = lines.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", lines.trim_end_matches('\n'))
}

/// Text on one line in an HTML element.
pub(crate) fn element(words: &str) -> String {
    let mut out = String::new();
    // The backslashes of Markdown do not act in HTML.
    for letter in bounded::line(words).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '[' => out.push_str("&#91;"),
            // A person, an issue.
            '@' | '#' => {
                out.push(letter);
                out.push_str(APART);
            }
            other => out.push(other),
        }
    }
    out
}

/// A command inside a line.
pub(crate) fn code(words: &str) -> String {
    let words = bounded::line(words);
    // A fence longer than any run of backticks: the command cannot end it.
    let longest = words.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Blanks tell backticks of the command from the fence (CommonMark takes them away again).
    let pad = if words.starts_with('`') || words.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{words}{pad}{fence}")
}

fn is_word(letter: Option<char>) -> bool {
    letter.is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;

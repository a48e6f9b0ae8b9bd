//! Problems of a study file, with their places.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde::Serialize;
use words::suggest;

/// Problems beyond this many are counted but not shown.
const MOST_SHOWN: usize = 50;

/// Longer lines (in bytes) are named by number but not shown.
const LONGEST_LINE_SHOWN: usize = 2_000;

/// Every problem of a study file, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostics {
    /// The name of the file, as it was given.
    pub file: String,
    #[serde(skip)]
    source: String,
    /// The problems, in the order of the file; at most 50.
    pub problems: Vec<Problem>,
    /// The number of problems that are not listed.
    pub further: usize,
    #[serde(skip)]
    pub(crate) stale: Vec<Stale>,
}

/// A part of a selection of conditions that selects none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stale {
    /// The array of tables, and the place in it.
    pub(crate) table: (&'static str, usize),
    /// The keys in the table that lead to the part; the whole table without any.
    pub(crate) path: Vec<String>,
    /// The place of a level in the value of the last key.
    pub(crate) level: Option<usize>,
}

/// One thing that is wrong with a study file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The line, from 1; 0 while the file is read.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem, as a lower-case fragment.
    pub message: String,
    /// The text at the caret, possibly empty.
    pub label: String,
    /// The remedy.
    pub help: Option<String>,
    #[serde(skip)]
    pub(crate) span: Range<usize>,
}

impl Diagnostics {
    /// Ordered by place. Makes the file's name safe to print.
    pub(crate) fn new(file: &str, source: &str, problems: impl Into<Problems>) -> Self {
        let Problems { mut kept, further, stale } = problems.into();
        kept.sort_by_key(|problem| (problem.span.start, problem.span.end));
        kept.dedup();
        let further = further + kept.len().saturating_sub(MOST_SHOWN);
        let problems = kept.into_iter().take(MOST_SHOWN).map(|problem| problem.located(source)).collect();
        let file = annotate_snippets::normalize_untrusted_str(file);
        Self { file, source: source.to_owned(), problems, further, stale }
    }

    /// The problems as text, with their lines; `colour` adds the escape codes of a terminal.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut blocks: Vec<String> =
            self.problems.iter().map(|problem| self.render_one(&renderer, problem)).collect();
        if self.further > 0 {
            blocks.push(format!("and {} more", self.further));
        }
        blocks.join("\n\n")
    }

    fn render_one(&self, renderer: &Renderer, problem: &Problem) -> String {
        // Messages quote the file: hostile characters are replaced in both.
        let title = Level::ERROR.primary_title(words::sanitised_lines(&problem.message).into_owned());
        let path = words::sanitised_line(&self.file);
        let (start, text) = line_of(&self.source, problem.span.start);
        let mut group = if text.is_empty() || text.len() > LONGEST_LINE_SHOWN {
            let origin = Origin::path(path).line(problem.line).char_column(problem.column);
            Group::with_title(title).element(origin)
        } else {
            let end = problem.span.end.min(start + text.len()).max(problem.span.start);
            // The replacement of a character may be longer.
            let place = |byte: usize| words::sanitised_line(&text[..byte - start]).len();
            let annotation = AnnotationKind::Primary.span(place(problem.span.start)..place(end));
            let annotation = match problem.label.as_str() {
                "" => annotation,
                label => annotation.label(words::sanitised_line(label).into_owned()),
            };
            let snippet = Snippet::source(words::sanitised_line(text))
                .path(path)
                .line_start(problem.line)
                .annotation(annotation);
            Group::with_title(title).element(snippet)
        };
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(words::sanitised_lines(help).into_owned()));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

impl Problem {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { line: 0, column: 0, message: message.into(), label: String::new(), help: None, span }
    }

    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    pub(crate) fn maybe_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    pub(crate) fn reject<T>(self, problems: &mut Problems) -> Option<T> {
        problems.push(self);
        None
    }

    fn located(self, source: &str) -> Self {
        // A parser may report a place in the middle of a character, or behind the end.
        let start = source.floor_char_boundary(self.span.start);
        let end = source.ceil_char_boundary(self.span.end.max(start));
        let (begin, _) = line_of(source, start);
        let column = source[begin..start].chars().count() + 1;
        Self { line: source[..start].matches('\n').count() + 1, column, span: start..end, ..self }
    }
}

/// `place` is a boundary of characters. Returns the start, and the text without its end.
fn line_of(source: &str, place: usize) -> (usize, &str) {
    let start = source[..place].rfind('\n').map_or(0, |end| end + 1);
    let text = source[start..].split('\n').next().unwrap_or_default();
    let text = text.strip_suffix('\r').filter(|text| start + text.len() >= place).unwrap_or(text);
    (start, text)
}

/// Problems beyond this many are only counted, without suggestions, which take the most time.
const MOST_KEPT: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct Problems {
    kept: Vec<Problem>,
    further: usize,
    pub(crate) stale: Vec<Stale>,
}

impl From<Vec<Problem>> for Problems {
    fn from(kept: Vec<Problem>) -> Self {
        Self { kept, ..Self::default() }
    }
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.is_full() {
            self.further += 1;
        } else {
            self.kept.push(problem);
        }
    }

    pub(crate) fn report(
        &mut self,
        place: impl Into<Option<Range<usize>>>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if let Some(place) = place.into() {
            self.push(Problem::new(place, message).help(help));
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.kept.len() + self.further
    }

    /// [`suggest::help`], while more problems are kept.
    pub(crate) fn help<'w>(&self, word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<String> {
        if self.is_full() { None } else { suggest::help(word, known) }
    }

    fn is_full(&self) -> bool {
        self.kept.len() >= MOST_KEPT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str, span: Range<usize>) -> String {
        let problem = Problem::new(span, "no such word").label("here").help("use another");
        Diagnostics::new("a.toml", source, vec![problem]).to_string()
    }

    #[test]
    fn the_caret_stands_under_the_word() {
        insta::assert_snapshot!(rendered("a = 1\nfamiy = 2\n", 6..11), @r"
        error: no such word
         --> a.toml:2:1
          |
        2 | famiy = 2
          | ^^^^^ here
          |
          = help: use another
        ");
    }

    #[test]
    fn a_span_of_several_lines_is_shown_by_its_first() {
        insta::assert_snapshot!(rendered("a = [\n  1,\n]\n", 4..12), @r"
        error: no such word
         --> a.toml:1:5
          |
        1 | a = [
          |     ^ here
          |
          = help: use another
        ");
    }

    #[test]
    fn columns_count_characters() {
        let source = "name = \"äöü\" # ß\nx = \"ä\" y";
        let place = source.find('y').unwrap();
        let diagnostics = Diagnostics::new("a.toml", source, vec![Problem::new(place..place + 1, "m")]);
        assert_eq!((diagnostics.problems[0].line, diagnostics.problems[0].column), (2, 9));
    }

    #[test]
    fn places_outside_the_text_or_inside_a_character_are_moved_to_the_nearest() {
        for (source, span) in [
            ("", 0..0),
            ("", 5..9),
            ("ä", 1..2),
            ("a\n", 2..2),
            ("a\r\n", 2..3),
            ("\r\n", 1..2),
            ("a\nb", 3..3),
        ] {
            let diagnostics = Diagnostics::new("a.toml", source, vec![Problem::new(span.clone(), "m")]);
            assert!(diagnostics.to_string().contains("a.toml"), "{source:?} {span:?}");
            assert!(diagnostics.render(true).contains("\u{1b}["), "{source:?} {span:?}");
        }
    }

    #[test]
    fn there_is_an_end_to_what_is_shown() {
        let source = "x".repeat(200);
        let problems: Vec<_> =
            (0..60).map(|place| Problem::new(place..place + 1, format!("problem {place}"))).collect();
        let diagnostics = Diagnostics::new("a.toml", &source, problems);
        assert_eq!((diagnostics.problems.len(), diagnostics.further), (50, 10));
        assert!(diagnostics.to_string().ends_with("and 10 more"));

        let long = format!("x = \"{}\"", "y".repeat(1_000_000));
        assert!(rendered(&long, 0..1).len() < 200, "a very long line is not shown");
    }

    #[test]
    fn a_file_name_and_a_message_cannot_drive_the_terminal() {
        let problem = Problem::new(0..1, "m \u{1b}[31m").label("l \u{1b}[31m");
        let text = Diagnostics::new("a\u{1b}[31m.toml", "x \u{1b}[31m", vec![problem]).to_string();
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}

//! The layout of a page: a terminal's width, and the detail that a reader asked for.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The layout of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Columns of the terminal. Less than [`Layout::NARROWEST`] counts as that.
    pub width: usize,
    /// Every figure, in tables as wide as they are, and each sentence on one line.
    pub wide: bool,
    /// Verdicts in colour.
    pub colour: bool,
}

impl Layout {
    /// The columns that a table's row needs at least: a name, a value and a verdict.
    pub const NARROWEST: usize = 40;

    /// The layout of pages without a terminal.
    pub const PLAIN: Layout = Layout { width: 80, wide: false, colour: false };

    /// The layout of pages with every figure.
    pub const WIDE: Layout = Layout { wide: true, ..Layout::PLAIN };

    /// The columns of a line that is not wide.
    pub fn columns(self) -> usize {
        self.width.max(Self::NARROWEST)
    }

    /// Breaks long lines between words; the rest goes on below, two columns further right.
    pub fn wrap(self, text: &str) -> String {
        let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
        text.split_inclusive('\n').map(|line| self.hang(line, indent(line) + 2)).collect()
    }

    /// Breaks a long line between words; its rest goes on below, `indent` columns from the left.
    pub fn hang(self, line: &str, indent: usize) -> String {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        // Colours take no room: `display_width` leaves escape sequences out.
        if self.wide || display_width(body) <= self.columns() {
            return line.to_owned();
        }
        let indent = " ".repeat(indent.min(self.columns() / 2));
        let options = Options::new(self.columns())
            .subsequent_indent(&indent)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        textwrap::wrap(body, options).join("\n") + end
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    #[test]
    fn a_long_line_goes_on_below_itself() {
        let layout = Layout { width: 40, ..Layout::PLAIN };
        let text = "short\n  Note: a sentence of more than forty columns, told once\n";
        assert_eq!(
            layout.wrap(text),
            "short\n  Note: a sentence of more than forty\n    columns, told once\n"
        );
        assert_eq!(Layout { width: 40, ..Layout::WIDE }.wrap(text), text);
        assert_eq!(
            layout.hang("  latency  p50 12.0, p90 13.0, p99 14.0, max 20.0", 11),
            "  latency  p50 12.0, p90 13.0, p99 14.0,\n           max 20.0"
        );
    }

    #[test]
    fn colours_take_no_room() {
        let line = format!("{}\u{1b}[31m{}\u{1b}[0m\n", "a".repeat(20), "b".repeat(20));
        assert_eq!(Layout { width: 40, ..Layout::PLAIN }.wrap(&line), line);
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_word_is_lost(
            text in "([a-zé中]{1,60}[ \n]{1,3}){0,30}",
            width in 0_usize..200,
        ) {
            let layout = Layout { width, ..Layout::PLAIN };
            let wrapped = layout.wrap(&text);
            prop_assert!(wrapped.lines().all(|line| line.width() <= layout.columns()), "{}", wrapped);
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(letters(&wrapped), letters(&text));
        }
    }
}

//! Blocks as text for a terminal.

use super::bounded::{line, lines};
use super::{Block, Table};
use crate::document::layout::Layout;

/// Blocks as text for a terminal. Tables fit the layout; [`Layout::wrap`] breaks the other lines.
/// Figures and measurements, which only a file has room for, are left out.
pub fn terminal(blocks: &[Block<'_>], layout: Layout) -> String {
    let mut writer = TerminalWriter { layout, text: String::new(), indent: 0, is_in_paragraph: false };
    blocks.iter().for_each(|block| writer.block(block));
    writer.text
}

struct TerminalWriter {
    layout: Layout,
    text: String,
    indent: usize,
    is_in_paragraph: bool,
}

impl TerminalWriter {
    fn block(&mut self, block: &Block<'_>) {
        let is_sentence = matches!(block, Block::Lead(_) | Block::Text(_) | Block::Facts(_));
        // The title of a list ends with a colon.
        let is_titled = matches!(block, Block::List(_)) && self.text.ends_with(":\n");
        let goes_on = is_titled || is_sentence && self.is_in_paragraph;
        if !goes_on && self.indent == 0 && !self.text.is_empty() {
            self.text.push('\n');
        }
        // Sentences in sequence are one paragraph: no blank line parts them.
        self.is_in_paragraph = is_sentence || matches!(block, Block::Heading(_));
        match block {
            Block::Heading(words) | Block::Text(words) => self.line(words),
            Block::Lead(words) => self.line(&format!("Answer: {words}")),
            Block::Warning(paragraphs) => {
                paragraphs.iter().for_each(|words| self.line(&format!("Warning: {words}")));
            }
            Block::List(items) => items.iter().for_each(|words| self.line(words)),
            Block::Items(items) => {
                for (sentence, facts) in items {
                    self.indent += 2;
                    self.line(sentence);
                    self.indent += 2;
                    facts.iter().for_each(|(name, cell)| self.line(&format!("{name}: {}", cell.text())));
                    self.indent -= 4;
                }
            }
            Block::Facts(facts) => {
                facts.iter().for_each(|(name, value)| self.line(&format!("{name}: {value}")));
            }
            Block::Table(table) => self.table(table),
            Block::Verbatim(words) => self.text.push_str(&lines(words)),
            Block::Chapter(_, title, blocks) | Block::Fold(title, blocks) => {
                self.line(title);
                self.indent += 2;
                blocks.iter().for_each(|block| self.block(block));
                self.indent -= 2;
                self.is_in_paragraph = false;
            }
            Block::Appendix(title, words) => {
                self.line(title);
                self.text.push_str(&lines(words));
            }
            Block::Figure(_) | Block::Download(_) => {}
        }
    }

    fn line(&mut self, words: &str) {
        self.text.push_str(&format!("{:indent$}{}\n", "", line(words), indent = self.indent));
    }

    fn table(&mut self, table: &Table) {
        if !table.title.is_empty() {
            self.line(&table.title);
        }
        self.text.push_str(&table.fit(self.layout));
        table.notes.iter().for_each(|note| self.line(&format!("({note})")));
    }
}

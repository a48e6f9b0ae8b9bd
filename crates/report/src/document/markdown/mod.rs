//! Blocks as GitHub's Markdown, for a pull request or a mailing list. Tables are tables, and so are
//! figures.

mod escape;

use self::escape::{code, element, fence, paragraph};
use super::{Block, Cell, Table, Tone};

pub use escape::escaped;

const ROWS: usize = 40;

/// Blocks in GitHub's Markdown.
pub fn markdown(blocks: &[Block<'_>]) -> String {
    let mut out = String::new();
    blocks.iter().for_each(|block| write(block, &mut out));
    out.trim_start_matches('\n').to_owned()
}

fn write(block: &Block<'_>, out: &mut String) {
    match block {
        Block::Chapter(_, title, blocks) => {
            let body = markdown(blocks);
            // The only content of some chapters is files, which Markdown cannot hold.
            if !body.is_empty() {
                out.push_str(&format!("\n## {}\n\n{body}", escaped(title)));
            }
        }
        Block::Heading(words) => out.push_str(&format!("\n### {}\n", escaped(words))),
        Block::Lead(words) => out.push_str(&format!("\n**{}**\n", escaped(words))),
        Block::Text(words) => out.push_str(&format!("\n{}\n", paragraph(words))),
        Block::Warning(paragraphs) => {
            out.push('\n');
            paragraphs.iter().for_each(|words| out.push_str(&format!("> {}\n", paragraph(words))));
        }
        Block::List(items) => {
            out.push('\n');
            items.iter().for_each(|words| out.push_str(&format!("- {}\n", paragraph(words))));
        }
        Block::Items(items) => {
            out.push('\n');
            for (sentence, facts) in items {
                out.push_str(&format!("- {}\n", paragraph(sentence)));
                for (name, fact) in facts {
                    out.push_str(&format!("  - {}: {}\n", escaped(name), cell(fact)));
                }
            }
        }
        Block::Facts(facts) => {
            let facts: Vec<String> =
                facts.iter().map(|(name, value)| format!("{name}: {}", escaped(value))).collect();
            out.push_str(&format!("\n{}\n", facts.join(" · ")));
        }
        Block::Table(table) => {
            out.push_str(&format!("\n{}\n", paragraph(&table.title)));
            rows(table, out);
            table.notes.iter().for_each(|note| out.push_str(&format!("\n{}\n", paragraph(note))));
        }
        Block::Verbatim(lines) => out.push_str(&format!("\n{}", fence(lines))),
        Block::Fold(title, blocks) => {
            out.push_str(&format!("\n<details><summary>{}</summary>\n", element(title)));
            blocks.iter().for_each(|block| write(block, out));
            out.push_str("\n</details>\n");
        }
        Block::Appendix(title, _) => out.push_str(&format!("\n{title}: in the HTML report.\n")),
        Block::Figure(figure) => {
            let (title, description) = (escaped(&figure.title), paragraph(&figure.description));
            out.push_str(&format!("\n### {title}\n\n{description}\n"));
            for panel in &figure.panels {
                if !panel.title.is_empty() {
                    out.push_str(&format!("\n{}\n", paragraph(&panel.title)));
                }
                let table = panel.plot.table();
                let count = table.rows().len();
                if count > ROWS {
                    out.push_str(&format!("\n({count} values: the HTML report draws them.)\n"));
                } else {
                    rows(&table, out);
                }
            }
        }
        Block::Download(_) => {}
    }
}

fn rows(table: &Table, out: &mut String) {
    let heads = table.heads();
    let rules = (0..heads.len()).map(|column| if table.is_numeric(column) { "---:" } else { "---" });
    out.push('\n');
    row(heads.iter().map(|head| escaped(head)), out);
    row(rules.map(str::to_owned), out);
    table.rows().iter().for_each(|cells| row(cells.iter().map(cell), out));
}

fn cell(cell: &Cell) -> String {
    match (cell, cell.tone()) {
        (Cell::Command(command), _) => code(command),
        (_, Some(Tone::Better | Tone::Worse)) => format!("**{}**", escaped(&cell.text())),
        _ => escaped(&cell.text()),
    }
}

fn row(cells: impl Iterator<Item = String>, out: &mut String) {
    let cells: Vec<String> = cells.map(|cell| if cell.is_empty() { " ".to_owned() } else { cell }).collect();
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

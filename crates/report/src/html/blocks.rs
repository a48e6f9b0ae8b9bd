//! Blocks as HTML.

use crate::chart::{Attribute, Id, Markup, write_cell, write_table};
use crate::data::Download;
use crate::document::bounded::{line, lines};
use crate::document::{Block, Cell, Table};
use crate::fixed;

/// `tables`: the number of tables before these blocks in the page.
pub(super) fn write_blocks(to: &mut Markup, blocks: &[Block<'_>], tables: &mut usize, is_folded: bool) {
    blocks.iter().for_each(|block| write_block(to, block, tables, is_folded));
}

fn write_block(to: &mut Markup, block: &Block<'_>, tables: &mut usize, is_folded: bool) {
    let scroll = [("class", "scroll".into()), ("tabindex", "0".into())];
    match block {
        Block::Chapter(id, title, blocks) => {
            let label = id.part("title");
            let attributes = [("id", id.as_str().into()), ("aria-labelledby", label.as_str().into())];
            to.element("section", &attributes, |section| {
                section.element("h2", &[("id", label.as_str().into())], |head| {
                    head.element("a", &[("href", Attribute::Link(id))], |link| link.text(title));
                });
                write_blocks(section, blocks, tables, is_folded);
            });
        }
        Block::Heading(words) => element(to, "h3", "", words),
        Block::Lead(words) => element(to, "p", "lead", words),
        Block::Text(words) => element(to, "p", "", words),
        Block::Warning(paragraphs) => {
            to.element("div", &[("class", "warning".into()), ("role", "note".into())], |to| {
                paragraphs.iter().for_each(|words| element(to, "p", "", words));
            });
        }
        Block::List(items) => {
            to.element("ul", &[], |to| items.iter().for_each(|words| element(to, "li", "", words)));
        }
        Block::Items(items) => to.element("ul", &[], |to| {
            for (sentence, facts) in items {
                to.element("li", &[], |to| {
                    to.text(&line(sentence));
                    write_item_facts(to, facts);
                });
            }
        }),
        Block::Facts(facts) => to.element("dl", &[("class", "facts".into())], |to| {
            for (name, value) in facts {
                to.element("div", &[], |to| {
                    element(to, "dt", "", name);
                    element(to, "dd", "", value);
                });
            }
        }),
        Block::Table(table) => write_numbered_table(to, table, tables),
        Block::Verbatim(text) => to.element("pre", &scroll, |to| to.text(&lines(text))),
        Block::Fold(title, blocks) => to.element("details", &[], |to| {
            element(to, "summary", "", title);
            write_blocks(to, blocks, tables, true);
        }),
        Block::Appendix(title, text) => to.element("details", &[], |to| {
            element(to, "summary", "", title);
            to.element("pre", &scroll, |to| to.text(&lines(text)));
        }),
        // What few readers open is there once, for narrow screens: it does for wide ones too.
        Block::Figure(figure) if is_folded => to.append(&figure.small_html()),
        Block::Figure(figure) => to.append(&figure.html()),
        Block::Download(data) => write_download(to, data),
    }
}

fn write_item_facts(to: &mut Markup, facts: &[(String, Cell)]) {
    if facts.is_empty() {
        return;
    }
    to.element("ul", &[], |to| {
        for (name, fact) in facts {
            to.element("li", &[], |to| {
                to.text(&format!("{}: ", line(name)));
                write_cell(to, fact, line);
            });
        }
    });
}

fn element(to: &mut Markup, name: &'static str, class: &'static str, words: &str) {
    to.element(name, &[("class", class.into())], |to| to.text(&line(words)));
}

fn write_numbered_table(to: &mut Markup, table: &Table, tables: &mut usize) {
    *tables += 1;
    let number = format!("Table {tables}");
    let id = Id::new(&number);
    let label = format!("{number}: {}", line(&table.title));
    let attributes = [
        ("class", "scroll".into()),
        ("tabindex", "0".into()),
        ("role", "region".into()),
        ("aria-label", label.as_str().into()),
    ];
    to.element("div", &attributes, |to| {
        write_table(to, Some(&id), table, |caption| {
            caption.element("a", &[("href", Attribute::Link(&id))], |link| link.text(&number));
            caption.text(&format!(" {}", line(&table.title)));
        });
    });
    table.notes.iter().for_each(|note| element(to, "p", "note", note.trim()));
}

fn write_download(to: &mut Markup, data: &Download) {
    to.element("div", &[("class", "download".into())], |to| {
        let (study, runs) = (data.number, results::counted(data.runs, "run"));
        let words = format!("Study {study}: every value of {runs}, warm-ups, failed and disturbed runs included.");
        element(to, "p", "", &words);
        let name = format!("{}.packed.json.gz", data.stem);
        to.element("p", &[], |to| {
            for (kind, label) in [("csv", "CSV"), ("json", "JSON")] {
                let attributes = [
                    ("type", "button".into()),
                    ("hidden", "".into()),
                    ("data-kind", kind.into()),
                    ("data-name", Attribute::Text(&data.stem)),
                ];
                to.element("button", &attributes, |button| button.text(label));
            }
            let attributes = [
                ("download", Attribute::Text(&name)),
                ("href", Attribute::File("application/gzip", &data.file)),
            ];
            to.element("a", &attributes, |link| {
                link.text(&format!("both, packed ({} kB)", data.file.len().div_ceil(1000)));
            });
        });
        to.fixed(fixed!("<p class=\"note\" role=\"status\"></p>"));
        let note = format!("The CSV is that of `netassay db export {study} --format csv`. The JSON is that of `netassay show {study} --format json` without the results, and without the full account of each run, which only the database has.");
        element(to, "p", "note", &note);
    });
}

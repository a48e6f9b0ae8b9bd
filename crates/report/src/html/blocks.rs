//! Blocks as HTML.

use results::chart::{Attribute, Id, Markup};
use results::document::bounded::{line as shown, lines as shown_lines};
use results::document::{Block, ListItem};
use results::fixed;
use results::{TitledTable, Tone};

use crate::data::Download;

/// Writes blocks, and numbers the tables.
pub(super) struct HtmlWriter<'m> {
    pub(super) to: &'m mut Markup,
    tables: usize,
    /// The blocks are in a fold.
    is_folded: bool,
}

impl<'m> HtmlWriter<'m> {
    pub(super) fn new(to: &'m mut Markup) -> Self {
        Self { to, tables: 0, is_folded: false }
    }

    /// Writes an element with the content that `inside` writes.
    pub(super) fn within(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, Attribute<'_>)],
        inside: impl FnOnce(&mut HtmlWriter<'_>),
    ) {
        let (tables, is_folded) = (&mut self.tables, self.is_folded);
        self.to.element(name, attributes, |to| {
            let mut writer = HtmlWriter { to, tables: *tables, is_folded };
            inside(&mut writer);
            *tables = writer.tables;
        });
    }

    pub(super) fn blocks(&mut self, blocks: &[Block<'_>]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Heading(words) => self.words("h3", "", words),
            Block::Question(words) => self.words("p", "question", words),
            Block::Lead(words) => self.words("p", "lead", words),
            Block::Text(words) => self.words("p", "", words),
            Block::Warning(paragraphs) => {
                self.within("div", &[("class", "warning".into()), ("role", "note".into())], |inside| {
                    paragraphs.iter().for_each(|words| inside.words("p", "", words));
                });
            }
            Block::List(items) => {
                self.within("ul", &[], |list| items.iter().for_each(|words| list.words("li", "", words)));
            }
            Block::Items(items) => self.within("ul", &[], |list| {
                for item in items {
                    list.within("li", &[], |inside| inside.item(item));
                }
            }),
            Block::Facts(facts) => self.within("dl", &[("class", "facts".into())], |list| {
                for (name, value) in facts {
                    list.within("div", &[], |pair| {
                        pair.words("dt", "", name);
                        pair.words("dd", "", value);
                    });
                }
            }),
            Block::Table(exhibit) => self.table(exhibit),
            Block::Verbatim(lines) => {
                let attributes = [("class", "scroll".into()), ("tabindex", "0".into())];
                self.to.element("pre", &attributes, |inside| inside.text(&shown_lines(lines)));
            }
            Block::Fold(title, blocks) => self.within("details", &[], |fold| {
                fold.is_folded = true;
                fold.words("summary", "", title);
                fold.blocks(blocks);
            }),
            Block::Appendix(title, lines) => self.within("details", &[], |fold| {
                fold.words("summary", "", title);
                fold.block(&Block::Verbatim(lines.clone()));
            }),
            // What few readers open is there once, for narrow screens: it does for wide ones too.
            Block::Figure(figure) if self.is_folded => self.to.append(&figure.small_html()),
            Block::Figure(figure) => self.to.append(&figure.html()),
        }
    }

    fn item(&mut self, item: &ListItem) {
        self.to.text(&shown(&item.sentence));
        if item.facts.is_empty() {
            return;
        }
        self.within("ul", &[], |list| {
            for (name, words, is_command) in &item.facts {
                list.within("li", &[], |fact| {
                    fact.to.text(&format!("{}: ", shown(name)));
                    if *is_command {
                        fact.words("code", "", words);
                    } else {
                        fact.to.text(&shown(words));
                    }
                });
            }
        });
    }

    /// Text in an element.
    fn words(&mut self, name: &'static str, class: &'static str, words: &str) {
        let attributes = [("class", class.into())];
        let count = usize::from(!class.is_empty());
        self.to.element(name, &attributes[..count], |inside| inside.text(&shown(words)));
    }

    fn table(&mut self, TitledTable { title, table, notes }: &TitledTable) {
        self.tables += 1;
        let number = format!("Table {}", self.tables);
        let id = Id::new(&number);
        let label = format!("{number}: {}", shown(title));
        let attributes = [
            ("class", "scroll".into()),
            ("tabindex", "0".into()),
            ("role", "region".into()),
            ("aria-label", label.as_str().into()),
        ];
        let heads = table.heads();
        let numeric: Vec<bool> = (0..heads.len()).map(|column| table.is_numeric(column)).collect();
        let beyond: Vec<&str> =
            results::chart::beyond(&numeric).map(|is_beyond| if is_beyond { "number" } else { "" }).collect();
        let class = format!("data {}", results::chart::columns(&numeric));
        self.to.element("div", &attributes, |around| {
            around.element(
                "table",
                &[("class", class.trim().into()), ("id", id.as_str().into())],
                |element| {
                    element.element("caption", &[], |caption| {
                        caption.element("a", &[("href", Attribute::Link(&id))], |link| link.text(&number));
                        caption.text(&format!(" {}", shown(title)));
                    });
                    element.element("thead", &[], |head| {
                        head.element("tr", &[], |row| {
                            for (name, class) in heads.iter().zip(&beyond) {
                                let attributes = [("scope", "col".into()), ("class", (*class).into())];
                                let count = if class.is_empty() { 1 } else { 2 };
                                row.element("th", &attributes[..count], |cell| cell.text(&shown(name)));
                            }
                        });
                    });
                    element.element("tbody", &[], |body| {
                        for (place, cells) in table.rows().enumerate() {
                            body.element("tr", &[], |row| {
                                for (column, cell) in cells.iter().enumerate() {
                                    let class = table.tone(place, column).map_or(beyond[column], tone);
                                    write_cell(row, column, cell, class);
                                }
                            });
                        }
                    });
                },
            );
        });
        for note in notes {
            self.words("p", "note", note.trim());
        }
    }

    pub(super) fn data(&mut self, data: &Download) {
        self.within("div", &[("class", "download".into())], |inside| {
            inside.words(
                "p",
                "",
                &format!(
                    "Study {}: every value of {}, warm-ups, failed and disturbed runs included.",
                    data.number,
                    results::counted(data.runs, "run")
                ),
            );
            let name = format!("{}.packed.json.gz", data.stem);
            inside.to.element("p", &[], |line| {
                for (kind, label) in [("csv", "CSV"), ("json", "JSON")] {
                    let attributes = [
                        ("type", "button".into()),
                        ("hidden", "".into()),
                        ("data-kind", kind.into()),
                        ("data-name", Attribute::Text(&data.stem)),
                    ];
                    line.element("button", &attributes, |button| button.text(label));
                }
                let attributes =
                    [("download", Attribute::Text(&name)), ("href", Attribute::File(&data.file))];
                line.element("a", &attributes, |link| {
                    link.text(&format!("both, packed ({} kB)", data.file.bytes.len().div_ceil(1000)));
                });
            });
            inside.to.fixed(fixed!("<p class=\"note\" role=\"status\"></p>"));
            inside.words("p", "note", &data.about());
        });
    }
}

fn write_cell(row: &mut Markup, column: usize, cell: &str, class: &'static str) {
    // The first of a row of a body is its name, so its scope needs no word; without one it is none.
    let name = if column == 0 && !cell.trim().is_empty() { "th" } else { "td" };
    let attributes = [("class", class.into())];
    row.element(name, &attributes[..usize::from(!class.is_empty())], |inside| inside.text(&shown(cell)));
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Better => "better",
        Tone::Worse => "worse",
        Tone::Proven => "proven",
        Tone::Open => "open",
    }
}

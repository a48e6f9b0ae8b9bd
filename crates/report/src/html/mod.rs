//! A page as one HTML file.

mod blocks;
pub(crate) mod head;

use results::chart::{Attribute, Markup};
use results::document::Block;
use results::fixed;

use crate::html::blocks::HtmlWriter;
use crate::page::{Chapter, Page};

impl Page<'_> {
    /// The page as one HTML file that loads nothing.
    #[must_use]
    pub fn html(&self) -> Markup {
        let (chapters, heading) = (self.chapters(), self.heading());
        let mut page = Markup::new();
        page.fixed(fixed!("<!DOCTYPE html>\n"));
        page.element("html", &[("lang", "en".into())], |html| {
            head::write(html, &self.title());
            html.element("body", &[], |body| {
                body.fixed(fixed!("<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n"));
                body.element("header", &[], |header| {
                    header.element("p", &[("class", "kind".into())], |kind| kind.text("netassay report"));
                    header.fixed(fixed!(
                        "<button type=\"button\" id=\"theme\" hidden=\"\">Dark colours</button>"
                    ));
                    header.element("h1", &[], |title| title.text(&heading));
                });
                contents(body, &chapters);
                body.element("main", &[("id", "main".into())], |main| {
                    let mut writer = HtmlWriter::new(main);
                    for one in &chapters {
                        chapter(&mut writer, one);
                    }
                });
                footer(body);
                body.script(&head::script());
            });
        });
        page
    }
}

/// The contents: every chapter, and the figures in it.
fn contents(body: &mut Markup, chapters: &[Chapter<'_>]) {
    body.element("nav", &[("aria-label", "Contents".into())], |nav| {
        nav.element("ul", &[], |list| {
            for chapter in chapters {
                list.element("li", &[], |item| {
                    item.element("a", &[("href", Attribute::Link(&chapter.id))], |link| {
                        link.text(&chapter.title)
                    });
                    let figures: Vec<_> = chapter.blocks.iter().filter_map(figure).collect();
                    if !figures.is_empty() {
                        item.element("ul", &[], |inner| {
                            for figure in figures {
                                inner.element("li", &[], |item| {
                                    item.element("a", &[("href", Attribute::Link(&figure.id))], |link| {
                                        link.text(&words::shortened_reason(&figure.title));
                                    });
                                });
                            }
                        });
                    }
                });
            }
        });
    });
}

fn figure<'a>(block: &Block<'a>) -> Option<&'a results::chart::Figure> {
    match block {
        Block::Figure(figure) => Some(figure),
        _ => None,
    }
}

fn chapter(writer: &mut HtmlWriter<'_>, chapter: &Chapter<'_>) {
    let label = chapter.id.part("title");
    let attributes = [("id", chapter.id.as_str().into()), ("aria-labelledby", label.as_str().into())];
    writer.within("section", &attributes, |writer| {
        writer.to.element("h2", &[("id", label.as_str().into())], |head| {
            head.element("a", &[("href", Attribute::Link(&chapter.id))], |link| link.text(&chapter.title));
        });
        writer.blocks(&chapter.blocks);
        chapter.downloads.iter().for_each(|data| writer.data(data));
    });
}

fn footer(body: &mut Markup) {
    body.element("footer", &[], |footer| {
        footer.element("p", &[], |line| {
            line.text(
                "This file is whole: it loads nothing and sends nothing. netassay report writes it again from the database.",
            );
        });
    });
}

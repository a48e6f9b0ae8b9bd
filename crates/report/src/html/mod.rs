//! A page, and a figure by itself, as one HTML file.

mod blocks;
mod head;

use results::FleetResults;

use crate::chart::{Attribute, Figure, Markup};
use crate::document::{Block, Table};
use crate::{cells, figures, fixed, views};

use crate::html::blocks::{PagePlace, write_blocks, write_download};
use crate::page::{Chapter, Page};

impl Page<'_> {
    /// The page as one HTML file that loads nothing.
    #[must_use]
    pub fn html(&self) -> Markup {
        page(&self.title(), &self.heading(), &self.chapters())
    }
}

/// The results of a fleet as one HTML file that loads nothing.
#[must_use]
pub fn fleet_page(found: &FleetResults) -> Markup {
    let figures = figures::fleet(found);
    let mut answer = views::fleet(found, false);
    answer.extend(figures.iter().map(Block::Figure));
    let pairs = found.pairs.iter().map(|pair| {
        let labels = pair.labels.iter().map(|(key, value)| format!("{key}={value}"));
        cells![&pair.name, pair.study, labels.collect::<Vec<_>>().join(", ")]
    });
    let pairs = Block::Table(Table::with_rows(["pair", "study", "labels"], pairs));
    let pairs = Block::Fold(results::counted(found.pairs.len(), "pair"), vec![pairs]);
    let chapters = [Chapter::new("answer", "Answer", answer), Chapter::new("pairs", "Pairs", vec![pairs])];
    page(&format!("{}: {}", found.name, found.campaign), &found.question, &chapters)
}

fn page(title: &str, heading: &str, chapters: &[Chapter<'_>]) -> Markup {
    document(title, |body| {
        body.fixed(fixed!("<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n"));
        body.element("header", &[], |header| {
            header.element("p", &[("class", "kind".into())], |kind| kind.text("netassay report"));
            header.fixed(fixed!("<button type=\"button\" id=\"theme\" hidden=\"\">Dark colours</button>"));
            header.element("h1", &[], |title| title.text(heading));
        });
        contents(body, chapters);
        body.element("main", &[("id", "main".into())], |main| {
            let mut place = PagePlace::default();
            chapters.iter().for_each(|chapter| write_chapter(main, chapter, &mut place));
        });
        body.fixed(fixed!(
            "<footer><p>This file is whole: it loads nothing and sends nothing. netassay report writes it again \
             from the database.</p></footer>"
        ));
        body.script(&head::script());
    })
}

/// The figure as an HTML page with its table, for wide and narrow screens, light and dark. It loads
/// nothing.
#[must_use]
pub fn figure_page(figure: &Figure) -> Markup {
    document(&words::shortened_reason(&figure.title), |body| {
        body.element("main", &[], |main| main.append(&figure.html()));
    })
}

fn document(title: &str, body: impl FnOnce(&mut Markup)) -> Markup {
    let mut page = Markup::new();
    page.fixed(fixed!("<!DOCTYPE html>\n"));
    page.element("html", &[("lang", "en".into())], |html| {
        head::write(html, title);
        html.element("body", &[], body);
    });
    page
}

fn contents(body: &mut Markup, chapters: &[Chapter<'_>]) {
    body.element("nav", &[("aria-label", "Contents".into())], |nav| {
        nav.element("ul", &[], |list| {
            for chapter in chapters {
                list.element("li", &[], |item| {
                    item.element("a", &[("href", Attribute::Link(&chapter.id))], |link| {
                        link.text(&chapter.title)
                    });
                });
            }
        });
    });
}

fn write_chapter(main: &mut Markup, chapter: &Chapter<'_>, place: &mut PagePlace) {
    let label = chapter.id.part("title");
    let attributes = [("id", chapter.id.as_str().into()), ("aria-labelledby", label.as_str().into())];
    main.element("section", &attributes, |section| {
        section.element("h2", &[("id", label.as_str().into())], |head| {
            head.element("a", &[("href", Attribute::Link(&chapter.id))], |link| link.text(&chapter.title));
        });
        write_blocks(section, &chapter.blocks, place);
        chapter.downloads.iter().for_each(|data| write_download(section, data));
    });
}

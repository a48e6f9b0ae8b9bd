//! A page, and a figure by itself, as one HTML file.

mod blocks;
mod head;

use results::{FleetResults, PairOfFleet};

use crate::chart::{Attribute, Figure, Id, Markup};
use crate::document::{Block, Table};
use crate::html::blocks::write_blocks;
use crate::page::Page;
use crate::{cells, figures, fixed, views};

impl Page<'_> {
    /// The page as one HTML file that loads nothing.
    pub fn html(&self) -> Markup {
        page(&self.title(), &self.heading(), &self.chapters())
    }
}

/// The results of a fleet as one HTML file that loads nothing.
pub fn fleet_page(found: &FleetResults) -> Markup {
    let figures = figures::fleet(found);
    let mut answer = views::fleet(found, false);
    // The figures show the answer: they come before its tables.
    let tables = answer.iter().position(|block| matches!(block, Block::Table(_)));
    let place = tables.unwrap_or(answer.len());
    answer.splice(place..place, figures.iter().map(Block::Figure));
    let (all, most) = (found.pairs.len(), views::FLEET_ROWS);
    let is_apart = |pair: &&PairOfFleet| {
        let mut apart = found.effects.iter().flat_map(|effect| &effect.apart);
        all <= most || pair.why.is_some() || apart.any(|one| one.name == pair.name)
    };
    let pairs = found.pairs.iter().filter(is_apart).take(most).map(|pair| {
        let labels = pair.labels.iter().map(|(key, value)| format!("{key}={value}"));
        cells![&pair.name, pair.study, labels.collect::<Vec<_>>().join(", ")]
    });
    let note =
        "Pairs that stand apart or were measured in part; netassay report --fleet --format json has all";
    let pairs = Table::with_rows(["pair", "study", "labels"], pairs);
    let pairs = Block::Table(pairs.noted((all > most).then(|| note.to_owned())));
    let pairs = Block::Fold(results::counted(all, "pair"), vec![pairs]);
    let chapter = |id: &str, title: &str, blocks| Block::Chapter(Id::new(id), title.to_owned(), blocks);
    let chapters = [chapter("answer", "Answer", answer), chapter("pairs", "Pairs", vec![pairs])];
    page(&format!("{}: {}", found.name, found.campaign), &found.question, &chapters)
}

fn page(title: &str, heading: &str, chapters: &[Block<'_>]) -> Markup {
    document(title, |body| {
        body.fixed(fixed!("<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n"));
        body.element("header", &[], |header| {
            header.element("p", &[("class", "kind".into())], |kind| kind.text("netassay report"));
            header.fixed(fixed!("<button type=\"button\" id=\"theme\" hidden=\"\">Dark colours</button>"));
            header.element("h1", &[], |title| title.text(heading));
        });
        contents(body, chapters);
        body.element("main", &[("id", "main".into())], |main| {
            write_blocks(main, chapters, &mut 0, false);
        });
        body.fixed(fixed!(
            "<footer><p>This file is whole: it loads nothing and sends nothing. `netassay report` writes it again \
             from the database.</p></footer>"
        ));
        body.code("script", &head::script());
    })
}

/// The figure as an HTML page with its table, for wide and narrow screens, light and dark. It loads
/// nothing.
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

fn contents(body: &mut Markup, chapters: &[Block<'_>]) {
    body.element("nav", &[("aria-label", "Contents".into())], |nav| {
        nav.element("ul", &[], |list| {
            for chapter in chapters {
                let Block::Chapter(id, title, _) = chapter else { continue };
                list.element("li", &[], |item| {
                    item.element("a", &[("href", Attribute::Link(id))], |link| link.text(title));
                });
            }
        });
    });
}

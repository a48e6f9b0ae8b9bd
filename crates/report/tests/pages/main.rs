//! Pages of made-up studies: what stands in them, how large they are, and that no text of others
//! becomes markup.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]
#![allow(dead_code, reason = "each test binary uses its own part of what is shared")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail where all of it is used")]

#[path = "../drawn/check.rs"]
mod check;
mod hostile;
#[path = "../made_up/mod.rs"]
mod made_up;
mod partial;
mod size;

use netassay_report::chart::{Dots, DotsCondition, Figure, Id, Quantity};
use netassay_report::document::Block;
use netassay_report::{Download, FigureSection, Page};
use results::Results;
use store::{RunStatus, StoredStudy};

use self::check::{Piece, read};
use self::made_up::{run, stored};

/// The studies as a page shows them, with their downloads.
pub(crate) fn shown(studies: &[StoredStudy]) -> (Vec<Results>, Vec<Download>) {
    let study = |one: &StoredStudy| Results::from_owned(one.clone().sanitised()).unwrap();
    (
        studies.iter().map(study).collect(),
        studies.iter().map(|study| Download::from_stored(study)()).collect(),
    )
}

/// The HTML and the Markdown of a page without advice, with the figures of the product.
pub(crate) fn written(studies: &[StoredStudy]) -> (String, String) {
    let (studies, data) = shown(studies);
    let page = Page {
        studies: &studies,
        figures: netassay_report::figures::sections(&studies),
        data,
        advice: Vec::new(),
    };
    (page.html().to_string(), page.markdown())
}

/// The elements and texts of a page; its style and its script, which hold no text of others, are
/// left out.
pub(crate) fn pieces(html: &str) -> Vec<Piece> {
    let mut html = html.strip_prefix("<!DOCTYPE html>\n").unwrap().to_owned();
    for (from, to) in [("<style>", "</style>"), ("<script>", "</script>")] {
        assert_eq!((html.matches(from).count(), html.matches(to).count()), (1, 1), "{from}");
        let (begin, end) = (html.find(from).unwrap() + from.len(), html.find(to).unwrap());
        html.replace_range(begin..end, "");
    }
    read(&html).unwrap()
}

/// A study with one failed and one disturbed run.
fn study() -> StoredStudy {
    let mut stored = stored(3);
    for (index, status) in [(2, RunStatus::Failed), (13, RunStatus::Invalid)] {
        let old = stored.runs[index].clone();
        stored.runs[index] = run(old.id.0, old.boot, old.repeat, old.condition, status);
    }
    stored.runs[13].reason = Some("transmitter: other processes used 40 % of the time of CPU 0".to_owned());
    stored
}

fn section() -> FigureSection {
    let runs = vec![1000.0, 1010.0];
    let boots = vec![("boot 1".to_owned(), runs)];
    let conditions = vec![DotsCondition { name: "6.18".to_owned(), boots, interval: None }];
    let quantity = Quantity::new("throughput", "Mbit/s", results::figure);
    let plot = Dots { quantity, interval: "95 % interval".to_owned(), conditions };
    FigureSection {
        tables: Vec::new(),
        id: Id::new("over-versions"),
        title: "Over versions".to_owned(),
        about: vec!["Each kernel has a point.".to_owned()],
        figures: vec![Figure::new(Id::new("kernels"), "Kernels", "It rises.", plot)],
        folded: Vec::new(),
    }
}

/// An element a line; without the style, the script and the measurements, which have tests of their
/// own.
fn lines(html: &str) -> String {
    let mut html = html.to_owned();
    for (from, to) in
        [("<style>", "</style>"), ("<script>", "</script>"), ("base64,", "\""), ("&#39;sha256-", "&#39;")]
    {
        let mut at = 0;
        while let Some(begin) = html[at..].find(from).map(|place| at + place + from.len()) {
            let end = begin + html[begin..].find(to).unwrap();
            html.replace_range(begin..end, "…");
            at = begin;
        }
    }
    html.replace("><", ">\n<")
}

#[test]
fn the_page_of_a_study() {
    let (studies, data) = shown(&[study()]);
    let advice = vec![Block::Text("Turn TSO on.".to_owned())];
    let page = Page { studies: &studies, advice, figures: vec![section()], data };
    insta::assert_snapshot!("page", lines(page.html().as_str()));
    insta::assert_snapshot!("markdown", page.markdown());
}

#[test]
fn the_figure_that_shows_the_answer_stands_before_the_advice_and_once() {
    let (studies, data) = shown(&[study()]);
    let advice = vec![Block::Text("Turn TSO on.".to_owned())];
    let figures = vec![FigureSection { id: Id::new("effects"), ..section() }];
    let page = Page { studies: &studies, advice, figures, data };
    let markdown = page.markdown();
    let at = |words: &str| markdown.find(words).unwrap_or_else(|| panic!("{words}: {markdown}"));
    assert!(at("**Against ipv4 offloads=default") < at("### Kernels"), "{markdown}");
    assert!(at("### Kernels") < at("Each kernel has a point"), "{markdown}");
    assert!(at("Each kernel has a point") < at("study: 1 (quick)"), "{markdown}");
    // The chapter of the only figure has nothing left to show.
    assert_eq!((markdown.matches("Kernels").count(), markdown.matches("Over versions").count()), (1, 0));
    assert_eq!(page.html().as_str().matches("id=\"kernels\"").count(), 1);
}

#[test]
fn the_order_is_answer_advice_conditions_figures_environment_method() {
    let (studies, data) = shown(&[study()]);
    let advice = vec![Block::Text("Turn TSO on.".to_owned())];
    let page = Page { studies: &studies, advice, figures: vec![section()], data };
    let pieces = pieces(page.html().as_str());
    let ids: Vec<String> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Element(name, attributes) if name == "section" => Some(attributes[0].1.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        ids,
        ["answer", "advice", "conditions", "over-versions", "environment", "left-out", "method", "data"]
    );
}

#[test]
fn every_link_leads_to_an_element_and_headings_descend_by_one() {
    let mut other = study();
    (other.row.id, other.row.name) = (store::StudyId(2), "other".to_owned());
    for studies in [vec![study()], vec![study(), other]] {
        let (html, _) = written(&studies);
        let (mut ids, mut links, mut level) = (Vec::new(), Vec::new(), 0);
        for piece in pieces(&html) {
            let Piece::Element(name, attributes) = piece else { continue };
            if let Some(own) = name.strip_prefix('h').and_then(|digit| digit.parse::<u32>().ok()) {
                assert!(own <= level + 1, "h{own} below h{level}");
                level = own;
            }
            for (name, value) in attributes {
                match name.as_str() {
                    "id" => ids.push(value),
                    "href" => links.extend(value.strip_prefix('#').map(str::to_owned)),
                    _ => {}
                }
            }
        }
        let mut once = ids.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), ids.len(), "an id stands twice: {ids:?}");
        let lost: Vec<_> = links.iter().filter(|link| !ids.contains(link)).collect();
        assert!(lost.is_empty(), "{lost:?}");
        assert!(links.len() > 10);
    }
}

#[test]
fn the_page_may_load_nothing_and_runs_nothing_but_its_own_code() {
    let (html, _) = written(&[study()]);
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src &#39;sha256-";
    assert!(html.contains(policy));
    for outside in ["http:", "https:", "url(", "@import", "localStorage", "innerHTML"] {
        let found = html.replace("http://www.w3.org/2000/svg", "").contains(outside);
        assert!(!found, "{outside}");
    }
}

//! No text becomes markup.

use netassay_report::chart::{Attribute, Figure, Id, Markup};
use netassay_report::fixed;
use proptest::prelude::*;

use crate::check::{Piece, read};
use crate::figures;
use crate::odd::Odd;

/// The elements that figures consist of.
const ELEMENTS: &[&str] = &[
    "figure",
    "figcaption",
    "h3",
    "a",
    "p",
    "svg",
    "title",
    "desc",
    "g",
    "path",
    "rect",
    "circle",
    "text",
    "details",
    "summary",
    "div",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
];

const HOSTILE: &[&str] = &[
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onload='x",
    "<!-- x",
    "]]>",
    "&lt;",
    "\u{1b}[2J\u{7}",
    "off\u{202e}no\u{2066}\u{200b}",
    "a\u{2028}b\u{2029}",
    "\0\u{1}\u{fffe}\u{ffff}",
    "=cmd|' /C calc'!A0",
    "javascript:alert(1)",
    "]})'\"\\",
    "x\r\ny",
];

fn sound(figure: &Figure) -> Result<(), String> {
    let html = figure.html();
    let pieces = read(html.as_str())?;
    for piece in &pieces {
        if let Piece::Element(name, attributes) = piece {
            if !ELEMENTS.contains(&name.as_str()) {
                return Err(format!("{}: an element {name}", figure.id));
            }
            let link =
                |(name, value): &&(String, String)| name == "href" && *value == format!("#{}", figure.id);
            let bad = attributes.iter().filter(|one| !link(one)).find(|(name, _)| {
                name.starts_with("on") || ["href", "src", "style"].contains(&name.as_str())
            });
            if let Some(bad) = bad {
                return Err(format!("{}: an attribute {bad:?}", figure.id));
            }
        }
    }
    let ids: Vec<&String> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Element(_, attributes) => attributes.iter().find(|(name, _)| name == "id"),
            Piece::Text(_) => None,
        })
        .map(|(_, value)| value)
        .collect();
    let mut once = ids.clone();
    once.sort();
    once.dedup();
    if once.len() < ids.len() { Err(format!("{}: ids twice in {ids:?}", figure.id)) } else { Ok(()) }
}

#[test]
fn figures_are_well_formed() {
    for figure in figures::every_kind() {
        sound(&figure).unwrap();
    }
}

#[test]
fn hostile_names_are_only_text_in_every_figure() {
    let names: Vec<String> = HOSTILE.iter().map(|name| (*name).to_owned()).collect();
    let values = [1.0, -2.0, 3.5];
    for figure in Odd::new(&names, &values).figures(5) {
        sound(&figure).unwrap();
    }
}

#[test]
fn names_of_four_megabytes_are_cut() {
    let names = ["<x>&'\"".repeat(600_000)];
    let values = [0.0];
    for figure in Odd::new(&names, &values).figures(2) {
        sound(&figure).unwrap();
        let size = figure.html().as_str().len();
        assert!(size < 1_000_000, "{}: {size} bytes", figure.id);
    }
}

#[test]
#[should_panic(expected = "takes no text")]
fn text_is_no_address() {
    Markup::new().empty("a", &[("href", Attribute::Text("javascript:alert(1)"))]);
}

#[test]
fn numbers_are_finite_and_short() {
    let mut markup = Markup::new();
    for value in [1.0 / 3.0, -0.001, f64::NAN, f64::INFINITY, 1e9] {
        markup.empty("g", &[("x", value.into())]);
    }
    assert_eq!(markup.as_str(), r#"<g x="0.3"/><g x="0"/><g x="0"/><g x="0"/><g x="1000000000"/>"#);
    assert_eq!(
        ["Runs per boot", "1 %", "<>"].map(|text| Id::new(text).to_string()),
        ["runs-per-boot", "f1-", "f-"]
    );
}

proptest! {
    #[test]
    fn text_reads_back_as_itself(text in any::<String>()) {
        let mut markup = Markup::new();
        markup.element("p", &[("title", Attribute::Text(&text))], |inside| inside.text(&text));
        let odd = |text: &str| text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
        let mut expected =
            vec![Piece::Element("p".to_owned(), vec![("title".to_owned(), odd(&words::sanitised_line(&text)))])];
        expected.extend((!text.is_empty()).then(|| Piece::Text(odd(&words::sanitised_lines(&text)))));
        prop_assert_eq!(read(markup.as_str()).unwrap(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn figures_of_any_names_are_well_formed(
        names in prop::collection::vec(prop_oneof![any::<String>(), prop::sample::select(HOSTILE).prop_map(str::to_owned)], 1..6),
        seed in -1e6..1e6,
    ) {
        let values = [seed, seed * 1.5, 3.0];
        for figure in Odd::new(&names, &values).figures(3) {
            prop_assert_eq!(sound(&figure), Ok(()));
        }
    }
}

#[test]
#[should_panic(expected = "end its element")]
fn code_that_ends_its_element_is_refused() {
    Markup::new().code("script", &fixed!("x = '</script>'"));
}

#[test]
fn a_file_in_a_page_is_read_back() {
    let mut markup = Markup::new();
    markup.empty("a", &[("href", Attribute::File("application/gzip", &[0, 255, b'<', b'"', 7]))]);
    assert_eq!(markup.as_str(), r#"<a href="data:application/gzip;base64,AP88Igc="/>"#);
}

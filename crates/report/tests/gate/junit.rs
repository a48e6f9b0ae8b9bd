//! JUnit's XML is well-formed XML 1.0, whatever the names are.

use crate::made_up::{judged, known, request, stored, two};
use netassay_report::document::markdown;
use netassay_report::views;
use proptest::prelude::*;
use results::gate::{GateDecision, GateOutcome, GateRequest};

/// A gate whose first condition, study and acknowledgement are named so.
fn named(name: &str, inconclusive: GateOutcome) -> GateDecision {
    let level = |condition: usize, boot: u32, run: u32| {
        1000.0 + 100.0 * condition as f64 + f64::from((boot * 7 + run * 3) % 11)
    };
    let before = stored(1, &two(), (5, 3), &["throughput"], level);
    let mut after = stored(2, &two(), (5, 3), &["throughput"], |condition, boot, run| {
        level(condition, boot, run) * if condition == 0 { 0.95 } else { 0.98 }
    });
    after.plan.conditions[0].label = name.into();
    after.row.name = name.to_owned();
    after.row.recorded_runs = 29;
    let quoted: String = name.chars().flat_map(char::escape_unicode).collect();
    let quoted = quoted.replace("\\u{", "\\U{");
    // TOML has escapes of eight digits.
    let mut reason = String::new();
    for part in quoted.split("\\U{").skip(1) {
        let digits = part.trim_end_matches('}');
        reason.push_str(&format!("\\U{digits:0>8}"));
    }
    let entry = format!(
        "[[acknowledged]]\ncondition = \"tcp4\"\nmetric = \"throughput\"\nbound = \"< -9%\"\nreason = \"x{reason}\"\nexpires = 2027-01-31\n"
    );
    after.plan.conditions[0].slug = "tcp4".to_owned();
    let asked = GateRequest {
        acknowledged: known(&entry),
        inconclusive,
        require_complete: true,
        ..request(&["throughput < -2%"])
    };
    judged(&before, &after, &asked)
}

/// The elements of a document, in order, each with its attributes as they are written.
///
/// A strict reader of the part of XML 1.0 (<https://www.w3.org/TR/xml/>) that is written: only its
/// characters (production 2), names, attributes in double quotes without `<` and with known
/// references only, every element closed in order, one root.
fn read(xml: &str) -> Result<Vec<(String, String)>, String> {
    let is_allowed = |letter: char| matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    if let Some(letter) = xml.chars().find(|letter| !is_allowed(*letter)) {
        return Err(format!("{letter:?} is no character of XML"));
    }
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let mut rest = xml.strip_prefix(head).ok_or("no declaration")?;
    let (mut open, mut found): (Vec<String>, Vec<(String, String)>) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        references(text)?;
        if open.is_empty() && !text.trim().is_empty() {
            return Err(format!("text outside of the root: {text:?}"));
        }
        let mut quoted = false;
        let end = tag.find(|letter| {
            quoted ^= letter == '"';
            letter == '>' && !quoted
        });
        let inside = &tag[1..end.ok_or("a tag without end")?];
        rest = &tag[inside.len() + 2..];
        if let Some(name) = inside.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                return Err(format!("</{name}> closes another element"));
            }
            continue;
        }
        let is_empty = inside.ends_with('/');
        let inside = inside.trim_end_matches('/');
        let (name, mut left) = inside.split_once(' ').unwrap_or((inside, ""));
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') {
            return Err(format!("{name:?} is no name"));
        }
        found.push((name.to_owned(), left.to_owned()));
        while !left.is_empty() {
            let (key, value) = left.split_once("=\"").ok_or(format!("no attribute: {left:?}"))?;
            let (value, after) = value.split_once('"').ok_or("no end of an attribute")?;
            if !key.trim_start().bytes().all(|byte| byte.is_ascii_lowercase()) || value.contains('<') {
                return Err(format!("{key}={value:?} is no attribute"));
            }
            references(value)?;
            left = after;
        }
        if !is_empty {
            open.push(name.to_owned());
        }
    }
    if open.is_empty() && rest.trim().is_empty() {
        Ok(found)
    } else {
        Err(format!("open: {open:?} {rest:?}"))
    }
}

fn references(text: &str) -> Result<(), String> {
    let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    let odd = text.split('&').skip(1).find(|after| !known.iter().any(|one| after.starts_with(one)));
    odd.map_or(Ok(()), |after| Err(format!("&{after:.8} is no reference")))
}

#[test]
fn the_reader_refuses_what_is_no_xml() {
    let with = |body: &str| read(&format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}"));
    assert_eq!(with("<a b=\"&lt;\"><c/>x</a>\n").unwrap().len(), 2);
    for body in
        ["<a>", "<a></b>", "<a b=\"<\"/>", "<a>&x</a>", "<a>\u{1}</a>", "<a>\u{ffff}</a>", "x<a/>", "<a b/>"]
    {
        assert!(with(body).is_err(), "{body:?}");
    }
}

#[test]
fn hostile_names_stay_text() {
    for name in [
        "</testcase><failure/>",
        "\" onload=\"x",
        "]]>",
        "<!--",
        "&lt;&#0;",
        "a\u{0}b\u{b}c\u{1b}[2Jd\u{fffe}\u{ffff}",
        "\u{202e}evil\u{2028}",
        "=cmd|' /C calc'!A0",
        "\r\n\t",
    ] {
        for inconclusive in [GateOutcome::Pass, GateOutcome::Fail, GateOutcome::Inconclusive] {
            let gate = named(name, inconclusive);
            let found = read(&views::gate_junit(&gate)).unwrap_or_else(|error| panic!("{name:?}: {error}"));
            let count = |element: &str| found.iter().filter(|(name, _)| name == element).count();
            assert_eq!((count("testcase"), count("testsuite")), (3, 1), "{name:?}");
            let [failures, errors, skipped] = ["failure", "error", "skipped"].map(count);
            let totals =
                format!("tests=\"3\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"");
            assert!(found[0].1.contains(&totals) && found[1].1.contains(&totals), "{totals}: {found:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_name_gives_well_formed_xml_and_markdown_of_as_many_lines(name in "(.|[<>&\"'\u{0}-\u{1f}\n|`]){1,30}") {
        let gate = named(&name, GateOutcome::Inconclusive);
        prop_assert_eq!(read(&views::gate_junit(&gate)).map(|found| found.len() > 4), Ok(true));
        let lines = |gate: &GateDecision| markdown(&views::gate(gate)).lines().count();
        prop_assert_eq!(lines(&gate), lines(&named("plain", GateOutcome::Inconclusive)));
    }
}

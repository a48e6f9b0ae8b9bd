//! Text of others in every field of a stored study.

use record::{Detail, Environment, Limit, Note};
use serde::Serialize;
use serde_json::Value;
use store::{RunStatus, StoredStudy};
use study::Plan;

use crate::check::Piece;
use crate::made_up::{ran_with, stored};
use crate::{pieces, written};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"' --><!-- =cmd|x`@someone *b*\u{1b}]0;t\u{7}\u{202e}\u{200b}\u{2028}\nForged: # line";

/// Puts the text into every string of a record that may hold any text.
fn soiled<T: Serialize>(
    record: &T,
    hostile: &str,
    read: impl Fn(&str) -> serde_json::Result<T>,
) -> (T, usize) {
    let mut value = serde_json::to_value(record).unwrap();
    let mut places = Vec::new();
    strings(&value, String::new(), &mut places);
    let mut count = 0;
    for place in places {
        let spot = value.pointer_mut(&place).unwrap();
        let old = std::mem::replace(spot, hostile.into());
        if read(&value.to_string()).is_ok() {
            count += 1;
        } else {
            *value.pointer_mut(&place).unwrap() = old;
        }
    }
    (read(&value.to_string()).unwrap(), count)
}

fn strings(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::String(_) => places.push(at),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| strings(item, format!("{at}/{index}"), places));
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                strings(field, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        _ => {}
    }
}

fn study(hostile: &str) -> StoredStudy {
    let mut study = stored(2);
    let mut places = 0;
    let mut count = |more: usize| places += more;
    let (plan, more) = soiled(&study.plan, hostile, Plan::read);
    study.plan = plan;
    count(more);
    for (index, condition) in study.plan.conditions.iter_mut().enumerate() {
        condition.label = format!("{index}{hostile}").as_str().into();
        condition.slug = format!("{index}{hostile}");
    }
    study.plan.asked.question = hostile.to_owned();
    let mut environment = study.boots[0].environment.clone();
    environment.notes.push(Note::NotSteered(hostile.to_owned()));
    environment.transmitter.kernel.release = Some(hostile.to_owned());
    environment.transmitter.cpu.model = Some(hostile.to_owned());
    // Names of sysctls and interfaces are checked as they are read.
    environment.transmitter.sysctls.insert("net.core.rmem_max".to_owned(), hostile.to_owned());
    let mut interface = record::sample::interface("eth0");
    (interface.driver, interface.link.kind) = (Some(hostile.to_owned()), Some(hostile.to_owned()));
    environment.transmitter.interfaces.insert("eth0".to_owned(), Some(interface));
    let (environment, more) =
        soiled::<Environment>(&environment, hostile, |json: &str| serde_json::from_str(json));
    count(more);
    for boot in &mut study.boots {
        boot.environment = environment.clone();
    }
    let (detail, more) = soiled(&ran_with(hostile), hostile, Detail::read);
    count(more);
    let limit = record::Limit {
        label: record::Label::Path,
        evidence: vec![record::Evidence::Lost {
            place: record::LossPlace::Queue { side: study::Side::Receiver, wire: hostile.into() },
            datagrams: 1,
            offered: 2,
        }],
    };
    let (limit, _) = soiled::<Limit>(&limit, hostile, |json: &str| serde_json::from_str(json));
    for (index, run) in study.runs.iter_mut().enumerate() {
        run.reason = Some(hostile.to_owned());
        run.detail = detail.clone();
        run.limited_by = Some(limit.clone());
        run.status =
            [RunStatus::Ok, RunStatus::Ok, RunStatus::Ok, RunStatus::Failed, RunStatus::Invalid][index % 5];
    }
    study.unknown_metrics.insert(hostile.to_owned());
    let row = &mut study.row;
    for text in [&mut row.name, &mut row.scenario, &mut row.version, &mut row.toml] {
        *text = hostile.to_owned();
    }
    row.tags = vec![hostile.to_owned()];
    assert!(places > 10, "{places} texts were found in plan, environment and account");
    study
}

/// The elements that a page consists of.
const ELEMENTS: &str = "html head meta title style body a header p button h1 nav ul li main section h2 h3 dl div \
    dt dd details summary table caption thead tbody tr th td pre footer script figure figcaption svg desc g path \
    rect circle text";

#[test]
fn hostile_texts_are_only_text_in_html() {
    let mut other = study(HOSTILE);
    other.row.id = store::StudyId(2);
    for studies in [vec![study(HOSTILE)], vec![study(HOSTILE), other]] {
        let (html, _) = written(&studies);
        let mut texts = 0;
        let mut within = String::new();
        for piece in pieces(&html) {
            match piece {
                Piece::Element(name, attributes) => {
                    assert!(ELEMENTS.split_whitespace().any(|known| known == name), "an element {name}");
                    for (attribute, value) in attributes {
                        let leads_here =
                            value.starts_with('#') || value.starts_with("data:application/gzip;base64,");
                        assert!(attribute != "href" || leads_here, "{value:.80}");
                        assert!(
                            !attribute.starts_with("on")
                                && !["src", "style", "srcdoc"].contains(&&*attribute)
                        );
                    }
                    within = name;
                }
                Piece::Text(text) => {
                    texts += usize::from(text.contains("onerror"));
                    assert!(words::is_plain(&text.replace(['\n', '\t'], " ")), "{text:?}");
                    // A long label of a figure is wrapped, at any blank.
                    let forges = text.lines().any(|line| line.starts_with("Forged"));
                    assert!(!forges || within == "text", "{text:?} in {within}");
                }
            }
        }
        assert!(texts > 20, "the text was shown {texts} times");
    }
}

#[test]
fn hostile_texts_are_only_text_in_markdown() {
    let (_, markdown) = written(&[study(HOSTILE)]);
    let (mut fence, mut shown) = (None::<String>, 0);
    for line in markdown.lines() {
        let mark: String = line.chars().take_while(|letter| *letter == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => continue,
            None if mark.len() >= 3 => fence = Some(mark),
            None => {
                shown += usize::from(line.contains("onerror"));
                assert!(words::is_plain(line), "{line:?}");
                assert!(!line.starts_with("Forged"), "{line}");
                let rest = ["<!-- -->", "<details>", "</details>", "<summary>", "</summary>"]
                    .iter()
                    .fold(line.replace("@<!-- -->", ""), |rest, ours| rest.replace(ours, ""));
                assert!(!rest.contains('<') && !rest.contains('@'), "{line}");
                // A row of a table has as many cells as its head.
                if line.starts_with("| ") {
                    assert!(line.ends_with(" |"), "{line}");
                }
            }
        }
    }
    assert!(fence.is_none() && shown > 10, "{shown}");
}

#[test]
fn texts_of_four_megabytes_make_no_large_page() {
    let long = format!("{HOSTILE}{}", "x".repeat(4 << 20));
    let mut study = stored(2);
    study.row.name.clone_from(&long);
    study.plan.asked.question.clone_from(&long);
    study.boots[0].environment.transmitter.cpu.model = Some(long.clone());
    study.runs[0].status = RunStatus::Failed;
    study.runs[0].reason = Some(long);
    let (html, markdown) = written(&[study]);
    pieces(&html);
    assert!(html.len() < 1_000_000 && markdown.len() < 500_000, "{} and {}", html.len(), markdown.len());
}

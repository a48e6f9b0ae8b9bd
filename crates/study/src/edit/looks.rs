//! A change that leaves a study fewer boots than its looks need.

use toml::de::DeValue;

use crate::edit::assignment::Assignment;
use crate::edit::document::{Base, Document};
use crate::edit::file::File;
use crate::edit::target::Target;
use crate::model::stop::{LooksDropped, Stop};

const BOOTS: &[&str] = &["protocol", "boots"];
const STOP: &[&str] = &["protocol", "stop"];

/// The text without its looks, if the changes set fewer boots than these need. Changes that set the
/// looks too keep them: then a conflict is reported like any other.
pub(crate) fn without_room(text: String, changes: &[Assignment]) -> (String, Option<LooksDropped>) {
    match Document::read(&text).and_then(|document| shorter(&document, changes)) {
        Some((shorter, dropped)) => (shorter, Some(dropped)),
        None => (text, None),
    }
}

fn shorter(document: &Document<'_>, changes: &[Assignment]) -> Option<(String, LooksDropped)> {
    let changes_a = |path: &[&str]| {
        let targets = changes.iter().filter_map(|change| Target::resolve(document, change).ok());
        targets.into_iter().any(|target| matches!(target, Target::Key(key) if key.starts_with(&owned(path))))
    };
    if !changes_a(BOOTS) || changes_a(STOP) {
        return None;
    }
    let boots = match document.get(&BOOTS[..1], BOOTS[1])? {
        DeValue::Table(table) => number(table.get("count")?.get_ref())?,
        count => number(count)?,
    };
    document.get(&STOP[..1], STOP[1])?;
    let looks = document.get(STOP, "looks").map_or(Some(Stop::LOOKS), number)?;
    if Stop::fits(looks, boots) {
        return None;
    }
    let mut file = File::read(document.text)?;
    file.take(Base::Root, STOP)?;
    Some((file.text(), LooksDropped { looks, boots }))
}

fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(ToString::to_string).collect()
}

fn number(value: &DeValue<'_>) -> Option<u32> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        _ => None,
    }
}

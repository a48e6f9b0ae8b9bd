//! What a change makes void: exclusions and comparisons of levels that it removes, and offloads of
//! a design that it fixes.

use toml::de::{DeTable, DeValue};
use words::{Placement, Scenario, Word as _, format_cpu_list};

use crate::edit::document::{Base, Document};
use crate::edit::file::File;
use crate::model::factor::Subject;
use crate::model::literal;
use crate::read::factor::{Named, flatten};
use crate::read::problems::Problems;
use crate::read::table::entries;

/// Keeps exclusions to the levels that a factor still has. An exclusion that loses all its levels
/// of the factor is removed: without them it would exclude too much.
pub(crate) fn exclusions(
    document: &Document<'_>,
    file: &mut File,
    subject: &Subject,
    kept: &[String],
) -> Option<()> {
    let kept: Vec<String> = kept.iter().map(|level| spelling(subject, level)).collect();
    // From the end, so that earlier places stay valid.
    for (place, table) in document.tables("exclude").into_iter().rev() {
        let Some(named) = named(table, subject) else { continue };
        let levels = levels(named.value.get_ref());
        let left = left(subject, &levels, &kept);
        if left.is_empty() {
            file.take_item("exclude", place);
        } else if left != levels {
            file.put(Base::Item("exclude", place), &named.path, literal::of(named.name, &left))?;
        }
    }
    Some(())
}

/// Keeps comparisons to the levels that a factor still has. A comparison of removed levels only is
/// removed: without them it would compare other conditions than the file says.
pub(crate) fn comparisons(
    document: &Document<'_>,
    file: &mut File,
    subject: &Subject,
    kept: &[String],
) -> Option<()> {
    if kept.is_empty() {
        // Without the factor its comparisons make no sense: that is reported.
        return Some(());
    }
    let kept: Vec<String> = kept.iter().map(|level| spelling(subject, level)).collect();
    // From the end, so that earlier places stay valid.
    for (place, table) in document.tables("comparison").into_iter().rev() {
        let Some(DeValue::Table(only)) = table.get("only").map(toml::Spanned::get_ref) else { continue };
        let Some(named) = named(only, subject) else { continue };
        let levels = levels(named.value.get_ref());
        let left = left(subject, &levels, &kept);
        if left.is_empty() {
            file.take_item("comparison", place);
        } else if left != levels {
            let path = [&["only"], named.path.as_slice()].concat();
            file.put(Base::Item("comparison", place), &path, literal::of(named.name, &left))?;
        }
    }
    Some(())
}

/// Removes a factor from the design's offloads; the design too, if it was the only one.
pub(crate) fn from_design(document: &Document<'_>, file: &mut File, subject: &Subject) -> Option<()> {
    let names = document.get(&["design"], "offloads").map(levels).unwrap_or_default();
    let left: Vec<String> =
        names.iter().filter(|name| Subject::of(name).as_ref() != Some(subject)).cloned().collect();
    if left.len() == names.len() {
        return Some(());
    }
    if left.is_empty() {
        return file.take(Base::Root, &["design"]);
    }
    file.put(Base::Root, &["design", "offloads"], literal::of("offloads", &left))
}

/// The levels that the factor still has. A scenario of namespaces that it has no longer becomes the
/// one of machines that it has instead.
fn left(subject: &Subject, levels: &[String], kept: &[String]) -> Vec<String> {
    let is_kept = |level: &String| kept.contains(&spelling(subject, level));
    let instead = |level: &String| {
        let scenario = Scenario::from_word(level).filter(|_| *subject == Subject::Scenario)?;
        Some(scenario.between_machines()?.word().to_owned())
    };
    let of = |level: &String| Some(level.clone()).filter(is_kept).or_else(|| instead(level).filter(is_kept));
    levels.iter().filter_map(of).collect()
}

fn named<'d>(table: &'d DeTable<'d>, subject: &Subject) -> Option<Named<'d>> {
    let named = flatten(entries(table), &mut Problems::default());
    named.into_iter().find(|named| named.subject().as_ref() == Some(subject))
}

/// Levels as the command line writes them.
fn levels(value: &DeValue<'_>) -> Vec<String> {
    match value {
        DeValue::Array(array) => array.iter().filter_map(|level| text(level.get_ref())).collect(),
        one => text(one).into_iter().collect(),
    }
}

fn text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Boolean(on) => Some(on.to_string()),
        // A placement, in its one word.
        DeValue::Table(table) => {
            let cpu = |key: &str| text(table.get(key)?.get_ref())?.parse().ok();
            Some(Placement { irq: cpu("irq")?, traffic: cpu("traffic")? }.to_string())
        }
        DeValue::Array(cpus) => {
            let cpus = cpus.iter().map(|cpu| text(cpu.get_ref())?.parse().ok());
            Some(format_cpu_list(&cpus.collect::<Option<Vec<u32>>>()?))
        }
        _ => None,
    }
}

/// One spelling for each level.
fn spelling(subject: &Subject, level: &str) -> String {
    match level {
        "true" => "on".to_owned(),
        "false" => "off".to_owned(),
        level => subject.spelling(level.to_owned()),
    }
}

//! Repairs the tables that depend on changed factors: exclusions, comparisons and their baselines,
//! and offloads of a design that a factor now fixes.

use toml::de::{DeTable, DeValue};
use words::{Placement, Scenario, Word as _, format_cpu_list};

use crate::edit::file::{Base, Document, File};
use crate::model::Subject;
use crate::plan::Unresolved;
use crate::read::factor::flatten;
use crate::read::value::entries;
use crate::read::{Named, Problems};
use crate::write;

/// Repairs the text after a change of the document `before`: selections of conditions follow the
/// factors whose levels have changed.
///
/// An exclusion, or a comparison of some conditions only, keeps the levels that the factor still
/// has, and is removed without any: it would select other conditions than the file says. A baseline
/// without any is the factor's first level. A baseline that does not name a factor gets the first
/// level of one that has become several.
pub(crate) fn follow_factors(before: &Document<'_>, mut text: String) -> Option<String> {
    let was = factors(before);
    let mut changed = factors(&Document::read(&text)?);
    let is_in = |all: &[Levels], subject: &Subject| all.iter().any(|one| one.subject == *subject);
    let gone: Vec<Levels> = was.iter().filter(|one| !is_in(&changed, &one.subject)).cloned().collect();
    changed.extend(gone.into_iter().map(|one| Levels { levels: Vec::new(), ..one }));
    for factor in changed {
        let before = was.iter().find(|one| one.subject == factor.subject);
        let before = before.map_or(&[][..], |one| one.levels.as_slice());
        if before != factor.levels {
            let mut file = File::read(&text)?;
            follow_factor(&Document::read(&text)?, &mut file, &factor, before.len() < 2)?;
            text = file.text();
        }
    }
    Some(text)
}

/// The text without the comparisons, by their places, that have nothing to compare. One whose
/// baseline is not among the conditions compares with the first condition instead.
pub(crate) fn without_void(text: &str, comparisons: &[(usize, Unresolved)]) -> Option<String> {
    let mut file = File::read(text)?;
    for (place, why) in comparisons.iter().rev() {
        match why {
            Unresolved::NothingToCompare => file.take_item("comparison", *place),
            Unresolved::NoBaseline => file.take(Base::Item("comparison", *place), &["baseline"])?,
            Unresolved::ManyBaselines(_) => return None,
        }
    }
    Some(file.text())
}

/// A factor and its levels as the command line writes them.
#[derive(Clone)]
struct Levels {
    subject: Subject,
    name: String,
    levels: Vec<String>,
}

/// The factors of a file, including its design's.
fn factors(document: &Document<'_>) -> Vec<Levels> {
    let read = |named: Named<'_>| {
        let subject = named.subject()?;
        let levels = levels(named.value.get_ref());
        let levels = levels.iter().map(|level| spelling(&subject, level)).collect();
        Some(Levels { subject, name: named.full(), levels })
    };
    let named = flatten(document.entries("factors"), &mut Problems::default());
    let designed = document.get(&["design"], "offloads").map(levels).unwrap_or_default().into_iter();
    let of_design = |name: String| {
        let levels = ["on", "off"].map(str::to_owned).to_vec();
        Some(Levels { subject: Subject::from_name(&name)?, name, levels })
    };
    named.into_iter().filter_map(read).chain(designed.filter_map(of_design)).collect()
}

/// `is_new`: the factor had one level at most.
fn follow_factor(document: &Document<'_>, file: &mut File, factor: &Levels, is_new: bool) -> Option<()> {
    // Backwards, so that earlier places stay valid.
    for (place, table) in document.tables("exclude").into_iter().rev() {
        keep_levels(file, ("exclude", place), &[], (table, factor))?;
    }
    for (place, table) in document.tables("comparison").into_iter().rev() {
        let part = |key: &str| match table.get(key)?.get_ref() {
            DeValue::Table(part) => Some(part),
            _ => None,
        };
        let only = part("only");
        if let Some(only) = only
            && !keep_levels(file, ("comparison", place), &["only"], (only, factor))?
        {
            continue;
        }
        let Some(baseline) = part("baseline") else { continue };
        let base = Base::Item("comparison", place);
        let first = factor.levels.first();
        match (named(baseline, &factor.subject), first) {
            (Some(named), first) => {
                let levels = levels(named.value.get_ref());
                let mut left = remaining_levels(factor, &levels);
                if left.is_empty() {
                    left.extend(first.cloned());
                }
                let path = [&["baseline"], named.path.as_slice()].concat();
                if left.is_empty() {
                    let is_last = flatten(entries(baseline), &mut Problems::default()).len() == 1;
                    file.take(base, if is_last { &path[..1] } else { &path })?;
                } else if left != levels {
                    file.put(base, &path, write::toml_value(named.name, &left))?;
                }
            }
            (None, Some(first)) if is_new && factor.levels.len() > 1 => {
                let is_chosen = only.is_some_and(|only| named(only, &factor.subject).is_some());
                if !is_chosen {
                    let value =
                        write::toml_value(factor.name.rsplit('.').next()?, std::slice::from_ref(first));
                    file.put(base, &["baseline", &factor.name], value)?;
                }
            }
            _ => {}
        }
    }
    Some(())
}

/// Keeps one of the tables of an array to the levels that a factor still has, in the table at this
/// path; without any it is removed. Returns whether it stays.
fn keep_levels(
    file: &mut File,
    (key, place): (&'static str, usize),
    path: &[&str],
    (table, factor): (&DeTable<'_>, &Levels),
) -> Option<bool> {
    let Some(named) = named(table, &factor.subject) else { return Some(true) };
    let levels = levels(named.value.get_ref());
    let left = remaining_levels(factor, &levels);
    if left.is_empty() {
        file.take_item(key, place);
        return Some(false);
    }
    if left != levels {
        let path = [path, named.path.as_slice()].concat();
        file.put(Base::Item(key, place), &path, write::toml_value(named.name, &left))?;
    }
    Some(true)
}

/// Removes a factor from the design's offloads; the design too, if it was the only one.
pub(crate) fn from_design(document: &Document<'_>, file: &mut File, subject: &Subject) -> Option<()> {
    let names = document.get(&["design"], "offloads").map(levels).unwrap_or_default();
    let left: Vec<String> =
        names.iter().filter(|name| Subject::from_name(name).as_ref() != Some(subject)).cloned().collect();
    if left.len() == names.len() {
        return Some(());
    }
    if left.is_empty() {
        return file.take(Base::Root, &["design"]);
    }
    file.put(Base::Root, &["design", "offloads"], write::toml_value("offloads", &left))
}

/// The levels that the factor still has. A removed scenario of namespaces becomes its scenario of
/// machines, if the factor has that.
fn remaining_levels(factor: &Levels, levels: &[String]) -> Vec<String> {
    let Levels { subject, levels: kept, .. } = factor;
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

fn spelling(subject: &Subject, level: &str) -> String {
    match level {
        "true" => "on".to_owned(),
        "false" => "off".to_owned(),
        level => subject.spelling(level.to_owned()),
    }
}

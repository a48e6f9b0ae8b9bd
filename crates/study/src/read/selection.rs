//! `[[exclude]]`, `baseline` and `only`: conditions selected by levels.

use std::collections::HashSet;

use toml::Spanned;
use toml::de::DeValue;
use words::suggest::quoted;

use crate::model::factor::{Factor, Subject};
use crate::model::selection::{Exclusion, Selection};
use crate::read::diagnostic::Problem;
use crate::read::factor::{Named, flatten, level};
use crate::read::problems::Problems;
use crate::read::table::{Entry, Table, entries, kind};
use crate::read::value::Value;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'f> {
    pub(crate) factors: &'f [Factor],
    /// Whether all factors of the file could be read. If not, a missing name is not reported.
    pub(crate) whole: bool,
}

pub(crate) fn exclusion(
    mut table: Table<'_>,
    scope: Scope<'_>,
    problems: &mut Problems,
) -> Option<Exclusion> {
    let reason = table.take("reason").and_then(|entry| Value::from_entry(&entry).sentence(problems));
    let place = table.span.clone();
    let rest = table.rest();
    if rest.is_empty() {
        problems.report(
            place,
            "this excludes every condition",
            "name levels, such as `family = \"ipv6\"`, or remove it",
        );
        return None;
    }
    let selection = select(rest, scope, problems)?;
    Some(Exclusion { selection, reason })
}

pub(crate) fn inline(entry: &Entry<'_>, scope: Scope<'_>, problems: &mut Problems) -> Option<Selection> {
    match entry.value.get_ref() {
        DeValue::Table(table) => select(entries(table), scope, problems),
        other => {
            let message = format!("`{}` must be a table of levels, not {}", quoted(entry.key), kind(other));
            let help = format!("write it as `{} = {{ family = \"ipv4\" }}`", quoted(entry.key));
            problems.report(entry.span(), message, help);
            None
        }
    }
}

/// The selection of these entries; `None` if anything in it is wrong.
fn select(rest: Vec<Entry<'_>>, scope: Scope<'_>, problems: &mut Problems) -> Option<Selection> {
    let mut chosen = Vec::new();
    let mut seen = HashSet::new();
    let mut whole = true;
    for named in flatten(rest, problems) {
        let Some((index, factor)) = factor(&named, scope, problems) else {
            whole = false;
            continue;
        };
        if !seen.insert(index) {
            let message = format!("the factor `{}` is named twice", factor.name());
            problems.push(Problem::new(named.place, message));
            whole = false;
            continue;
        }
        match levels(&named, factor, scope, problems) {
            Some(levels) => chosen.push((index, levels)),
            None => whole = false,
        }
    }
    whole.then(|| Selection::new(chosen))
}

/// The factor of a key, by any of its names.
fn factor<'f>(named: &Named<'_>, scope: Scope<'f>, problems: &mut Problems) -> Option<(usize, &'f Factor)> {
    let subject = match named.full().as_str() {
        "workload" => Some(Subject::Workload),
        _ => named.subject(),
    };
    let factors = || scope.factors.iter().enumerate();
    let found = subject.and_then(|subject| factors().find(|(_, factor)| *factor.subject() == subject));
    if found.is_none() && scope.whole {
        let full = named.full();
        let message = format!("this study has no factor `{}`", quoted(&full));
        let help = if scope.factors.is_empty() {
            Some("add it to `[factors]`: the study has none yet".to_owned())
        } else {
            problems.help(&full, scope.factors.iter().map(Factor::name))
        };
        problems.push(Problem::new(named.place.clone(), message).maybe_help(help));
    }
    found
}

/// The levels of a value: one, or a list.
fn levels(
    named: &Named<'_>,
    factor: &Factor,
    scope: Scope<'_>,
    problems: &mut Problems,
) -> Option<Vec<usize>> {
    let known: Vec<String> = factor.levels().collect();
    let mut one = |value: &Spanned<DeValue<'_>>| {
        let text = match factor.subject() {
            // Its levels may be tables or lists.
            Subject::Tuning(..) if scope.whole => {
                level(Value { name: named.name, value }, factor.subject(), problems)?.to_string()
            }
            subject => subject.spelling(text(value, named, problems)?),
        };
        // A kernel may be named by its release, as in labels.
        let level = known.iter().position(|level| *level == text).or_else(|| factor.called(&text));
        if level.is_none() && scope.whole {
            let message = format!("`{}` has no level `{}`", factor.name(), quoted(&text));
            let help = problems.help(&text, known.iter().map(String::as_str));
            problems.push(Problem::new(value.span(), message).maybe_help(help));
        }
        level
    };
    match named.value.get_ref() {
        // Reads each, so that all wrong ones are reported.
        DeValue::Array(array) => {
            let levels: Vec<Option<usize>> = array.iter().map(one).collect();
            let levels: Option<Vec<usize>> = levels.into_iter().collect();
            if levels.as_ref().is_some_and(Vec::is_empty) {
                let message = format!("no level of `{}` is named", factor.name());
                problems.push(Problem::new(named.value.span(), message));
                return None;
            }
            levels
        }
        _ => one(named.value).map(|level| vec![level]),
    }
}

/// A level in the spelling of [`Factor::levels`].
fn text(value: &Spanned<DeValue<'_>>, named: &Named<'_>, problems: &mut Problems) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Boolean(on) => Some(if *on { "on" } else { "off" }.to_owned()),
        _ => {
            let value = Value { name: named.name, value };
            value.decimal().or_else(|| value.wrong_type("a level", problems))
        }
    }
}

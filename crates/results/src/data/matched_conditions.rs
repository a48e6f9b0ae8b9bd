//! Pairs of conditions of two studies whose plans set the same.

use std::collections::{BTreeMap, BTreeSet};

use store::Outline;
use study::Condition;

use crate::data::differences::{StudyDifference, boot_kind_difference, of_environments, of_read_back};
use crate::data::error::Error;
use crate::data::leaves::leaves;

pub(crate) type ConditionSettings = BTreeMap<String, String>;

/// The conditions of two studies beside each other, as indices into their plans.
#[derive(Debug)]
pub(crate) struct MatchedConditions {
    /// (of the baseline, of the study), in the order of the study's plan.
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) only_baseline: Vec<usize>,
    pub(crate) only_study: Vec<usize>,
    pub(crate) constants: Vec<StudyDifference>,
}

pub(crate) fn differences(
    baseline: &Outline,
    study: &Outline,
    matched: Option<&MatchedConditions>,
) -> Vec<StudyDifference> {
    // Settings that somebody chose come before properties that were found.
    let mut differences: Vec<StudyDifference> = matched.map_or_else(Vec::new, |one| one.constants.clone());
    differences.extend(boot_kind_difference(&baseline.plan, &study.plan));
    differences.extend(of_environments(baseline, study));
    differences.extend(matched.iter().flat_map(|one| of_read_back(baseline, study, &one.pairs)));
    differences
}

fn may_differ(path: &str) -> bool {
    // The machine and the duration are no part of the subject; the way of counting copies is.
    let is_of_guest = path.starts_with("boot.guest.") && path != "boot.guest.copies";
    is_of_guest || ["workload.duration", "workload.ramp"].contains(&path)
}

impl MatchedConditions {
    /// Matches the conditions of two plans.
    ///
    /// # Errors
    /// [`Error::NotComparable`] if they have none in common.
    pub(crate) fn between(baseline: &Outline, study: &Outline) -> Result<Self, Error> {
        let settings =
            |of: &Outline| -> Vec<ConditionSettings> { of.plan.conditions.iter().map(settings_of).collect() };
        let [one, other] = [baseline, study].map(settings);
        let paths: BTreeSet<&String> = one.iter().chain(&other).flat_map(ConditionSettings::keys).collect();
        let mut constants = Vec::new();
        let mut ignored: BTreeSet<&str> = BTreeSet::new();
        let mut unlike = Vec::new();
        for path in paths {
            let [before, after] = [&one, &other].map(|all| values(all, path));
            // Where it varies inside a study, it is a factor there.
            let may_differ = may_differ(path) && before.len() == 1 && after.len() == 1;
            if may_differ {
                ignored.insert(path);
            }
            if before.is_disjoint(&after) {
                let list = |values: BTreeSet<Option<&str>>| {
                    values.into_iter().flatten().map(str::to_owned).collect()
                };
                let difference =
                    StudyDifference { what: setting_name(path), baseline: list(before), study: list(after) };
                if may_differ { constants.push(difference) } else { unlike.push((path.as_str(), difference)) }
            }
        }
        let key = |settings: &ConditionSettings| {
            let mut key = settings.clone();
            key.retain(|path, _| !ignored.contains(path.as_str()));
            key
        };
        let mut left: BTreeMap<ConditionSettings, usize> = BTreeMap::new();
        for (index, settings) in one.iter().enumerate() {
            left.entry(key(settings)).or_insert(index);
        }
        let (mut pairs, mut only_study) = (Vec::new(), Vec::new());
        for (index, settings) in other.iter().enumerate() {
            match left.remove(&key(settings)) {
                Some(same) => pairs.push((same, index)),
                None => only_study.push(index),
            }
        }
        if pairs.is_empty() {
            let why = why_none(&unlike, baseline, study);
            return Err(Error::not_comparable(baseline, study, why));
        }
        let only_baseline =
            (0..one.len()).filter(|index| pairs.iter().all(|(same, _)| same != index)).collect();
        Ok(Self { pairs, only_baseline, only_study, constants })
    }
}

fn why_none(unlike: &[(&str, StudyDifference)], baseline: &Outline, study: &Outline) -> String {
    // Another kind of traffic is the reason for most other differences.
    let is_kind = |(path, _): &&(&str, StudyDifference)| *path == "workload.kind";
    let Some((_, one)) = unlike.iter().find(is_kind).or(unlike.first()) else {
        return "they have no condition in common: no combination of levels of one is in the other"
            .to_owned();
    };
    let value = |values: &[String]| if values.is_empty() { "not set".to_owned() } else { values.join(", ") };
    format!(
        "they have no condition in common: {} is {} in study {} and {} in study {}",
        one.what,
        value(&one.baseline),
        baseline.row.id,
        value(&one.study),
        study.row.id
    )
}

/// Equal for conditions of two plans that set the same.
pub(crate) fn settings_of(condition: &Condition) -> ConditionSettings {
    let mut unnamed = condition.clone();
    // The names of conditions and their order tell nothing of their settings.
    unnamed.index = 0;
    (unnamed.label, unnamed.slug, unnamed.levels) = Default::default();
    unnamed.workload.name.clear();
    let mut settings = leaves(&unnamed);
    settings.insert("guest".to_owned(), condition.boot.guest.is_some().to_string());
    settings.extend(condition.twin().map(|twin| ("twin".to_owned(), twin.to_owned())));
    settings
}

/// The values to which conditions set a path; `None` for conditions that leave it.
fn values<'a>(all: &'a [ConditionSettings], path: &str) -> BTreeSet<Option<&'a str>> {
    all.iter().map(|settings| settings.get(path).map(String::as_str)).collect()
}

fn setting_name(path: &str) -> String {
    let short = path.strip_prefix("workload.").or_else(|| path.strip_prefix("boot.")).unwrap_or(path);
    short.replace('.', " ")
}

//! Conditions as bars beside each other: a sheet for each scenario and MTU, a group for each
//! setting of the rest, a bar for each workload.

use results::{distinct, grouped};
use stats::ConditionEstimate;
use study::{Name, NameWord};

use super::view::{MeasuredWorkload, StudyView};
use super::words::of_mean;
use crate::chart::{Bar, Bars, Interval, Panel, Quantity};

// Factors that split bars into sheets, in the order of their words in a title, with what stands
// before a level.
const SHEETS: [(&str, &str); 2] = [("scenario", ""), ("mtu", "MTU ")];

/// Bars on one axis.
pub(super) struct BarSheet {
    /// The levels that only this sheet's conditions share: `vxlan, MTU 1500`; empty for the only
    /// sheet.
    pub(super) title: String,
    /// From top to bottom: the group, the name of the workload, empty where the study has one, and
    /// the condition.
    bars: Vec<(String, String, usize)>,
}

/// The levels that a condition's sheet and its group stand for.
type ConditionLevels = Vec<(String, String)>;

impl BarSheet {
    /// The conditions of these workloads.
    pub(super) fn for_workloads(view: &StudyView<'_>, workloads: &[MeasuredWorkload<'_>]) -> Vec<Self> {
        let indices: Vec<usize> = workloads.iter().flat_map(|one| one.conditions.iter().copied()).collect();
        let varies = |(factor, _): &(&str, &str)| {
            let levels = indices.iter().flat_map(|index| levels_of(view, *index));
            distinct(levels.filter(|(name, _)| name == factor)).len() > 1
        };
        let splits: Vec<(&str, &str)> = SHEETS.into_iter().filter(varies).collect();
        let key = |index: &usize| -> ConditionLevels {
            let own = levels_of(view, *index).into_iter();
            own.filter(|(name, _)| splits.iter().any(|(one, _)| one == name)).collect()
        };
        let title = |key: &ConditionLevels| {
            let word = |(factor, before): &(&str, &str)| {
                key.iter().find(|(name, _)| name == factor).map(|(_, level)| format!("{before}{level}"))
            };
            splits.iter().filter_map(word).collect::<Vec<_>>().join(", ")
        };
        let sheets = grouped(indices.iter().map(|index| (key(index), *index)));
        let sheet = |(key, members): &(ConditionLevels, Vec<usize>)| Self {
            title: title(key),
            bars: bars(view, key, members),
        };
        sheets.iter().map(sheet).collect()
    }

    pub(super) fn conditions(&self) -> impl Iterator<Item = usize> {
        self.bars.iter().map(|(_, _, condition)| *condition)
    }

    /// The name of a bar in a sentence.
    pub(super) fn name(&self, condition: usize) -> String {
        let own = self.bars.iter().find(|(_, _, of)| *of == condition);
        let words = own.into_iter().flat_map(|(group, name, _)| [name.as_str(), group]);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The bars of the conditions that have estimates, each with these parts.
    pub(super) fn plot(
        &self,
        quantity: &Quantity,
        level: f64,
        estimates: &[ConditionEstimate],
        parts: &[&str],
        part: impl Fn(usize, usize) -> f64,
    ) -> Bars {
        let bar = |(group, name, condition): &(String, String, usize)| {
            let one = estimates.iter().find(|one| one.condition == *condition)?;
            let parts = (0..parts.len()).map(|place| part(*condition, place)).collect();
            let whole = Interval::new(one.mean, one.interval);
            Some(Bar { group: group.clone(), name: name.clone(), whole, parts })
        };
        Bars {
            quantity: quantity.clone(),
            interval: of_mean(level),
            parts: parts.iter().map(|name| (*name).to_owned()).collect(),
            bars: self.bars.iter().filter_map(bar).collect(),
        }
    }
}

/// The bars with their titles as panels on one scale.
pub(super) fn on_one_scale(bars: Vec<(String, Bars)>) -> Vec<Panel> {
    let reach: Vec<f64> = bars.iter().flat_map(|(_, bars)| bars.values()).collect();
    let panel = |(title, mut bars): (String, Bars)| {
        bars.quantity.reach.clone_from(&reach);
        Panel::new(title, bars)
    };
    bars.into_iter().map(panel).collect()
}

fn levels_of(view: &StudyView<'_>, condition: usize) -> ConditionLevels {
    view.stored.plan.conditions.get(condition).map_or_else(Vec::new, |one| one.levels.clone())
}

fn bars(view: &StudyView<'_>, sheet: &ConditionLevels, members: &[usize]) -> Vec<(String, String, usize)> {
    let several = members.iter().any(|one| workload(view, *one) != workload(view, members[0]));
    let key = |index: &usize| -> ConditionLevels {
        let own = levels_of(view, *index).into_iter();
        own.filter(|level| level.0 != "workload" && !sheet.contains(level)).collect()
    };
    let groups = grouped(members.iter().map(|index| (key(index), *index)));
    let names: Vec<Name> = groups.iter().map(|(_, members)| name(view, sheet, members[0])).collect();
    let mut bars = Vec::new();
    for ((_, members), group) in groups.into_iter().zip(crate::document::distinct_names(&names)) {
        for index in members {
            let name = if several { workload(view, index) } else { "" };
            bars.push((group.clone(), name.to_owned(), index));
        }
    }
    bars
}

fn workload<'a>(view: &StudyView<'a>, condition: usize) -> &'a str {
    view.condition(condition).map_or("", |one| one.workload.as_str())
}

/// A condition's name without its workload and what its sheet says.
fn name(view: &StudyView<'_>, sheet: &ConditionLevels, condition: usize) -> Name {
    let workload = workload(view, condition);
    let is_told = |word: &NameWord| match &word.factor {
        None => word.level == workload || sheet.iter().any(|(_, level)| *level == word.level),
        Some(factor) => sheet.iter().any(|(name, level)| name == factor && *level == word.level),
    };
    let words = view.condition(condition).map_or(&[][..], |one| one.label.words());
    words.iter().filter(|word| !is_told(word)).cloned().collect::<Vec<_>>().into()
}

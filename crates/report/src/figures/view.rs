//! A study as its figures need it: by workload, with short names of conditions.

use crate::chart::{Figure, Panel};
use results::{ConditionResult, Results, grouped};
use stats::ConditionEstimate;
use study::metric::Metric;
use study::{Kind, Name};

use super::Ids;
use super::words::paragraph;

/// A figure shows at most this many conditions of a workload: the most telling ones.
pub(super) const MOST: usize = 12;
// The number of the lowest and of the highest conditions that are telling without a design.
const ENDS: usize = 4;

pub(super) struct StudyView<'a> {
    pub(super) results: &'a Results,
    /// `study 3 (quick)`; empty for the only study of the page.
    name: String,
    pub(super) workloads: Vec<MeasuredWorkload<'a>>,
}

pub(super) struct MeasuredWorkload<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    pub(super) conditions: Vec<usize>,
    /// The conditions that a reader wants to see first; all, where they are few.
    pub(super) telling: Vec<usize>,
}

impl<'a> StudyView<'a> {
    pub(super) fn from_studies(studies: &'a [Results]) -> Vec<Self> {
        let view = |results: &'a Results| {
            let name = match studies.len() {
                1 => String::new(),
                _ => format!("study {} ({})", results.study, results.name),
            };
            let measured = results.conditions.iter().enumerate().filter(|(_, one)| one.runs > 0);
            let measured = grouped(measured.map(|(index, one)| ((one.workload.as_str(), one.kind), index)));
            let workload = |((name, kind), conditions): ((&'a str, Kind), Vec<usize>)| MeasuredWorkload {
                telling: telling(results, name, kind, &conditions),
                name,
                kind,
                conditions,
            };
            Self { results, name, workloads: measured.into_iter().map(workload).collect() }
        };
        studies.iter().map(view).collect()
    }

    /// The words of a title or of a name, after those of the study if the page has several.
    pub(super) fn titled(&self, words: &str) -> String {
        if self.name.is_empty() { words.to_owned() } else { format!("{}: {words}", self.name) }
    }

    /// A figure of these panels, with the sentences of its description; `None` without a panel.
    pub(super) fn figure(
        &self,
        ids: &mut Ids,
        (id, title): (&str, &str),
        seen: impl IntoIterator<Item = String>,
        panels: Vec<Panel>,
    ) -> Option<Figure> {
        (!panels.is_empty()).then(|| Figure {
            id: ids.unique(&self.titled(id)),
            title: self.titled(title),
            description: paragraph(seen),
            panels,
        })
    }

    pub(super) fn condition(&self, index: usize) -> Option<&'a ConditionResult> {
        self.results.conditions.get(index)
    }

    pub(super) fn mean(&self, condition: usize, metric: Metric) -> Option<f64> {
        self.condition(condition)?.mean(metric)
    }

    pub(super) fn names(&self, conditions: &[usize]) -> Vec<String> {
        let name = |index: &usize| self.condition(*index).map_or_else(Name::default, |one| one.label.clone());
        crate::document::distinct_names(&conditions.iter().map(name).collect::<Vec<_>>())
    }

    pub(super) fn primary(&self, kind: Kind) -> Metric {
        kind.main_metric(self.results.stored.plan.exact)
    }
}

/// The means of these conditions, in their order; those without a finite value are left out.
pub(super) fn estimates(results: &Results, metric: Metric, conditions: &[usize]) -> Vec<ConditionEstimate> {
    let own = conditions.iter().filter_map(|index| results.conditions.get(*index)?.estimates.get(&metric));
    own.copied().filter(|one| one.mean.is_finite()).collect()
}

/// The conditions that a reader wants to see first, where there are very many.
fn telling(results: &Results, workload: &str, kind: Kind, conditions: &[usize]) -> Vec<usize> {
    if conditions.len() <= MOST {
        return conditions.to_vec();
    }
    let plan = &results.stored.plan;
    // Of a design from all on to all off, one more at a time, for every combination of the others:
    // each step shows what one switch adds.
    let rung = |index: &usize| {
        let on = plan.conditions.get(*index)?.designed(plan.design.as_ref()?);
        on.is_sorted().then(|| (on.iter().filter(|on| !**on).count(), *index))
    };
    let mut rungs: Vec<(usize, usize)> = conditions.iter().filter_map(rung).collect();
    rungs.sort_unstable();
    if rungs.len() > 1 {
        return rungs.into_iter().map(|(_, index)| index).collect();
    }
    // Else the baselines, and both ends of the main metric.
    let mut by_size = estimates(results, kind.main_metric(plan.exact), conditions);
    by_size.sort_by(|one, other| one.mean.total_cmp(&other.mean));
    let ends = by_size.iter().take(ENDS).chain(by_size.iter().rev().take(ENDS));
    let groups = results.comparisons.iter().filter(|group| group.workload == workload);
    let baselines = groups.flat_map(|group| &group.rows).map(|row| row.comparison.baseline);
    let telling: Vec<usize> = ends.map(|one| one.condition).chain(baselines).collect();
    conditions.iter().filter(|one| telling.contains(one)).take(MOST).copied().collect()
}

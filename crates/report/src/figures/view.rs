//! A study as its figures need it: by workload, with short names of conditions.

use crate::chart::{Figure, Panel};
use results::{ComparisonGroup, ConditionResult, Results, grouped};
use stats::ConditionEstimate;
use store::{StoredSeries, StoredStudy};
use study::metric::Metric;
use study::{Kind, Name};

use super::Ids;
use super::words::paragraph;
use crate::page::ReportedStudy;

/// Figures of more conditions than this are folded; one of the most telling conditions is shown.
pub(super) const MOST: usize = 12;
// The number of the lowest and of the highest conditions that are telling without a design.
const ENDS: usize = 4;

pub(super) struct StudyView<'a> {
    pub(super) results: &'a Results,
    pub(super) stored: &'a StoredStudy,
    pub(super) series: &'a [StoredSeries],
    /// `study 3 (quick)`; empty for the only study of the page.
    pub(super) name: String,
}

/// The measured conditions of a workload.
#[derive(Clone)]
pub(super) struct MeasuredWorkload<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    pub(super) conditions: Vec<usize>,
}

impl<'a> StudyView<'a> {
    pub(super) fn from_studies(studies: &'a [ReportedStudy]) -> Vec<Self> {
        let view = |study: &'a ReportedStudy| {
            let stored = &study.results.stored;
            let several = studies.len() > 1;
            let name = if several {
                format!("study {} ({})", stored.row.id, stored.row.name)
            } else {
                String::new()
            };
            Self { results: &study.results, stored, series: &study.series, name }
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

    /// The workloads that were measured, in the order of the plan.
    pub(super) fn workloads(&self) -> Vec<MeasuredWorkload<'a>> {
        let measured = self.results.conditions.iter().enumerate().filter(|(_, one)| one.runs > 0);
        let measured = grouped(measured.map(|(index, one)| ((one.workload.as_str(), one.kind), index)));
        let workload = |((name, kind), conditions)| MeasuredWorkload { name, kind, conditions };
        measured.into_iter().map(workload).collect()
    }

    pub(super) fn condition(&self, index: usize) -> Option<&'a ConditionResult> {
        self.results.conditions.get(index)
    }

    /// The mean of a metric in a condition, over its boots.
    pub(super) fn mean(&self, condition: usize, metric: Metric) -> Option<f64> {
        self.condition(condition)?.means.get(metric)
    }

    /// Names that tell these conditions from each other.
    pub(super) fn names(&self, conditions: &[usize]) -> Vec<String> {
        let name = |index: &usize| self.condition(*index).map_or_else(Name::default, |one| one.label.clone());
        crate::document::distinct_names(&conditions.iter().map(name).collect::<Vec<_>>())
    }

    /// The metric by which a workload is judged first.
    pub(super) fn primary(&self, kind: Kind) -> Metric {
        kind.main_metric(self.stored.plan.exact)
    }

    /// The means of these conditions, in their order, with the confidence of the intervals; those
    /// without a finite value are left out.
    pub(super) fn estimates(
        &self,
        workload: &str,
        metric: Metric,
        conditions: &[usize],
    ) -> (f64, Vec<ConditionEstimate>) {
        let (level, found) = self.results.estimates(workload, metric);
        let of = |condition: &usize| found.iter().find(|one| one.condition == *condition).copied();
        (level, conditions.iter().filter_map(of).filter(|one| one.mean.is_finite()).collect())
    }

    /// The comparisons of a workload in a metric.
    pub(super) fn groups(&self, workload: &str, metric: Metric) -> impl Iterator<Item = &'a ComparisonGroup> {
        let all = self.results.comparisons.iter();
        all.filter(move |group| group.workload == workload && group.metric.known() == Some(metric))
    }

    /// The estimates of all conditions of these workloads, as [`Self::estimates`] has them.
    pub(super) fn all_estimates(
        &self,
        workloads: &[MeasuredWorkload<'_>],
        metric: Metric,
    ) -> (f64, Vec<ConditionEstimate>) {
        let mut all = (self.results.confidence, Vec::new());
        for workload in workloads {
            let (level, own) = self.estimates(workload.name, metric, &workload.conditions);
            all.0 = level;
            all.1.extend(own);
        }
        all
    }

    /// A workload with the conditions that a reader wants to see first, and whether these are fewer
    /// than all.
    pub(super) fn chosen(&self, workload: &MeasuredWorkload<'a>) -> (MeasuredWorkload<'a>, bool) {
        let conditions = self.telling(workload).unwrap_or_else(|| workload.conditions.clone());
        let is_choice = conditions.len() < workload.conditions.len();
        (MeasuredWorkload { conditions, ..workload.clone() }, is_choice)
    }

    /// The workloads with the conditions that a reader wants to see first, and whether these are
    /// fewer than all.
    pub(super) fn chosen_workloads(&self) -> (Vec<MeasuredWorkload<'a>>, bool) {
        let (chosen, choice): (Vec<_>, Vec<_>) = self.workloads().iter().map(|one| self.chosen(one)).unzip();
        (chosen, choice.contains(&true))
    }

    /// The conditions that a reader wants to see first, where there are very many: of a design all
    /// on, then one more off at a time; else the baselines, and those at both ends of the main
    /// metric. `None` where all can be seen.
    pub(super) fn telling(&self, workload: &MeasuredWorkload<'_>) -> Option<Vec<usize>> {
        if workload.conditions.len() <= MOST {
            return None;
        }
        let rungs = self.rungs(workload);
        if rungs.len() > 1 {
            return Some(rungs);
        }
        let (_, mut by_size) =
            self.estimates(workload.name, self.primary(workload.kind), &workload.conditions);
        by_size.sort_by(|one, other| one.mean.total_cmp(&other.mean));
        let is_end = |place: usize| place < ENDS || place + ENDS >= by_size.len();
        let ends: Vec<usize> =
            (0..by_size.len()).filter(|place| is_end(*place)).map(|place| by_size[place].condition).collect();
        let groups = self.results.comparisons.iter().filter(|group| group.workload == workload.name);
        let baselines: Vec<usize> =
            groups.flat_map(|group| &group.rows).map(|row| row.comparison.baseline).collect();
        let is_telling = |condition: &&usize| ends.contains(condition) || baselines.contains(condition);
        Some(workload.conditions.iter().filter(is_telling).take(MOST).copied().collect())
    }

    /// The conditions of a design from all on to all off, one more off at each step, for every
    /// combination of the other factors.
    fn rungs(&self, workload: &MeasuredWorkload<'_>) -> Vec<usize> {
        let Some(design) = &self.stored.plan.design else { return Vec::new() };
        let rung = |index: &usize| {
            let on = self.stored.plan.conditions.get(*index)?.designed(design);
            on.is_sorted().then(|| (on.iter().filter(|on| !**on).count(), *index))
        };
        let mut rungs: Vec<(usize, usize)> = workload.conditions.iter().filter_map(rung).collect();
        rungs.sort_unstable();
        rungs.into_iter().map(|(_, index)| index).collect()
    }
}

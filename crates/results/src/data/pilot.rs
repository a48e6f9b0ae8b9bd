//! The spread that a stored study predicts for another one.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use stats::{Component, Components, Observation, Question};
use store::{StoredRun, StoredStudy, StudyRow, StudyStatus};
use study::{Condition, Plan, Study, metric::Metric};

use crate::data::error::Error;
use crate::data::target::{ComparisonTarget, own_targets};
use crate::words::number::{counted, instant, spaced_duration};
use crate::words::phrases::listed;

// The upper end of a 60 % interval is a limit with 80 % confidence.
const LEVEL: f64 = 2.0 * PilotSpread::ASSURANCE - 1.0;

/// Standard deviations in % of the mean, and their source.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PilotSpread {
    /// The spread of a boot's effects on one condition alone, or with several states on all.
    pub interaction: f64,
    /// Its upper limit, with 80 % confidence; `None` if it is not estimated.
    pub interaction_at_most: Option<f64>,
    /// Between runs of a condition in a boot. With `in_turns`, of the effects of a flow on one
    /// condition alone. `None` where each boot has one: `interaction` includes it.
    pub runs: Option<f64>,
    /// Whether all take turns in one flow, so that its effect on all of them is in no spread.
    pub in_turns: bool,
    /// The number of boots of the estimate; `None` if the figures are stated.
    pub boots: Option<u32>,
    /// Their source.
    pub source: String,
    /// The nearness of the stored study to the planned one; `None` if the figures are stated.
    pub near: Option<Nearness>,
}

/// The nearness of a stored study to a planned one: the greater, the better its spread serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Nearness {
    is_own: bool,
    is_complete: bool,
    has_same_windows: bool,
}

impl Nearness {
    /// The relation of a stored study to `study`, in a metric.
    ///
    /// # Errors
    /// As [`crate::Sizing::new`].
    pub fn between(
        row: &StudyRow,
        stored: &Plan,
        study: &Study,
        metric: Option<Metric>,
    ) -> Result<Self, Error> {
        let plan = study.plan();
        let planned = &plan.conditions[target(study, metric)?.baseline];
        let mut alike = stored.conditions.iter().filter(|one| is_alike(one, planned));
        Ok(Self {
            is_own: row.name == study.name,
            is_complete: row.status == StudyStatus::Complete,
            has_same_windows: alike
                .next()
                .is_some_and(|one| one.workload.duration == planned.workload.duration),
        })
    }

    /// The reason why its spread is not the planned study's, without a full stop.
    pub fn remark(self) -> Option<String> {
        let remarks = [
            (self.is_own, "another study"),
            (self.is_complete, "a study that did not complete"),
            (self.has_same_windows, "windows of another length"),
        ];
        let remarks: Vec<&str> =
            remarks.into_iter().filter_map(|(is_so, remark)| (!is_so).then_some(remark)).collect();
        (!remarks.is_empty()).then(|| {
            format!(
                "the spread is that of {}: a complete pilot of the study itself, with its windows, tells more",
                listed(&remarks)
            )
        })
    }
}

fn is_alike(one: &Condition, other: &Condition) -> bool {
    let what = |condition: &Condition| (condition.workload.traffic.kind, condition.boot.scenario);
    what(one) == what(other)
}

impl PilotSpread {
    /// The confidence of the upper limit of the spread.
    pub const ASSURANCE: f64 = 0.8;

    /// The spread of a stored study, if it measured the same traffic, metric and scenario over two
    /// boots or more, in turns if `study` does.
    ///
    /// # Errors
    /// As [`crate::Sizing::new`], and [`Error::Stats`].
    pub fn from_pilot(
        stored: &StoredStudy,
        study: &Study,
        metric: Option<Metric>,
    ) -> Result<Option<PilotSpread>, Error> {
        let target = target(study, metric)?;
        let plan = study.plan();
        let near = Nearness::between(&stored.row, &stored.plan, study, metric)?;
        let planned = &plan.conditions[target.baseline];
        let alike = |condition: usize| {
            stored.plan.conditions.get(condition).is_some_and(|one| is_alike(one, planned))
        };
        // All that is compared takes turns in one flow: the spread is that inside flows.
        let flows = plan.flows();
        let flow = flows.containing(target.baseline);
        if target.conditions.iter().all(|condition| flow.contains(condition)) {
            let own = (0..stored.plan.conditions.len()).filter(|condition| alike(*condition));
            let flows = stored.plan.flows();
            if let Some(flow) = own.map(|one| flows.containing(one)).find(|flow| flow.len() > 1) {
                return Ok(Self::of_flows(stored, near, flow, target.metric));
            }
        }
        // Where it measured in turns and in runs of their own: as the study to be planned does.
        let takes_turns = study.protocol.alternate.is_some();
        let is_so = |run: &&StoredRun| {
            !stored.plan.asked.protocol.apart || run.detail.turns().is_some() == takes_turns
        };
        let own = stored.measurements().filter(is_so).filter(|run| alike(run.condition));
        let observation = |run: &StoredRun| {
            let value = run.metrics.get(target.metric)?;
            Some(Observation { condition: run.condition, boot: run.boot, value })
        };
        let observations: Vec<Observation> = own.filter_map(observation).collect();
        let Some(baseline) = observations.first().map(|run| run.condition) else { return Ok(None) };
        let question = Question { level: LEVEL, ..Question::against(baseline) };
        let analysis = stats::analyse(&observations, &question)?;
        let mean = stats::mean(&analysis.conditions.iter().map(|one| one.mean).collect::<Vec<_>>());
        // Differences between states of the testbed are also between boots.
        let is_apart = states_of(&plan, &target) > 1;
        let components = analysis.components;
        let components = Components { boots: components.boots.filter(|_| is_apart), ..components };
        Ok(Self::from(stored, near, (baseline, mean), components, false))
    }

    fn of_flows(stored: &StoredStudy, near: Nearness, together: &[usize], metric: Metric) -> Option<Self> {
        let mut flows: BTreeMap<(u32, u32), BTreeMap<usize, f64>> = BTreeMap::new();
        for run in stored.measurements().filter(|run| together.contains(&run.condition)) {
            if let (Some(_), Some(value)) = (run.detail.turns(), run.metrics.get(metric)) {
                flows.entry((run.boot, run.block)).or_default().insert(run.condition, value);
            }
        }
        // The effects inside a flow are known only where it has all conditions.
        let whole = flows.into_iter().filter(|(_, values)| values.len() == together.len());
        let flows: Vec<(u32, Vec<f64>)> =
            whole.map(|((boot, _), values)| (boot, values.into_values().collect())).collect();
        let mean = stats::mean(&flows.iter().map(|(_, values)| stats::mean(values)).collect::<Vec<_>>());
        let components = Components::of_flows(&flows, 1.0 - LEVEL)?;
        Self::from(stored, near, (together[0], mean), components, true)
    }

    /// In % of a mean, of `baseline` and those beside it; `None` if how boots differ is unknown.
    fn from(
        stored: &StoredStudy,
        near: Nearness,
        (baseline, mean): (usize, f64),
        components: Components,
        in_turns: bool,
    ) -> Option<PilotSpread> {
        let Components { boots, interaction: Some(interaction), runs } = components else { return None };
        let with_boots = |of: fn(&Component) -> Option<f64>| {
            Some(of(&interaction)?.hypot(boots.as_ref().map_or(Some(0.0), of)?))
        };
        let cell = with_boots(|component| Some(component.sd))?;
        let cell_at_most = with_boots(|component| Some(component.interval?.1));
        let share = |value: f64| 100.0 * value / mean.abs();
        let window = stored.plan.conditions.get(baseline)?.workload.duration;
        let source = format!(
            "study {} ({}, {}, {}, windows of {}{})",
            stored.row.id.0,
            stored.row.name,
            instant(stored.row.started_unix_ms),
            counted(stored.row.boots as usize, "boot"),
            spaced_duration(window),
            if in_turns { ", in turns" } else { "" }
        );
        (mean != 0.0).then(|| PilotSpread {
            interaction: share(cell),
            interaction_at_most: cell_at_most.map(share),
            runs: runs.map(|runs| share(runs.sd)),
            in_turns,
            boots: Some(stored.row.boots),
            source,
            near: Some(near),
        })
    }
}

pub(crate) fn target(study: &Study, metric: Option<Metric>) -> Result<ComparisonTarget, Error> {
    let plan = study.plan();
    let nothing = || Error::NothingToSize { study: study.name.clone() };
    let mut target = own_targets(&plan).into_iter().next().ok_or_else(nothing)?;
    if let Some(metric) = metric {
        target.metric = metric;
    }
    let kind = plan.conditions[target.baseline].workload.traffic.kind;
    if kind.produces(target.metric) { Ok(target) } else { Err(nothing()) }
}

pub(crate) fn states_of(plan: &Plan, target: &ComparisonTarget) -> usize {
    let of_conditions = plan.states_of_conditions();
    let compared = target.conditions.iter().chain([&target.baseline]);
    let states: BTreeSet<usize> = compared.filter_map(|one| of_conditions.get(*one).copied()).collect();
    states.len()
}

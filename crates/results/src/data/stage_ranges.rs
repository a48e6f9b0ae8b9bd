//! Traces of the pairs of a fleet beside each other: the mean, the least and the most that each
//! stage costs over machines.

use record::PathTrace;
use serde::Serialize;
use stats::fleet::{JudgedEffect, PairEffect, over_pairs};
use store::StoredStudy;
use study::{Condition, KernelPath, Waiting};

use crate::data::aligned::{AlignedTraces, UnmatchedStage, is_usable};
use crate::data::error::Error;
use crate::data::matched_conditions::{ConditionSettings, settings_of};
use crate::data::means::mean_by_boot;
use crate::data::origin::TraceOrigin;
use crate::data::path_comparison::{UnclosedRuns, closes, unfollowed_runs};
use crate::data::stage_differences::unit;
use crate::words::lists::grouped;
use crate::words::number::counted;

/// The ranges of all stages, by path and condition.
#[derive(Debug, Serialize)]
pub struct StageRanges {
    /// `ns`, or `instructions`; for a packet.
    pub unit: &'static str,
    /// The ranges of each path and condition.
    pub groups: Vec<TracedPath>,
    /// The conditions with runs that are left out: no packet was followed, or the stages do not add
    /// up to the whole.
    pub left_out: Vec<LeftOutRuns>,
}

/// Runs of a condition that are left out.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct LeftOutRuns {
    /// The pair of machines.
    pub source: String,
    pub condition: String,
    pub path: KernelPath,
    pub reader: Waiting,
    /// Runs in which no packet was followed.
    pub lost: usize,
    #[serde(flatten)]
    pub open: Option<UnclosedRuns>,
}

impl LeftOutRuns {
    /// As clauses, with the ways out.
    pub fn clauses(&self) -> String {
        let lost = (self.lost > 0).then(|| unfollowed_runs(self.lost, self.path));
        let open = self.open.as_ref().map(UnclosedRuns::clause);
        lost.into_iter().chain(open).collect::<Vec<_>>().join("; ")
    }
}

/// Traces of the same path under the same condition.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct TracedPath {
    pub path: KernelPath,
    pub reader: Waiting,
    pub condition: String,
    pub traffic: String,
    /// The pairs of machines.
    pub sources: Vec<String>,
    pub origins: Vec<TraceOrigin>,
    pub stages: Vec<StageRange>,
    pub whole: StageRange,
    pub unmatched: Vec<UnmatchedStage>,
}

/// The cost of a stage over machines, of each pair the mean of its boots.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct StageRange {
    pub from: String,
    pub to: String,
    /// The mean over pairs, with its interval by pairs.
    pub mean: JudgedEffect,
    pub least: f64,
    /// The source that has the least cost.
    pub least_in: usize,
    pub most: f64,
    /// The source that has the largest cost.
    pub most_in: usize,
}

/// The traces of pairs, as they are read one after the other.
#[derive(Debug, Default)]
pub struct TraceSources {
    is_exact: bool,
    sources: Vec<TraceSource>,
    left_out: Vec<LeftOutRuns>,
}

#[derive(Debug)]
struct TraceSource {
    pair: String,
    origin: TraceOrigin,
    of: (KernelPath, Waiting),
    settings: ConditionSettings,
    label: String,
    traffic: String,
    boots: Vec<(u32, PathTrace)>,
}

impl TraceSources {
    /// Adds the traces of a pair's study; all studies count instructions, or all measure time.
    pub fn add(&mut self, pair: &str, stored: &StoredStudy) {
        let exact = stored.plan.exact;
        self.is_exact = exact;
        for mut source in stored.plan.conditions.iter().flat_map(|one| of_condition(pair, stored, one)) {
            let traces = || source.boots.iter().map(|(_, trace)| trace);
            let lost = traces().filter(|trace| trace.whole.is_none()).count();
            let open = UnclosedRuns::among(traces(), &stored.plan);
            source.boots.retain(|(_, trace)| closes(trace, exact));
            let (pair, condition, (path, reader)) = (pair.to_owned(), source.label.clone(), source.of);
            let is_whole = lost == 0 && open.is_none();
            let left_out = LeftOutRuns { source: pair, condition, path, reader, lost, open };
            self.left_out.extend(Some(left_out).filter(|_| !is_whole));
            self.sources.extend(Some(source).filter(|source| !source.boots.is_empty()));
        }
    }

    /// The ranges over pairs; `None` if nothing was traced.
    ///
    /// # Errors
    /// [`Error::Stats`] for costs that no statistics can take.
    pub fn ranges(self, confidence: f64) -> Result<Option<StageRanges>, Error> {
        let keyed = self.sources.into_iter().map(|one| ((one.of, one.settings.clone()), one));
        let groups = grouped(keyed).into_iter().map(|(_, own)| TracedPath::from_sources(own, confidence));
        let groups = groups.collect::<Result<Vec<_>, Error>>()?;
        let is_empty = groups.is_empty() && self.left_out.is_empty();
        let found = || StageRanges { unit: unit(self.is_exact), groups, left_out: self.left_out };
        Ok((!is_empty).then(found))
    }
}

fn of_condition(pair: &str, stored: &StoredStudy, condition: &Condition) -> Vec<TraceSource> {
    let traffic = &condition.workload.traffic;
    let message = counted(traffic.message as usize, "byte");
    let what = format!("{}, {message}, {}, {}", traffic.kind, condition.family, condition.boot.scenario);
    let runs = stored.measurements_of(condition.index);
    let traces = runs.flat_map(|run| {
        let usable = run.detail.traces().iter().filter(|trace| is_usable(trace));
        // The functions are no part of the ranges, and most of the bytes.
        let lean = |trace: &PathTrace| PathTrace { profile: None, ..trace.clone() };
        usable.map(move |trace| ((trace.path, trace.reader), (run.boot, lean(trace))))
    });
    let source = |(of, boots)| TraceSource {
        pair: pair.to_owned(),
        origin: TraceOrigin::new(stored, Some(condition.index)),
        of,
        settings: settings_of(condition),
        label: condition.label.to_string(),
        traffic: what.clone(),
        boots,
    };
    grouped(traces).into_iter().map(source).collect()
}

impl TracedPath {
    /// Puts sources of one path and one condition beside each other; at least one.
    fn from_sources(sources: Vec<TraceSource>, confidence: f64) -> Result<Self, Error> {
        let groups: Vec<Vec<&PathTrace>> =
            sources.iter().map(|source| source.boots.iter().map(|(_, trace)| trace).collect()).collect();
        let aligned = AlignedTraces::from_traces(&groups.concat());
        let range = |(from, to): (String, String), cost: &dyn Fn(&PathTrace) -> f64| {
            let costs = sources.iter().map(|source| {
                let boots = mean_by_boot(source.boots.iter().map(|(boot, trace)| (*boot, cost(trace))));
                PairEffect::of_shared_boots(&boots.into_values().collect::<Vec<_>>())
            });
            let costs: Vec<PairEffect> = costs.collect();
            let by_mean =
                |one: &usize, other: &usize| costs[*one].estimate.total_cmp(&costs[*other].estimate);
            let least_in = (0..costs.len()).min_by(by_mean).unwrap_or(0);
            let most_in = (0..costs.len()).max_by(by_mean).unwrap_or(0);
            let (least, most) = (costs[least_in].estimate, costs[most_in].estimate);
            let mean = over_pairs(&costs, confidence, None)?.mean;
            Ok::<_, Error>(StageRange { from, to, mean, least, least_in, most, most_in })
        };
        let stages = aligned.stages().into_iter().enumerate();
        let works = stages.filter(|(place, _)| !aligned.waits[*place]);
        let stages = works.map(|(place, ends)| range(ends, &|trace| aligned.costs(trace)[place]));
        let stages = stages.collect::<Result<Vec<_>, Error>>()?;
        let whole = range(("whole".to_owned(), String::new()), &|trace| trace.whole.unwrap_or_default())?;
        Ok(Self {
            path: sources[0].of.0,
            reader: sources[0].of.1,
            condition: sources[0].label.clone(),
            traffic: sources[0].traffic.clone(),
            unmatched: aligned.unmatched(&groups),
            stages,
            whole,
            sources: sources.iter().map(|source| source.pair.clone()).collect(),
            origins: sources.into_iter().map(|source| source.origin).collect(),
        })
    }
}

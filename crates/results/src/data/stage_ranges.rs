//! Traces of several databases beside each other: the least and the most that each stage costs,
//! over machines or kernels.

use record::PathTrace;
use serde::Serialize;
use store::StoredStudy;
use study::{Condition, KernelPath, Waiting};

use crate::data::aligned::{AlignedTraces, UnmatchedStage, is_usable};
use crate::data::error::Error;
use crate::data::origin::TraceOrigin;
use crate::data::path_comparison::{UnclosedRuns, closes};
use crate::data::stage_differences::unit;
use crate::words::lists::grouped;
use crate::words::number::counted;

/// The ranges of all stages, by path and traffic.
#[derive(Debug, Serialize)]
pub struct StageRanges {
    /// `ns`, or `instructions`; for a packet.
    pub unit: &'static str,
    /// The ranges of each path and traffic.
    pub groups: Vec<TracedPath>,
    /// The conditions with runs that are left out, because their stages do not add up to the whole.
    pub left_out: Vec<LeftOutRuns>,
}

/// Runs of a condition that are left out.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct LeftOutRuns {
    /// The condition of a study in a file.
    pub source: String,
    pub path: KernelPath,
    pub reader: Waiting,
    #[serde(flatten)]
    pub open: UnclosedRuns,
}

/// Traces of the same path with the same traffic.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct TracedPath {
    pub path: KernelPath,
    pub reader: Waiting,
    pub traffic: String,
    pub sources: Vec<String>,
    pub origins: Vec<TraceOrigin>,
    pub stages: Vec<StageRange>,
    pub whole: StageRange,
    pub unmatched: Vec<UnmatchedStage>,
}

/// The least and the largest cost of a stage, as means of boots.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct StageRange {
    pub from: String,
    pub to: String,
    pub least: f64,
    /// The source that has the least cost.
    pub least_in: usize,
    pub most: f64,
    /// The source that has the largest cost.
    pub most_in: usize,
}

struct TraceSource<'s> {
    name: String,
    origin: TraceOrigin,
    of: (KernelPath, Waiting),
    traffic: String,
    boots: Vec<(u32, &'s PathTrace)>,
}

impl StageRanges {
    /// Reads studies, each with the name of its file.
    ///
    /// # Errors
    /// [`Error::NotMerged`] if some count instructions and others measure time, or if there is no
    /// trace.
    pub fn new(studies: &[(String, StoredStudy)]) -> Result<Self, Error> {
        let exact = studies.first().is_some_and(|(_, stored)| stored.plan.exact);
        if let Some((name, _)) = studies.iter().find(|(_, stored)| stored.plan.exact != exact) {
            let [one, other] = [exact, !exact].map(unit);
            return Err(Error::NotMerged(format!(
                "{} has {one}, and {name} has {other}: merge those with each other that have the same",
                studies[0].0
            )));
        }
        let (mut sources, mut left_out): (Vec<TraceSource<'_>>, _) = (Vec::new(), Vec::new());
        for (file, stored) in studies {
            for condition in &stored.plan.conditions {
                for mut source in of_condition(file, stored, condition) {
                    let open = UnclosedRuns::among(source.boots.iter().map(|(_, trace)| *trace), exact);
                    source.boots.retain(|(_, trace)| closes(trace, exact));
                    let (name, (path, reader)) = (source.name.clone(), source.of);
                    left_out.extend(open.map(|open| LeftOutRuns { source: name, path, reader, open }));
                    sources.extend(Some(source).filter(|source| !source.boots.is_empty()));
                }
            }
        }
        let groups = grouped(sources.into_iter().map(|one| ((one.of, one.traffic.clone()), one)));
        let groups: Vec<_> = groups.into_iter().map(|(_, own)| TracedPath::from_sources(own)).collect();
        if groups.is_empty() {
            let why = match left_out.first() {
                Some(left) => format!(
                    "of all traces the stages do not add up, as of {}: {}",
                    left.source,
                    left.open.clause()
                ),
                None => "no run in them was traced: `netassay trace STUDY` makes such runs".to_owned(),
            };
            return Err(Error::NotMerged(why));
        }
        Ok(Self { unit: unit(exact), groups, left_out })
    }
}

fn of_condition<'s>(file: &str, stored: &'s StoredStudy, condition: &Condition) -> Vec<TraceSource<'s>> {
    let traffic = &condition.workload.traffic;
    let what = format!(
        "{}, {}, {}, {}",
        traffic.kind,
        counted(traffic.message as usize, "byte"),
        condition.family,
        condition.boot.scenario
    );
    let runs = stored.measurements_of(condition.index);
    let traces = runs.flat_map(|run| {
        let usable = run.detail.traces().iter().filter(|trace| is_usable(trace) && trace.whole.is_some());
        usable.map(move |trace| ((trace.path, trace.reader), (run.boot, trace)))
    });
    let source = |(of, boots)| TraceSource {
        name: format!("{file}: {}", condition.label),
        origin: TraceOrigin::new(stored, Some(condition.index)),
        of,
        traffic: what.clone(),
        boots,
    };
    grouped(traces).into_iter().map(source).collect()
}

fn mean_over_boots(values: impl Iterator<Item = (u32, f64)>) -> f64 {
    // Each boot has one vote, however many runs it has.
    stats::mean(&grouped(values).iter().map(|(_, values)| stats::mean(values)).collect::<Vec<_>>())
}

impl TracedPath {
    /// Merges sources of one path and one traffic; at least one.
    fn from_sources(sources: Vec<TraceSource<'_>>) -> Self {
        let groups: Vec<Vec<&PathTrace>> =
            sources.iter().map(|source| source.boots.iter().map(|(_, trace)| *trace).collect()).collect();
        let aligned = AlignedTraces::from_traces(&groups.concat());
        let range = |(from, to): (String, String), cost: &dyn Fn(&PathTrace) -> f64| {
            let means: Vec<f64> = sources
                .iter()
                .map(|source| mean_over_boots(source.boots.iter().map(|(boot, trace)| (*boot, cost(trace)))))
                .collect();
            let by_mean = |one: &usize, other: &usize| means[*one].total_cmp(&means[*other]);
            let least_in = (0..means.len()).min_by(by_mean).unwrap_or(0);
            let most_in = (0..means.len()).max_by(by_mean).unwrap_or(0);
            StageRange { from, to, least: means[least_in], least_in, most: means[most_in], most_in }
        };
        let stages = aligned.stages().into_iter().enumerate();
        let works = stages.filter(|(place, _)| !aligned.waits[*place]);
        let stages = works.map(|(place, ends)| range(ends, &|trace| aligned.costs(trace)[place])).collect();
        let whole = range(("whole".to_owned(), String::new()), &|trace| trace.whole.unwrap_or_default());
        Self {
            path: sources[0].of.0,
            reader: sources[0].of.1,
            traffic: sources[0].traffic.clone(),
            unmatched: aligned.unmatched(&groups),
            stages,
            whole,
            sources: sources.iter().map(|source| source.name.clone()).collect(),
            origins: sources.into_iter().map(|source| source.origin).collect(),
        }
    }
}

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
use crate::render::stages::unit;
use crate::words::layout::Layout;
use crate::words::number::{beyond_rounding, counted, figure};
use crate::words::phrases::{listed, stages_by_end};
use crate::words::table::Table;

/// The ranges of all stages, by path and traffic.
#[derive(Debug, Serialize)]
pub struct StageRanges {
    /// `ns`, or `instructions`; for a packet.
    unit: &'static str,
    groups: Vec<TracedPath>,
    /// The conditions with runs that are left out, because their stages do not add up to the whole.
    left_out: Vec<LeftOutRuns>,
}

/// Runs of a condition that are left out.
#[derive(Debug, Serialize)]
struct LeftOutRuns {
    /// The condition of a study in a file.
    source: String,
    path: KernelPath,
    reader: Waiting,
    #[serde(flatten)]
    open: UnclosedRuns,
}

/// Traces of the same path with the same traffic.
#[derive(Debug, Serialize)]
struct TracedPath {
    path: KernelPath,
    reader: Waiting,
    traffic: String,
    /// The sources of the traces: a condition of a study in a file.
    sources: Vec<String>,
    /// The kernel and the version of each source.
    origins: Vec<TraceOrigin>,
    stages: Vec<StageRange>,
    whole: StageRange,
    unmatched: Vec<UnmatchedStage>,
}

/// The least and the largest cost of a stage, as means of boots.
#[derive(Debug, Serialize)]
struct StageRange {
    from: String,
    to: String,
    least: f64,
    /// The source that has the least cost.
    least_in: usize,
    most: f64,
    most_in: usize,
}

/// A condition with its traces of one path, by boot.
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
                    left_out.extend(source.leave_out_open(exact));
                    sources.extend(Some(source).filter(|source| !source.boots.is_empty()));
                }
            }
        }
        let mut groups = Vec::new();
        while let Some(first) = sources.first() {
            let key = (first.of, first.traffic.clone());
            let (own, others) = sources
                .into_iter()
                .partition(|one: &TraceSource<'_>| (one.of, &one.traffic) == (key.0, &key.1));
            sources = others;
            groups.push(TracedPath::from_sources(own));
        }
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

    /// As a page.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = String::new();
        for group in &self.groups {
            if !text.is_empty() {
                text.push('\n');
            }
            let TracedPath { path, reader, traffic, .. } = group;
            let head = format!("{path}, readers {reader}: {traffic}; {} for a packet\n", self.unit);
            text.push_str(&layout.hang(&head, 2));
            text.push_str(&group.table().fit(layout));
            for sentence in group.sentences() {
                text.push_str(&layout.hang(&format!("{sentence}\n"), 2));
            }
        }
        for LeftOutRuns { source, path, reader, open } in &self.left_out {
            let left =
                format!("not in the tables: {path}, readers {reader}, of {source}: {}\n", open.clause());
            text.push_str(&layout.hang(&left, 2));
        }
        text
    }
}

impl TraceSource<'_> {
    /// Leaves out the runs whose stages do not add up to their whole.
    fn leave_out_open(&mut self, exact: bool) -> Option<LeftOutRuns> {
        let open = UnclosedRuns::among(self.boots.iter().map(|(_, trace)| *trace), exact)?;
        self.boots.retain(|(_, trace)| closes(trace, exact));
        Some(LeftOutRuns { source: self.name.clone(), path: self.of.0, reader: self.of.1, open })
    }
}

/// The traces of a condition, by path and readers.
fn of_condition<'s>(file: &str, stored: &'s StoredStudy, condition: &Condition) -> Vec<TraceSource<'s>> {
    let traffic = &condition.workload.traffic;
    let what = format!(
        "{}, {}, {}, {}",
        traffic.kind,
        counted(traffic.message as usize, "byte"),
        condition.family,
        condition.boot.scenario
    );
    let mut sources: Vec<TraceSource<'s>> = Vec::new();
    for run in stored.measurements().filter(|run| run.condition == condition.index) {
        for trace in run.detail.traces().iter().filter(|trace| is_usable(trace) && trace.whole.is_some()) {
            let of = (trace.path, trace.reader);
            match sources.iter_mut().find(|source| source.of == of) {
                Some(source) => source.boots.push((run.boot, trace)),
                None => sources.push(TraceSource {
                    name: format!("{file}: {}", condition.label),
                    origin: TraceOrigin::for_condition(stored, condition.index),
                    of,
                    traffic: what.clone(),
                    boots: vec![(run.boot, trace)],
                }),
            }
        }
    }
    sources
}

/// The mean over boots, each with one vote.
fn of_boots(values: impl Iterator<Item = (u32, f64)>) -> f64 {
    let mut boots: Vec<(u32, Vec<f64>)> = Vec::new();
    for (boot, value) in values {
        match boots.iter_mut().find(|(known, _)| *known == boot) {
            Some((_, own)) => own.push(value),
            None => boots.push((boot, vec![value])),
        }
    }
    stats::mean(&boots.iter().map(|(_, values)| stats::mean(values)).collect::<Vec<_>>())
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
                .map(|source| of_boots(source.boots.iter().map(|(boot, trace)| (*boot, cost(trace)))))
                .collect();
            let mut order: Vec<usize> = (0..means.len()).collect();
            order.sort_by(|one, other| means[*one].total_cmp(&means[*other]));
            let (least_in, most_in) =
                (order.first().copied().unwrap_or(0), order.last().copied().unwrap_or(0));
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

    fn table(&self) -> Table {
        let mut table = Table::new(&["up to", "least", "least in", "most", "most in"]).uncut(&[0, 1, 3]);
        let stages = stages_by_end(self.stages.iter().map(|range| (range.from.as_str(), range.to.as_str())));
        let names = stages.iter().chain([&self.whole.from]);
        for (name, range) in names.zip(self.stages.iter().chain([&self.whole])) {
            let [one, other] = [range.least_in, range.most_in].map(|source| (source + 1).to_string());
            let [least, most] =
                [range.least, range.most].map(|cost| figure(beyond_rounding(cost, self.whole.most)));
            table.row(&[name, &least, &one, &most, &other]);
        }
        table
    }

    fn sentences(&self) -> Vec<String> {
        let numbered = (1..).zip(&self.sources);
        let mut said: Vec<String> = numbered.map(|(number, source)| format!("{number}: {source}")).collect();
        let mut origins: Vec<(String, Vec<String>)> = Vec::new();
        for (number, origin) in (1..).zip(&self.origins) {
            let (origin, number) = (origin.to_string(), number.to_string());
            match origins.iter_mut().find(|(known, _)| *known == origin) {
                Some((_, numbers)) => numbers.push(number),
                None => origins.push((origin, vec![number])),
            }
        }
        said.extend(origins.into_iter().map(|(origin, numbers)| format!("{}: {origin}", listed(&numbers))));
        said.push(
            "least and most: means of boots, each with the number of the source that has it".to_owned(),
        );
        said.extend(self.unmatched.iter().map(|one| {
            let numbers: Vec<String> = (1..)
                .zip(&one.seen_at)
                .filter(|(_, seen)| !seen.is_empty())
                .map(|(number, seen)| {
                    let functions: Vec<&str> = seen.iter().map(String::as_str).collect();
                    format!("{number} (at {})", listed(&functions))
                })
                .collect();
            format!(
                "{} is not seen at one place in all, only in {}; {}",
                one.stage,
                listed(&numbers),
                one.cost()
            )
        }));
        said
    }
}

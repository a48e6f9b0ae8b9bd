//! The stages of traced paths under two conditions, which explain the difference of the whole.

use record::PathTrace;
use serde::Serialize;
use stats::StatsError;
use stats::parts::{Divided, Explained, explain, explain_counts};
use store::StoredStudy;
use study::{Closure, Condition, KernelPath, Plan, Waiting};
use words::MOST_ROUNDS;

use crate::data::aligned::{AlignedTraces, UnmatchedStage, is_usable};
use crate::data::error::Error;
use crate::data::exact::RESOLUTION;
use crate::data::target::own_targets;
use crate::words::lists::distinct;
use crate::words::number::counted;

/// A path under two conditions, and the stages in which they are compared.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of the other fields say it")]
pub struct PathPair {
    pub path: KernelPath,
    pub reader: Waiting,
    /// Boots of the one with fewer, or that both have in common.
    pub boots: usize,
    pub baseline: String,
    pub condition: String,
    /// Traced runs of the one with fewer.
    pub runs: usize,
    /// From which stage to which, in the order of the path; those in which packets wait left out.
    pub stages: Vec<(String, String)>,
    /// The stages that are not seen at the same place under both.
    pub unmatched: Vec<UnmatchedStage>,
    /// The least and the most that the stages of a judged run add up to, as a share of its whole.
    pub closure: (f64, f64),
    /// Runs left out because their stages do not add up; if none is left, no stage is judged.
    pub open: Option<UnclosedRuns>,
    /// Runs whose packets were not followed.
    pub lost: usize,
    /// The differences of the stages, in their order, of the whole, and of what the stages leave.
    #[serde(flatten)]
    pub explained: Explained,
}

/// Traced runs whose stages do not add up to their whole.
#[derive(Debug, Serialize)]
pub struct UnclosedRuns {
    /// The number of such runs.
    pub runs: usize,
    /// The least and the most that they add up to, as a share of the whole.
    pub closure: (f64, f64),
    /// The largest distance from the whole that they may have.
    pub bound: f64,
    #[serde(skip)]
    exact: bool,
    /// The rounds of their traces.
    #[serde(skip)]
    rounds: u32,
}

impl UnclosedRuns {
    pub(crate) fn among<'t>(traces: impl Iterator<Item = &'t PathTrace>, plan: &Plan) -> Option<Self> {
        let exact = plan.exact;
        let open = traces.filter(|trace| !closes(trace, exact));
        let open: Vec<f64> = open.filter_map(PathTrace::closure).map(Closure::share).collect();
        (!open.is_empty()).then(|| Self {
            runs: open.len(),
            closure: ends(open.iter().copied()),
            bound: Closure::bound(exact),
            exact,
            rounds: plan.tracing.as_ref().map_or(0, |tracing| tracing.rounds),
        })
    }

    /// As a clause, with the way out.
    pub fn clause(&self) -> String {
        let mut ends = vec![Closure::percent(self.closure.0), Closure::percent(self.closure.1)];
        ends.dedup();
        let more = self.rounds.saturating_mul(4).clamp(20, MOST_ROUNDS);
        let remedy = match self.rounds < MOST_ROUNDS {
            true => format!("more rounds know the cost of probes better (`--set trace.rounds={more}`)"),
            false => format!("{MOST_ROUNDS} rounds, the most, do not tell the cost of probes well enough"),
        };
        let way_out = if self.exact { "" } else { ", and exact mode counts instructions, which repeat" };
        format!(
            "{} whose stages do not add up to the whole within {} % ({} % of it): {remedy}{way_out}",
            counted(self.runs, "run"),
            100.0 * self.bound,
            ends.join(" to "),
        )
    }
}

/// Runs in which no packet was followed, as a clause with the cause and the way to find out more.
pub fn unfollowed_runs(runs: usize, path: KernelPath) -> String {
    format!(
        "{} in which no packet passed the places of {path} once and in order: a queueing discipline may hold packets back, or send one as several; `netassay trace {path}` on these machines counts what became of them",
        counted(runs, "run")
    )
}

pub(crate) fn closes(trace: &PathTrace, exact: bool) -> bool {
    trace.closure().is_some_and(|closure| closure.holds(exact))
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), one| (least.min(one), most.max(one)))
}

fn runs(
    stored: &StoredStudy,
    condition: usize,
    of: (KernelPath, Waiting),
) -> impl Iterator<Item = (u32, &PathTrace)> {
    stored.measurements_of(condition).filter_map(move |run| {
        let trace = run.detail.traces().iter().find(|trace| (trace.path, trace.reader) == of)?;
        is_usable(trace).then_some((run.boot, trace))
    })
}

/// The paths and readers, each once, in the order in which they were traced.
fn traced(stored: &StoredStudy) -> Vec<(KernelPath, Waiting)> {
    let traces = stored.measurements().flat_map(|run| run.detail.traces());
    distinct(traces.map(|trace| (trace.path, trace.reader)))
}

const HOW_TO_TRACE: &str =
    "`[trace]` in a study asks for them (`netassay study list`: path-checksum, path-offload, path-kernel)";

/// The conditions in whose runs no packet was followed, as clauses.
pub(crate) fn unfollowed(stored: &StoredStudy) -> Vec<String> {
    let conditions = stored.plan.conditions.iter();
    let kinds = traced(stored);
    let all = conditions.flat_map(|one| kinds.iter().map(move |of| (one, *of)));
    let clause = |(condition, of): (&Condition, (KernelPath, Waiting))| {
        let count = runs(stored, condition.index, of).count();
        let is_followed = runs(stored, condition.index, of).any(|(_, trace)| trace.whole.is_some());
        let ((path, reader), label) = (of, &condition.label);
        let why = || format!("{path}, readers {reader}, {label}: {}", unfollowed_runs(count, path));
        (count > 0 && !is_followed).then(why)
    };
    all.filter_map(clause).collect()
}

/// Judges the stages of traced paths.
///
/// # Errors
/// [`Error::NothingTraced`]; [`Error::Stats`] for data that the statistics refuse.
pub(crate) fn pairs(stored: &StoredStudy, confidence: f64) -> Result<Vec<PathPair>, Error> {
    let judge = |divided: &[Vec<Divided>]| match stored.plan.exact {
        true => explain_counts(divided, RESOLUTION, confidence),
        false => explain(divided, confidence),
    };
    let pairs = explained(stored, &traced(stored), |conditions, of| ready(stored, conditions, of), judge)?;
    if pairs.is_empty() {
        let why = unfollowed(stored).into_iter().next().unwrap_or_else(|| HOW_TO_TRACE.to_owned());
        return Err(Error::NothingTraced { study: stored.row.id.0, name: stored.row.name.clone(), why });
    }
    Ok(pairs)
}

pub(crate) fn compared(stored: &StoredStudy) -> Vec<(usize, Vec<usize>)> {
    // Each set once: the study may compare the same conditions in several metrics.
    distinct(own_targets(&stored.plan).into_iter().map(|target| (target.baseline, target.conditions)))
}

/// `ready` gives the parts of a pair and makes its result; pairs without a value are left out.
///
/// # Errors
/// [`Error::Stats`] for data that the statistics refuse.
pub(crate) fn explained<K: Copy, P, R: FnOnce(Explained) -> P>(
    stored: &StoredStudy,
    kinds: &[K],
    ready: impl Fn([usize; 2], K) -> Option<(Vec<Divided>, R)>,
    judge: impl Fn(&[Vec<Divided>]) -> Result<Vec<Explained>, StatsError>,
) -> Result<Vec<P>, Error> {
    let mut pairs = Vec::new();
    for (baseline, conditions) in compared(stored) {
        for kind in kinds {
            // All conditions with one baseline are judged together.
            let ready = |condition: &usize| ready([baseline, *condition], *kind);
            let (divided, results): (Vec<_>, Vec<_>) = conditions.iter().filter_map(ready).unzip();
            pairs.extend(judge(&divided)?.into_iter().zip(results).map(|(found, result)| result(found)));
        }
    }
    Ok(pairs)
}

/// The runs of the baseline (`false`), then those of the condition.
pub(crate) fn by_side<R>([before, after]: &[Vec<R>; 2]) -> impl Iterator<Item = (bool, &R)> {
    before.iter().map(|run| (false, run)).chain(after.iter().map(|run| (true, run)))
}

fn ready(
    stored: &StoredStudy,
    conditions: [usize; 2],
    of: (KernelPath, Waiting),
) -> Option<(Vec<Divided>, impl FnOnce(Explained) -> PathPair)> {
    let all = conditions.map(|one| runs(stored, one, of).collect::<Vec<_>>());
    let is_followed = |(_, trace): &&(u32, &PathTrace)| trace.whole.is_some();
    let followed = all.each_ref().map(|runs| runs.iter().filter(is_followed).copied().collect::<Vec<_>>());
    if followed.iter().any(Vec::is_empty) {
        return None;
    }
    let lost = all.iter().map(Vec::len).sum::<usize>() - followed.iter().map(Vec::len).sum::<usize>();
    let open = UnclosedRuns::among(followed.iter().flatten().map(|(_, trace)| *trace), &stored.plan);
    let closed = followed.each_ref().map(|runs| {
        let closed = runs.iter().filter(|(_, trace)| closes(trace, stored.plan.exact));
        closed.copied().collect::<Vec<_>>()
    });
    // Without stages to judge there still is the whole, which is measured by itself.
    let has_stages = !closed.iter().any(Vec::is_empty);
    let followed = if has_stages { closed } else { followed };
    let groups =
        followed.each_ref().map(|runs| runs.iter().map(|(_, trace)| *trace).collect::<Vec<&PathTrace>>());
    let mut aligned = AlignedTraces::from_traces(&groups.concat());
    // Only counts repeat: times of stages differ from run to run anyhow.
    if stored.plan.exact && has_stages {
        let wholes: Vec<f64> = groups[0].iter().filter_map(|trace| trace.whole).collect();
        aligned.join(&groups, RESOLUTION / 100.0 * stats::mean(&wholes));
    }
    let places = (0..aligned.waits.len()).filter(|place| has_stages && !aligned.waits[*place]);
    let places: Vec<usize> = places.collect();
    let divided = |(of_condition, (boot, trace)): (bool, &(u32, &PathTrace))| {
        let costs = aligned.costs(trace);
        let parts = places.iter().map(|place| costs[*place]).collect();
        Divided {
            of_condition,
            boot: *boot,
            whole: trace.whole.unwrap_or_default(),
            parts,
            by_count: Vec::new(),
        }
    };
    let divided: Vec<Divided> = by_side(&followed).map(divided).collect();
    let closures = groups.iter().flatten().filter_map(|trace| trace.closure());
    let closure = ends(closures.map(Closure::share));
    let runs = followed.iter().map(Vec::len).min().unwrap_or(0);
    let stages = aligned.stages();
    let stages = places.iter().map(|place| stages[*place].clone()).collect();
    let unmatched = if has_stages { aligned.unmatched(&groups) } else { Vec::new() };
    let [baseline, condition] = conditions.map(|one| stored.label(one));
    let (path, reader) = of;
    let pair = move |explained: Explained| PathPair {
        path,
        reader,
        boots: explained.whole.boots,
        baseline,
        condition,
        runs,
        stages,
        unmatched,
        closure,
        open,
        lost,
        explained,
    };
    Some((divided, pair))
}

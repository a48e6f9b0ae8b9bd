//! The stages of traced paths under two conditions: what explains the difference of the whole.

use record::PathTrace;
use serde::Serialize;
use stats::parts::{Divided, Explained, explain};
use store::StoredStudy;
use study::{KernelPath, Waiting};

use crate::data::aligned::{Aligned, Unmatched, is_usable};
use crate::data::error::Error;
use crate::data::target::own_targets;

/// A path under two conditions.
#[derive(Debug, Serialize)]
pub(crate) struct PathPair {
    pub(crate) path: KernelPath,
    pub(crate) reader: Waiting,
    /// Boots of the one with fewer, or that both have in common.
    pub(crate) boots: usize,
    #[serde(flatten)]
    pub(crate) rest: Compared,
    /// The differences of the stages, in their order, of the whole, and of what the stages leave.
    #[serde(flatten)]
    pub(crate) explained: Explained,
}

/// Two conditions, and the stages of a path in which they are compared.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    /// The condition compared with.
    pub(crate) baseline: String,
    /// The other one.
    pub(crate) condition: String,
    /// Traced runs of the one with fewer.
    pub(crate) runs: usize,
    /// From which stage to which, in the order of the path; those in which packets wait left out.
    pub(crate) stages: Vec<(String, String)>,
    /// The stages that are not seen at the same place under both.
    pub(crate) unmatched: Vec<Unmatched>,
    /// The least and the most that the stages of a run add up to, as a share of its whole.
    pub(crate) closure: (f64, f64),
    /// Runs whose packets were not followed.
    pub(crate) lost: usize,
}

/// A path and its readers, each once, in the order in which they were traced.
fn traced(stored: &StoredStudy) -> Vec<(KernelPath, Waiting)> {
    let mut traced: Vec<(KernelPath, Waiting)> = Vec::new();
    for trace in stored.measurements().flat_map(|run| run.detail.traces()) {
        if !traced.contains(&(trace.path, trace.reader)) {
            traced.push((trace.path, trace.reader));
        }
    }
    traced
}

/// The runs of a condition with their trace of a path.
fn runs(
    stored: &StoredStudy,
    condition: usize,
    of: (KernelPath, Waiting),
) -> impl Iterator<Item = (u32, &PathTrace)> {
    stored.measurements().filter(move |run| run.condition == condition).filter_map(move |run| {
        let trace = run.detail.traces().iter().find(|trace| (trace.path, trace.reader) == of)?;
        is_usable(trace).then_some((run.boot, trace))
    })
}

/// The pairs that the study compares, each once, by path. The stages of one path, under all
/// conditions that are compared with one baseline, are judged together.
///
/// # Errors
/// [`Error::NothingTraced`]; what the statistics refuse.
pub(crate) fn pairs(stored: &StoredStudy, confidence: f64) -> Result<Vec<PathPair>, Error> {
    let mut done: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut pairs = Vec::new();
    for target in own_targets(&stored.plan) {
        let compared = (target.baseline, target.conditions);
        // The study may compare the same in another metric.
        if done.contains(&compared) {
            continue;
        }
        for of in traced(stored) {
            pairs.extend(together(stored, (compared.0, &compared.1), of, confidence)?);
        }
        done.push(compared);
    }
    if pairs.is_empty() {
        return Err(Error::NothingTraced { study: stored.row.id.0, name: stored.row.name.clone() });
    }
    Ok(pairs)
}

fn together(
    stored: &StoredStudy,
    (baseline, conditions): (usize, &[usize]),
    of: (KernelPath, Waiting),
    confidence: f64,
) -> Result<Vec<PathPair>, Error> {
    let ready: Vec<Ready> =
        conditions.iter().filter_map(|condition| ready(stored, [baseline, *condition], of)).collect();
    let (divided, rest): (Vec<_>, Vec<_>) = ready.into_iter().map(|one| (one.divided, one.rest)).unzip();
    let explained = explain(&divided, confidence)?;
    let pairs = explained.into_iter().zip(rest).map(|(explained, rest)| PathPair {
        path: of.0,
        reader: of.1,
        boots: explained.whole.boots,
        explained,
        rest,
    });
    Ok(pairs.collect())
}

/// The traces of two conditions, before they are judged.
struct Ready {
    divided: Vec<Divided>,
    rest: Compared,
}

/// `None` if one of the two has no trace.
fn ready(stored: &StoredStudy, conditions: [usize; 2], of: (KernelPath, Waiting)) -> Option<Ready> {
    let all = conditions.map(|one| runs(stored, one, of).collect::<Vec<_>>());
    let is_followed = |(_, trace): &&(u32, &PathTrace)| trace.whole.is_some();
    let followed = all.each_ref().map(|runs| runs.iter().filter(is_followed).copied().collect::<Vec<_>>());
    if followed.iter().any(Vec::is_empty) {
        return None;
    }
    let groups =
        followed.each_ref().map(|runs| runs.iter().map(|(_, trace)| *trace).collect::<Vec<&PathTrace>>());
    let aligned = Aligned::of(&groups.concat());
    let places: Vec<usize> = (0..aligned.waits.len()).filter(|place| !aligned.waits[*place]).collect();
    let divided = |of_condition: bool, (boot, trace): &(u32, &PathTrace)| {
        let costs = aligned.costs(trace);
        let parts = places.iter().map(|place| costs[*place]).collect();
        Divided { of_condition, boot: *boot, whole: trace.whole.unwrap_or_default(), parts }
    };
    let [before, after] = &followed;
    let divided: Vec<Divided> = before
        .iter()
        .map(|run| divided(false, run))
        .chain(after.iter().map(|run| divided(true, run)))
        .collect();
    let closures = divided.iter().filter(|run| run.whole > 0.0);
    let closures = closures.map(|run| run.parts.iter().sum::<f64>() / run.whole);
    let closure =
        closures.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), one| (least.min(one), most.max(one)));
    let stages = aligned.stages();
    let rest = Compared {
        baseline: stored.label(conditions[0]),
        condition: stored.label(conditions[1]),
        runs: followed.iter().map(Vec::len).min().unwrap_or(0),
        stages: places.iter().map(|place| stages[*place].clone()).collect(),
        unmatched: aligned.unmatched(&groups),
        closure,
        lost: all.iter().map(Vec::len).sum::<usize>() - followed.iter().map(Vec::len).sum::<usize>(),
    };
    Some(Ready { divided, rest })
}

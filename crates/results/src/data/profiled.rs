//! The functions that take the CPU under two conditions: which of them explain the difference of
//! what a message takes.

use std::collections::{BTreeMap, BTreeSet};

use record::Profile;
use serde::Serialize;
use stats::parts::{Divided, Explained, explain};
use store::StoredStudy;
use study::Waiting;

use crate::data::error::Error;
use crate::data::path_comparison::{by_side, compared, explained};
use crate::words::lists::distinct;

/// The samples of two conditions, and the functions in which they are compared.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of the other fields say it")]
pub struct ProfilePair {
    pub reader: Waiting,
    /// Boots of the one with fewer, or that both have in common.
    pub boots: usize,
    pub baseline: String,
    pub condition: String,
    /// Sampled runs of the one with fewer.
    pub runs: usize,
    /// All samples, of the one with fewer.
    pub samples: u64,
    /// Functions with at least [`ProfilePair::LEAST`] of all samples, ordered by name.
    pub functions: Vec<String>,
    pub smaller: usize,
    /// Whether only the machine that sends was sampled, not both ends.
    pub one_end: bool,
    /// The differences of the functions, in their order, and of all other functions together.
    #[serde(flatten)]
    pub explained: Explained,
}

impl ProfilePair {
    /// The least share of a function: a smaller one only makes the others harder to prove.
    pub const LEAST: f64 = 0.005;
}

/// The stacks of two conditions, each with its cost for a message as the mean of all runs.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Stacks {
    pub baseline: String,
    pub condition: String,
    pub reader: Waiting,
    /// The functions, the outermost first, with the cost under the baseline and the condition.
    pub costs: Vec<(Vec<String>, [f64; 2])>,
}

// Stands for the stacks that were not kept.
const OTHER: &str = "[other]";

/// Judges together the functions under all conditions with one baseline; empty if nothing was
/// sampled.
///
/// # Errors
/// [`Error::Stats`] for data that the statistics refuse.
pub(crate) fn profile_pairs(stored: &StoredStudy, confidence: f64) -> Result<Vec<ProfilePair>, Error> {
    let ready = |conditions, reader| ready(stored, conditions, reader);
    explained(stored, &readers(stored), ready, |divided| explain(divided, confidence))
}

pub(crate) fn stacks(stored: &StoredStudy) -> Vec<Stacks> {
    let mut found = Vec::new();
    for (baseline, conditions) in compared(stored) {
        for reader in readers(stored) {
            let with = |condition: &usize| sampled_stacks(stored, [baseline, *condition], reader);
            found.extend(conditions.iter().filter_map(with));
        }
    }
    found
}

fn readers(stored: &StoredStudy) -> Vec<Waiting> {
    let traces = stored.measurements().flat_map(|run| run.detail.traces());
    distinct(traces.filter(|trace| trace.profile.is_some()).map(|trace| trace.reader))
}

fn profiles(stored: &StoredStudy, condition: usize, reader: Waiting) -> Vec<(u32, &Profile)> {
    let runs = stored.measurements_of(condition);
    runs.flat_map(|run| {
        let traces = run.detail.traces().iter().filter(|trace| trace.reader == reader && trace.is_sound());
        traces.filter_map(|trace| trace.profile.as_ref()).map(move |profile| (run.boot, profile))
    })
    .collect()
}

fn ready(
    stored: &StoredStudy,
    conditions: [usize; 2],
    reader: Waiting,
) -> Option<(Vec<Divided>, impl FnOnce(Explained) -> ProfilePair)> {
    let all = conditions.map(|condition| profiles(stored, condition, reader));
    if all.iter().any(Vec::is_empty) {
        return None;
    }
    let runs: Vec<(bool, u32, &Profile, BTreeMap<String, f64>)> = by_side(&all)
        .map(|(of_condition, (boot, profile))| {
            let costs = profile.costs().into_iter().map(|cost| (cost.name, cost.cost));
            (of_condition, *boot, *profile, costs.collect())
        })
        .collect();
    // Small functions are one part together: each part more makes all others harder to prove.
    let whole: f64 = runs.iter().map(|(_, _, profile, _)| profile.message).sum();
    let met: BTreeSet<&String> = runs.iter().flat_map(|(.., costs)| costs.keys()).collect();
    let cost = |costs: &BTreeMap<String, f64>, name: &str| costs.get(name).copied().unwrap_or_default();
    let sum = |name: &str| runs.iter().map(|(.., costs)| cost(costs, name)).sum::<f64>();
    let large = met.iter().filter(|name| sum(name) >= ProfilePair::LEAST * whole);
    let functions: Vec<String> = large.map(|name| (*name).clone()).collect();
    let divided = runs.iter().map(|(of_condition, boot, profile, costs)| Divided {
        of_condition: *of_condition,
        boot: *boot,
        whole: profile.message,
        parts: functions.iter().map(|name| cost(costs, name)).collect(),
        // So many samples at so much each: their number varies by its root.
        by_count: functions.iter().map(|name| cost(costs, name) * profile.sample()).collect(),
    });
    let divided = divided.collect();
    let samples = |of: &Vec<(u32, &Profile)>| of.iter().map(|(_, profile)| profile.samples).sum::<u64>();
    let samples = all.iter().map(samples).min().unwrap_or(0);
    let runs = all.iter().map(Vec::len).min().unwrap_or(0);
    let smaller = met.len() - functions.len();
    let one_end = conditions.iter().any(|one| !stored.plan.conditions[*one].boot.scenario.is_of_namespaces());
    let [baseline, condition] = conditions.map(|one| stored.label(one));
    let pair = move |explained: Explained| ProfilePair {
        reader,
        boots: explained.whole.boots,
        baseline,
        condition,
        runs,
        samples,
        functions,
        smaller,
        one_end,
        explained,
    };
    Some((divided, pair))
}

fn sampled_stacks(stored: &StoredStudy, conditions: [usize; 2], reader: Waiting) -> Option<Stacks> {
    let mut costs = BTreeMap::<Vec<&str>, [f64; 2]>::new();
    let all = conditions.map(|condition| profiles(stored, condition, reader));
    if all.iter().any(Vec::is_empty) {
        return None;
    }
    for (side, profiles) in all.iter().enumerate() {
        // Each run counts alike, however many samples it has.
        let part = 1.0 / profiles.len() as f64;
        for (_, profile) in profiles {
            let other = (vec![OTHER], profile.other());
            for (frames, cost) in profile.folded().chain([other]) {
                costs.entry(frames).or_default()[side] += cost * part;
            }
        }
    }
    let costs = costs.into_iter().filter(|(_, costs)| costs.iter().any(|cost| *cost > 0.0));
    Some(Stacks {
        baseline: stored.label(conditions[0]),
        condition: stored.label(conditions[1]),
        reader,
        costs: costs
            .map(|(frames, costs)| (frames.into_iter().map(str::to_owned).collect(), costs))
            .collect(),
    })
}

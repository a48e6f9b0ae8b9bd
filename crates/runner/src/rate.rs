//! A run, or a search for the highest rate without loss: trials, whose paces `stats::search`
//! chooses.

use load::{Pacing, Traffic};
use record::{Disturbance, Limit, RateSearch, RateTrial, RunAccount, SideAccount};
use stats::search::{Search, SearchGoal, Trial, TrialLoad};
use testbed::RunOrder;

use crate::lab::BenchResult;
use crate::limit::limit;
use crate::loss::Loss;
use crate::validity::disturbances;

const CONFIDENCE: f64 = 0.95;
// As a share of the rate. Users are promised 1 %, of which the windows' edges use a part.
const WIDTH: f64 = 0.005;
/// The most trials of a search. On a path with a sharp edge it needs about 20.
pub const TRIALS: u32 = 100;
// Only so many trials that were disturbed or offered less than their pace are repeated.
const REPEATS: u32 = 10;
// The datagrams that a trial sends at least: fewer say little of a loss.
const LEAST: f64 = 100.0;
// In seconds of traffic: datagrams counted late at an edge, or a burst that a shaper had saved up.
const EDGES: f64 = 0.002;
const TRIES: usize = 3;

/// A run with its limit and its disturbances.
#[derive(Debug)]
pub struct JudgedRun {
    /// The account of the run; of a search that of the last trial at the found rate, if any, else
    /// of the last, with the search in it.
    pub account: RunAccount,
    /// The limit; of a search that of the trial with the highest received of the highest offered
    /// rates.
    pub limit: Limit,
    /// The disturbances; of a search those of the first trial that counts in spite of them.
    pub disturbed: Vec<Disturbance>,
}

/// Makes a single run.
type MakeRun<'r> = dyn FnMut(&RunOrder) -> BenchResult<RunAccount> + 'r;

/// Makes a run, which is a search where the traffic asks for one; `run` makes a single one.
///
/// # Errors
/// The first error of `run`; of a search as [`repeated`].
pub fn carry_out(order: &RunOrder, run: &mut MakeRun<'_>) -> BenchResult<JudgedRun> {
    if order.traffic.find_rate { find_rate(order, run) } else { Ok(judge_run(order, run(order)?)) }
}

/// Repeats a failed run on an intact testbed: a busy machine's agent may be late. `failures` gets
/// the reasons.
///
/// # Errors
/// An error after which the testbed must be built again, or the third in a row.
pub fn repeated<T>(failures: &mut Vec<String>, mut run: impl FnMut() -> BenchResult<T>) -> BenchResult<T> {
    for _ in 1..TRIES {
        match run() {
            Err(error) if error.testbed_is_well() => {
                failures.push(words::shortened_reason(&error.to_string()))
            }
            result => return result,
        }
    }
    run()
}

pub(crate) fn judge_run(order: &RunOrder, account: RunAccount) -> JudgedRun {
    JudgedRun { limit: limit(order, &account), disturbed: disturbances(&account, order), account }
}

// Too few datagrams received in the window show a queue that grows, which hides the loss until it
// is full.
fn find_rate(order: &RunOrder, run: &mut MakeRun<'_>) -> BenchResult<JudgedRun> {
    let bound = order.traffic.loss.map_or(0.0, |loss| loss.value() / 100.0);
    let window = order.window.as_secs_f64();
    let message = f64::from(order.traffic.message) * 8.0;
    let least = (LEAST * message / window).max(f64::from(order.traffic.lanes()));
    let mut search =
        Search::new(SearchGoal { confidence: CONFIDENCE, width: WIDTH, least, trials: TRIALS as usize });
    let mut made: Vec<(JudgedRun, RateTrial)> = Vec::new();
    let mut repeats = REPEATS;
    let (mut disturbed, mut failures) = (Vec::new(), Vec::new());
    while let Some(load) = search.next_load() {
        let order = RunOrder { traffic: with_load(&order.traffic, load), ..order.clone() };
        let judged = judge_run(&order, repeated(&mut failures, || run(&order))?);
        let mut trial = trial(load, &order, &judged.account, bound);
        trial.disturbed = repeats > 0 && (!judged.disturbed.is_empty() || fell_short(&trial));
        if trial.disturbed {
            repeats -= 1;
        } else {
            if disturbed.is_empty() {
                disturbed.clone_from(&judged.disturbed);
            }
            let RateTrial { offered, forwarded, exceeded, .. } = trial;
            let counted = (forwarded - offered * EDGES / window).max(0.0);
            let sustained = offered.min(counted / (1.0 - bound));
            search.record_trial(Trial { offered, forwarded, sustained, exceeded });
        }
        made.push((judged, trial));
    }
    let answer = search.answer();
    let end = made.len().saturating_sub(1);
    // A search's own pace would only name that pace. The trial with the highest received rate
    // waited least for other processes.
    let most = made.iter().filter(|(_, trial)| trial.asked.is_none()).max_by(|(_, one), (_, other)| {
        other.disturbed.cmp(&one.disturbed).then(one.forwarded.total_cmp(&other.forwarded))
    });
    let limit = most.unwrap_or(&made[end]).0.limit.clone();
    let found = answer.lower_at.and_then(|load| {
        let holds = |trial: &RateTrial| !trial.exceeded && !trial.disturbed && trial.asked == asked(load);
        made.iter().rposition(|(_, trial)| holds(trial))
    });
    let trials = made.iter().map(|(_, trial)| *trial).collect();
    let mut account = made.swap_remove(found.unwrap_or(end)).0.account;
    account.search = Some(RateSearch {
        bound,
        confidence: CONFIDENCE,
        lower: answer.lower,
        upper: answer.upper,
        complete: answer.complete,
        trials,
        failures,
    });
    Ok(JudgedRun { account, limit, disturbed })
}

/// Why a search has no rate; `None` if it has one, and of a run that is no search.
pub fn no_rate(account: &RunAccount) -> Option<String> {
    let search = account.search.as_ref().filter(|search| search.lower.is_none())?;
    let (trials, bound) = (search.trials.len(), search.bound * 100.0);
    Some(match search.upper {
        Some(upper) if search.complete => format!(
            "no rate keeps loss within {bound} %: {:.3} Mbit/s was shown to exceed it, by {trials} trials",
            upper / 1e6
        ),
        _ => format!("no rate was shown to keep loss within {bound} % by {trials} trials"),
    })
}

fn fell_short(trial: &RateTrial) -> bool {
    // The sender stalled, and then sent a burst: the trial says nothing of that load.
    trial.asked.is_some_and(|asked| trial.offered < asked * (1.0 - WIDTH))
}

fn with_load(traffic: &Traffic, load: TrialLoad) -> Traffic {
    let pacing = match load {
        TrialLoad::Most => traffic.pacing,
        // All flows together offer the load.
        TrialLoad::Of(bits) => Pacing::of_bits((bits / f64::from(traffic.lanes())).round().max(1.0) as u64),
    };
    Traffic { pacing, find_rate: false, loss: None, ..traffic.clone() }
}

fn asked(load: TrialLoad) -> Option<f64> {
    if let TrialLoad::Of(bits) = load { Some(bits) } else { None }
}

fn trial(load: TrialLoad, order: &RunOrder, account: &RunAccount, bound: f64) -> RateTrial {
    let sides = || account.sides().map(|(_, own)| own);
    let rate = |own: &SideAccount, bytes: u64| bytes as f64 * 8e9 / own.window.load.at_ns.max(1) as f64;
    let offered: f64 = sides()
        .map(|own| {
            let sent = own.window.load.sent;
            let refused = sent.no_buffers.saturating_mul(u64::from(order.traffic.message));
            rate(own, sent.bytes.saturating_add(refused))
        })
        .sum();
    let forwarded: f64 = sides().map(|own| rate(own, own.window.load.received.bytes)).sum();
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 1.0 };
    let loss = Loss::from_account(&order.traffic, account).unwrap_or_default();
    let loss = share(loss.lost() as f64, loss.offered as f64);
    let missing = share(offered - forwarded, offered);
    RateTrial {
        asked: asked(load),
        offered,
        forwarded,
        loss,
        exceeded: loss > bound || missing > bound + EDGES / order.window.as_secs_f64(),
        disturbed: false,
    }
}

#[cfg(test)]
mod tests;

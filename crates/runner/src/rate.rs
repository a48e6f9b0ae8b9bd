//! A run, or a search for the highest rate without loss: trials, whose paces `stats::search`
//! chooses.

use load::{Pacing, Traffic};
use record::{Disturbance, Limit, RateSearch, RateTrial, RunAccount, SideAccount};
use stats::search::{Goal, Load, Search, Trial};
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

/// Makes a run, which is a search where the traffic asks for one; `run` makes a single one.
///
/// # Errors
/// The first error of `run`; of a search as [`repeated`].
pub fn carry_out(
    order: &RunOrder,
    run: &mut dyn FnMut(&RunOrder) -> BenchResult<RunAccount>,
) -> BenchResult<JudgedRun> {
    if order.traffic.find_rate {
        return find_rate(order, run);
    }
    Ok(judge_run(order, run(order)?))
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
fn find_rate(
    order: &RunOrder,
    run: &mut dyn FnMut(&RunOrder) -> BenchResult<RunAccount>,
) -> BenchResult<JudgedRun> {
    let bound = order.traffic.loss.map_or(0.0, |loss| loss.value() / 100.0);
    let window = order.window.as_secs_f64();
    let message = f64::from(order.traffic.message) * 8.0;
    let least = (LEAST * message / window).max(f64::from(order.traffic.lanes()));
    let mut search =
        Search::new(Goal { confidence: CONFIDENCE, width: WIDTH, least, trials: TRIALS as usize });
    let mut made: Vec<Made> = Vec::new();
    let mut repeats = REPEATS;
    let (mut disturbed, mut failures) = (Vec::new(), Vec::new());
    while let Some(load) = search.next_load() {
        let order = RunOrder { traffic: with_load(&order.traffic, load), ..order.clone() };
        let account = repeated(&mut failures, || run(&order))?;
        let mut trial = trial(load, &order, &account, bound);
        let beside = disturbances(&account, &order);
        trial.disturbed = repeats > 0 && (!beside.is_empty() || fell_short(&trial));
        if trial.disturbed {
            repeats -= 1;
        } else {
            if disturbed.is_empty() {
                disturbed = beside;
            }
            let RateTrial { offered, forwarded, exceeded, .. } = trial;
            let counted = (forwarded - offered * EDGES / window).max(0.0);
            let sustained = offered.min(counted / (1.0 - bound));
            search.record_trial(Trial { offered, forwarded, sustained, exceeded });
        }
        made.push(Made { order, account, trial });
    }
    let answer = search.answer();
    let last = |holds: &dyn Fn(&RateTrial) -> bool| made.iter().rposition(|one| holds(&one.trial));
    let end = made.len().saturating_sub(1);
    // A search's own pace would only name that pace. The trial with the highest received rate
    // waited least for other processes.
    let most = made.iter().filter(|one| one.trial.asked.is_none()).max_by(|one, other| {
        let (one, other) = (&one.trial, &other.trial);
        other.disturbed.cmp(&one.disturbed).then(one.forwarded.total_cmp(&other.forwarded))
    });
    let most = most.unwrap_or(&made[end]);
    let limit = limit(&most.order, &most.account);
    let found = answer
        .lower_at
        .and_then(|load| last(&|trial| !trial.exceeded && !trial.disturbed && trial.asked == asked(load)));
    let trials = made.iter().map(|one| one.trial).collect();
    let mut account = made.swap_remove(found.unwrap_or(end)).account;
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

/// The sender stalled, and then sent a burst: the trial says nothing of that load.
fn fell_short(trial: &RateTrial) -> bool {
    trial.asked.is_some_and(|asked| trial.offered < asked * (1.0 - WIDTH))
}

struct Made {
    order: RunOrder,
    account: RunAccount,
    trial: RateTrial,
}

/// All flows together offer the load.
fn with_load(traffic: &Traffic, load: Load) -> Traffic {
    let pacing = match load {
        Load::Most => traffic.pacing,
        Load::Of(bits) => Pacing::of_bits((bits / f64::from(traffic.lanes())).round().max(1.0) as u64),
    };
    Traffic { pacing, find_rate: false, loss: None, ..traffic.clone() }
}

fn asked(load: Load) -> Option<f64> {
    match load {
        Load::Most => None,
        Load::Of(bits) => Some(bits),
    }
}

fn trial(load: Load, order: &RunOrder, account: &RunAccount, bound: f64) -> RateTrial {
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
mod tests {
    use std::time::Duration;

    use agent::CallError;
    use load::{Counts, Family, Kind};

    use super::*;

    const WINDOW: f64 = 0.5;
    // The rate that the paths let through, in bits/s.
    const THROUGH: f64 = 97.2e6;

    fn order(change: impl FnOnce(&mut Traffic)) -> RunOrder {
        let mut traffic = Traffic { find_rate: true, flows: 4, ..Traffic::new(Kind::UdpStream) };
        change(&mut traffic);
        let window = Duration::from_secs_f64(WINDOW);
        RunOrder { traffic, family: Family::Ipv4, ramp: Duration::ZERO, window, step: window }
    }

    /// Numbers from 0 to 1 (splitmix64: Steele, Lea, Flood, Fast splittable pseudorandom number
    /// generators, 2014).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// A path behind a sender that makes 500 Mbit/s.
    #[derive(Debug, Clone, Copy)]
    struct Path {
        /// The rate that it lets through, in bits/s.
        most: f64,
        /// The length of its queue, in s of that rate.
        queue: f64,
        /// The burst that it lets through at once, in s of that rate.
        saved: f64,
        /// The largest lateness of a reader, in s.
        late: f64,
    }

    impl Path {
        fn account(self, order: &RunOrder, random: &mut Random) -> RunAccount {
            let pace = order.traffic.pacing.map_or(f64::MAX, |pace| pace.bits() as f64);
            let offered = (pace * f64::from(order.traffic.flows)).min(500e6);
            let passed = |by: f64| (offered * by).min(self.most * (by + self.saved));
            let (opens, closes) = (order.ramp.as_secs_f64(), order.ramp.as_secs_f64() + WINDOW);
            let held = (offered * closes - passed(closes)).min(self.most * self.queue);
            let [first, last] = [opens, closes].map(|at| passed((at - self.late * random.next()).max(0.0)));
            let mut counted = |bits: f64| {
                let messages = (bits / 8.0 / f64::from(order.traffic.message) + random.next()) as u64;
                Counts { messages, bytes: messages * u64::from(order.traffic.message), ..Counts::default() }
            };
            let (sent, received) = (counted(offered * WINDOW), counted(last - first));
            let whole = counted(offered * closes);
            let lost = counted(offered * closes - passed(closes) - held);
            let mut account = record::sample::account();
            let receiver = account.receiver.as_mut().unwrap();
            for (side, window, whole) in [
                (&mut account.transmitter, [sent, Counts::default()], [whole, Counts::default()]),
                (receiver, [Counts::default(), received], [Counts::default(), whole.since(&lost)]),
            ] {
                [side.window.load.sent, side.window.load.received] = window;
                [side.whole.outcome.sent, side.whole.outcome.received] = whole;
            }
            account
        }

        fn search(self, order: &RunOrder, random: &mut Random) -> (RateSearch, RunAccount) {
            let mut run = |order: &RunOrder| Ok(self.account(order, random));
            let account = carry_out(order, &mut run).unwrap().account;
            (account.search.clone().unwrap(), account)
        }
    }

    fn through(order: &RunOrder, most: f64, queue: f64) -> RunAccount {
        Path { most, queue, saved: 0.0, late: 0.0 }.account(order, &mut Random(1))
    }

    fn find_on_path(order: &RunOrder, most: f64, queue: f64) -> (RateSearch, RunAccount) {
        Path { most, queue, saved: 0.0, late: 0.0 }.search(order, &mut Random(1))
    }

    fn bound(text: &str) -> RunOrder {
        order(|traffic| traffic.loss = study::Percent::parse(text).ok())
    }

    #[test]
    fn the_account_is_that_of_the_found_rate() {
        // Of the last nothing is lost in any trial.
        for queue in [0.0, 0.05, 10.0] {
            let (search, account) = find_on_path(&order(|_| ()), THROUGH, queue);
            let sent = account.transmitter.window.load.sent.bytes as f64 * 8.0 / WINDOW;
            let ratio = sent / search.lower.unwrap();
            assert!((1.0..1.0 + 3.0 * EDGES / WINDOW).contains(&ratio), "{ratio}");
        }
    }

    /// The rate that a path can sustain is found, not a rate that it can hide for the time of a
    /// trial: by a queue, a burst that a shaper had saved up, readers that are late at an edge.
    #[test]
    fn the_rate_that_lasts_is_in_the_interval() {
        let (mut random, mut searches, mut wrong) = (Random(42), 0, 0);
        for (loss, order) in
            [(0.0, order(|_| ())), (0.001, bound("0.1%")), (0.02, bound("2%")), (0.1, bound("10%"))]
        {
            let lasting = THROUGH / (1.0 - loss);
            for (ramp, queue) in
                [0.0, 0.5].into_iter().flat_map(|ramp| [0.0, 0.002, 0.05, 10.0].map(|q| (ramp, q)))
            {
                let order = RunOrder { ramp: Duration::from_secs_f64(ramp), ..order.clone() };
                for (saved, late) in
                    [(0.0, 0.0), (0.001, 0.0), (0.0, 0.0005), (0.001, 0.0005), (EDGES, EDGES), (0.0, 0.01)]
                {
                    for _ in 0..3 {
                        let path = Path { most: THROUGH, queue, saved, late };
                        let (search, _) = path.search(&order, &mut random);
                        let (lower, upper) = (search.lower, search.upper);
                        searches += 1;
                        wrong += usize::from(
                            lower.is_some_and(|lower| lower > lasting)
                                || upper.is_some_and(|upper| upper < lasting),
                        );
                        // Readers that are later than is forgiven make the interval wider.
                        let is_near = lower.is_some_and(|lower| lower > lasting * 0.985)
                            && upper.is_some_and(|upper| upper < lasting * 1.015);
                        assert!(is_near || late > EDGES, "{loss} {ramp} {path:?}: {lower:?} {upper:?}");
                    }
                }
            }
        }
        assert!(wrong * 20 <= searches, "{wrong} of {searches}");
    }

    #[test]
    fn an_agent_that_is_late_now_and_then_ends_no_search() {
        let late = || {
            let source =
                CallError::Silent { host: "receiver".to_owned(), patience: Duration::from_millis(10_700) };
            Err(testbed::Error::Late(source))
        };
        let mut made = 0;
        let mut run = |order: &RunOrder| {
            made += 1;
            if made % 7 < TRIES - 1 { late() } else { Ok(through(order, THROUGH, 0.0)) }
        };
        let search = carry_out(&order(|_| ()), &mut run).unwrap().account.search.unwrap();
        assert!(search.lower.is_some_and(|lower| lower <= THROUGH), "{search:?}");
        assert!(search.upper.is_some_and(|upper| upper > THROUGH), "{search:?}");
        let why = "the receiver's agent did not answer within 10.7 s, but answers again: the machine is busy";
        assert!(search.failures.len() > 4 && search.failures.iter().all(|one| one == why), "{search:?}");
        // A failure of every attempt is no lateness.
        assert_eq!(carry_out(&order(|_| ()), &mut |_| late()).unwrap_err().to_string(), why);
    }

    #[test]
    fn a_sender_that_stalls_now_and_then_moves_no_end() {
        let order = order(|_| ());
        let mut made = 0;
        let mut run = |order: &RunOrder| {
            made += 1;
            let Some(pace) = order.traffic.pacing.filter(|_| made % 3 == 0) else {
                return Ok(through(order, THROUGH, 0.0));
            };
            // It sends 2 % less than its pace, and 3 % of that in bursts that no queue holds.
            let slower = (pace.bits() as f64 * 0.98) as u64;
            let stalled = RunOrder {
                traffic: Traffic { pacing: Pacing::of_bits(slower), ..order.traffic.clone() },
                ..order.clone()
            };
            let offered = (slower as f64 * f64::from(order.traffic.flows)).min(THROUGH);
            Ok(through(&stalled, 0.97 * offered, 0.0))
        };
        let search = carry_out(&order, &mut run).unwrap().account.search.unwrap();
        let (lower, upper) = (search.lower.unwrap(), search.upper.unwrap());
        assert!((0.99 * THROUGH..=THROUGH).contains(&lower), "{lower}");
        assert!((THROUGH..1.01 * THROUGH).contains(&upper), "{upper}");
        let stalled = search.trials.iter().filter(|trial| fell_short(trial));
        assert!(stalled.clone().count() > 3 && stalled.clone().all(|trial| trial.disturbed), "{search:?}");
    }

    #[test]
    fn a_loss_that_is_allowed_raises_the_rate() {
        let (strict, _) = find_on_path(&order(|_| ()), THROUGH, 0.0);
        let (loose, _) = find_on_path(&bound("10%"), THROUGH, 0.0);
        let ratio = loose.lower.unwrap() / strict.lower.unwrap();
        assert!((1.10..1.12).contains(&ratio), "{ratio}");
        assert!(loose.trials.iter().all(|trial| trial.exceeded == (trial.loss > 0.1)));
    }

    #[test]
    fn pacing_is_the_most_that_is_tried() {
        let paced = order(|traffic| traffic.pacing = Pacing::of_bits(10_000_000));
        let (search, _) = find_on_path(&paced, THROUGH, 0.0);
        assert_eq!((search.upper, search.complete), (None, true));
        let share = search.lower.unwrap() / 40e6;
        assert!((1.0 - 1.5 * EDGES / WINDOW..=1.0).contains(&share), "{share}");
        assert!(search.trials.iter().all(|trial| trial.asked.is_none()));
    }

    #[test]
    fn a_trial_that_something_held_up_does_not_name_the_limit() {
        let paced = order(|traffic| {
            traffic.pacing = Pacing::of_bits(10_000_000);
            traffic.loss = study::Percent::parse("10%").ok();
        });
        for held_up in [0, 1] {
            let mut made = 0;
            let mut run = |order: &RunOrder| {
                made += 1;
                let most = if made % 2 == held_up { 37e6 } else { THROUGH };
                Ok(through(order, most, 1.0))
            };
            let JudgedRun { limit, account, .. } = carry_out(&paced, &mut run).unwrap();
            assert!(account.search.unwrap().trials.len() > 2);
            assert_eq!(limit.label, record::Label::Pacing, "{limit:?}");
        }
    }

    #[test]
    fn nothing_gets_through_a_path_that_drops_all() {
        let (search, _) = find_on_path(&order(|_| ()), 0.0, 0.0);
        assert_eq!((search.lower, search.complete), (None, true));
        // A hundred datagrams in half a second.
        assert!((search.upper.unwrap() / (100.0 * 8.0 * 1452.0 / WINDOW) - 1.0).abs() < 1e-9);
    }
}

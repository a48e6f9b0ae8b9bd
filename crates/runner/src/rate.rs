//! One run, which may be a search for the highest rate without loss: trials at one pace after
//! another. Which pace is next, and what was found, `stats::search` says.

use load::{Pacing, Traffic};
use record::{Disturbance, Limit, RateSearch, RateTrial, RunAccount, SideAccount};
use stats::search::{Goal, Load, Search, Trial};
use testbed::RunOrder;

use crate::limit::limit;
use crate::loss::Loss;
use crate::validity::disturbances;

const CONFIDENCE: f64 = 0.95;
/// How far apart the ends of the interval are where trials allow it. The contract with the reader
/// is 1 %; the edges of the windows take another part of that.
const WIDTH: f64 = 0.005;
/// The most trials of a search. On a path with a sharp edge it needs about 20.
pub const TRIALS: u32 = 100;
/// The most trials that are made again because something disturbed them, or because they did not
/// offer what they were to. Those beyond count.
const REPEATS: u32 = 10;
/// The datagrams that a trial sends at least: fewer say little of a loss.
const LEAST: f64 = 100.0;
/// How far, in s, the windows of the two ends may differ, and what is on the way at one edge from
/// that at the other: a part of the window that arrived is not missing. Each edge is met within
/// about a millisecond on a machine with time for it.
const EDGES: f64 = 0.002;

/// What a run came to, and what is to be said of it.
#[derive(Debug)]
pub struct Judged {
    /// The account; of a search that of the last trial at the found rate, with the search in it,
    /// and of the last trial at all where no rate was found.
    pub account: RunAccount,
    /// What limited it; of a search the trial that got most through of the most that can be
    /// offered.
    pub limit: Limit,
    /// What disturbed it; of a search the first trial that counts in spite of it.
    pub disturbed: Vec<Disturbance>,
}

/// Makes a run, which is a search where the traffic asks for one; `run` makes a single one.
///
/// # Errors
/// The first error of `run`.
pub fn carry_out<E>(
    order: &RunOrder,
    run: &mut dyn FnMut(&RunOrder) -> Result<RunAccount, E>,
) -> Result<Judged, E> {
    if order.traffic.find_rate {
        return find_rate(order, run);
    }
    Ok(judged(order, run(order)?))
}

/// What is to be said of a run that is no search.
pub(crate) fn judged(order: &RunOrder, account: RunAccount) -> Judged {
    Judged { limit: limit(order, &account), disturbed: disturbances(&account, order), account }
}

/// Searches for the highest pace that keeps loss within `order.traffic.loss`.
///
/// A trial exceeds the bound if the share of all its datagrams that was lost does, or that of the
/// window's that did not arrive in the window: a queue that grows hides a loss until it is full.
fn find_rate<E>(
    order: &RunOrder,
    run: &mut dyn FnMut(&RunOrder) -> Result<RunAccount, E>,
) -> Result<Judged, E> {
    let bound = order.traffic.loss.map_or(0.0, |loss| loss.value() / 100.0);
    let window = order.window.as_secs_f64();
    let message = f64::from(order.traffic.message) * 8.0;
    let least = (LEAST * message / window).max(f64::from(order.traffic.lanes()));
    let mut search =
        Search::new(Goal { confidence: CONFIDENCE, width: WIDTH, least, trials: TRIALS as usize });
    let mut made: Vec<Made> = Vec::new();
    let mut repeats = REPEATS;
    let mut disturbed = Vec::new();
    while let Some(load) = search.next_load() {
        let order = RunOrder { traffic: at(&order.traffic, load), ..order.clone() };
        let account = run(&order)?;
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
            search.tell(Trial { offered, forwarded, exceeded });
        }
        made.push(Made { order, account, trial });
    }
    let answer = search.answer();
    let last = |holds: &dyn Fn(&RateTrial) -> bool| made.iter().rposition(|one| holds(&one.trial));
    let end = made.len().saturating_sub(1);
    // At a pace of the search's own only that pace would be named. On a busy machine some trials
    // wait for other processes: the one that got most through did so least.
    let most = made.iter().filter(|one| one.trial.asked.is_none()).max_by(|one, other| {
        let (one, other) = (&one.trial, &other.trial);
        other.disturbed.cmp(&one.disturbed).then(one.forwarded.total_cmp(&other.forwarded))
    });
    let most = most.unwrap_or(&made[end]);
    let limit = limit(&most.order, &most.account);
    // Of the most that can be offered a mean is told, and nothing was asked for.
    let shown = |asked: Option<f64>| {
        move |trial: &RateTrial| !trial.exceeded && !trial.disturbed && trial.asked == asked
    };
    let found = answer.lower.and_then(|lower| last(&shown(Some(lower))).or_else(|| last(&shown(None))));
    let trials = made.iter().map(|one| one.trial).collect();
    let mut account = made.swap_remove(found.unwrap_or(end)).account;
    account.search = Some(RateSearch {
        bound,
        confidence: CONFIDENCE,
        lower: answer.lower,
        upper: answer.upper,
        complete: answer.complete,
        trials,
    });
    Ok(Judged { account, limit, disturbed })
}

/// Why a search has no rate; `None` if it has one, and of a run that is no search.
#[must_use]
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

/// Whether a trial offered less than it was to: its sender stalled, and then sent in bursts what it
/// owed. It says nothing of that load.
fn fell_short(trial: &RateTrial) -> bool {
    trial.asked.is_some_and(|asked| trial.offered < asked * (1.0 - WIDTH))
}

/// A trial with its whole account.
struct Made {
    order: RunOrder,
    account: RunAccount,
    trial: RateTrial,
}

/// The traffic of a trial: all flows together offer the load.
fn at(traffic: &Traffic, load: Load) -> Traffic {
    let pacing = match load {
        Load::Most => traffic.pacing,
        Load::Of(bits) => Pacing::of_bits((bits / f64::from(traffic.lanes())).round().max(1.0) as u64),
    };
    Traffic { pacing, find_rate: false, loss: None, ..traffic.clone() }
}

/// How a trial went.
fn trial(load: Load, order: &RunOrder, account: &RunAccount, bound: f64) -> RateTrial {
    let sides = || std::iter::once(&account.transmitter).chain(&account.receiver);
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
    let loss = Loss::of(&order.traffic, account).unwrap_or_default();
    let loss = share(loss.lost() as f64, loss.offered as f64);
    let missing = share(offered - forwarded, offered);
    RateTrial {
        asked: match load {
            Load::Most => None,
            Load::Of(bits) => Some(bits),
        },
        offered,
        forwarded,
        loss,
        exceeded: loss > bound || missing > bound + EDGES / order.window.as_secs_f64(),
        disturbed: false,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use load::{Family, Kind};

    use super::*;

    const WINDOW: f64 = 0.5;

    fn order(change: impl FnOnce(&mut Traffic)) -> RunOrder {
        let mut traffic = Traffic { find_rate: true, flows: 4, ..Traffic::new(Kind::UdpStream) };
        change(&mut traffic);
        let window = Duration::from_secs_f64(WINDOW);
        RunOrder { traffic, family: Family::Ipv4, ramp: Duration::ZERO, window, step: window }
    }

    /// The account of a path that lets `most` bits/s through, behind a sender that makes 500
    /// Mbit/s, and a queue that holds what comes in `queue` s.
    fn through(order: &RunOrder, most: f64, queue: f64) -> RunAccount {
        let pace = order.traffic.pacing.map_or(f64::MAX, |pace| pace.bits() as f64);
        let offered = (pace * f64::from(order.traffic.flows)).min(500e6);
        let datagrams = |bits: f64| (bits / 8.0 / f64::from(order.traffic.message)).round() as u64;
        let mut account = record::sample::account();
        let receiver = account.receiver.as_mut().unwrap();
        for (window, outcome) in [
            (&mut account.transmitter.window, &mut account.transmitter.whole.outcome),
            (&mut receiver.window, &mut receiver.whole.outcome),
        ] {
            window.load.sent = load::Counts::default();
            window.load.received = load::Counts::default();
            (outcome.sent, outcome.received) = (load::Counts::default(), load::Counts::default());
        }
        let sent = datagrams(offered * WINDOW);
        let arrived = datagrams(offered.min(most) * WINDOW);
        let kept = datagrams(most * queue).min(sent - arrived);
        let counted = |messages: u64| load::Counts {
            messages,
            bytes: messages * u64::from(order.traffic.message),
            ..load::Counts::default()
        };
        account.transmitter.window.load.sent = counted(sent);
        account.transmitter.whole.outcome.sent = counted(sent);
        receiver.window.load.received = counted(arrived);
        receiver.whole.outcome.received = counted(arrived + kept);
        account
    }

    fn found(order: &RunOrder, most: f64, queue: f64) -> (RateSearch, RunAccount) {
        let mut run = |order: &RunOrder| Ok::<_, Infallible>(through(order, most, queue));
        let Ok(Judged { account, .. }) = carry_out(order, &mut run);
        (account.search.clone().unwrap(), account)
    }

    #[test]
    fn the_rate_of_a_path_is_found_whatever_its_queue_holds() {
        // Of the last nothing is lost in any trial.
        for queue in [0.0, 0.05, 10.0] {
            let (search, account) = found(&order(|_| ()), 97.2e6, queue);
            let (lower, upper) = (search.lower.unwrap(), search.upper.unwrap());
            assert!((96.7e6..=97.7e6).contains(&lower) && upper > 97.2e6, "{queue}: {lower} {upper}");
            assert!(upper < 98.2e6, "{upper}");
            // The account is that of the found rate.
            let sent = account.transmitter.window.load.sent.bytes as f64 * 8.0 / WINDOW;
            assert!((sent / lower - 1.0).abs() < 0.001, "{sent} of {lower}");
        }
    }

    #[test]
    fn a_sender_that_stalls_now_and_then_moves_no_end() {
        let order = order(|_| ());
        let mut made = 0;
        let mut run = |order: &RunOrder| {
            made += 1;
            let Some(pace) = order.traffic.pacing.filter(|_| made % 3 == 0) else {
                return Ok::<_, Infallible>(through(order, 97.2e6, 0.0));
            };
            // It sends 2 % less than it was to, and 3 % of that in bursts that no queue holds.
            let slower = (pace.bits() as f64 * 0.98) as u64;
            let stalled = RunOrder {
                traffic: Traffic { pacing: Pacing::of_bits(slower), ..order.traffic.clone() },
                ..order.clone()
            };
            let offered = (slower as f64 * f64::from(order.traffic.flows)).min(97.2e6);
            Ok(through(&stalled, 0.97 * offered, 0.0))
        };
        let Ok(Judged { account, .. }) = carry_out(&order, &mut run);
        let search = account.search.unwrap();
        let (lower, upper) = (search.lower.unwrap(), search.upper.unwrap());
        assert!((96.5e6..=97.2e6).contains(&lower) && (97.2e6..98.2e6).contains(&upper), "{lower} {upper}");
        let stalled = search.trials.iter().filter(|trial| fell_short(trial));
        assert!(stalled.clone().count() > 3 && stalled.clone().all(|trial| trial.disturbed), "{search:?}");
    }

    #[test]
    fn a_loss_that_is_allowed_raises_the_rate() {
        let bound = |text: &str| order(|traffic| traffic.loss = study::Percent::parse(text).ok());
        let (strict, _) = found(&order(|_| ()), 97.2e6, 0.0);
        let (loose, _) = found(&bound("10%"), 97.2e6, 0.0);
        let ratio = loose.lower.unwrap() / strict.lower.unwrap();
        assert!((1.10..1.12).contains(&ratio), "{ratio}");
        assert!(loose.trials.iter().all(|trial| trial.exceeded == (trial.loss > 0.1)));
    }

    #[test]
    fn pacing_is_the_most_that_is_tried() {
        let paced = order(|traffic| traffic.pacing = Pacing::of_bits(10_000_000));
        let (search, _) = found(&paced, 97.2e6, 0.0);
        assert_eq!((search.upper, search.complete), (None, true));
        assert!((search.lower.unwrap() / 40e6 - 1.0).abs() < 0.001, "{:?}", search.lower);
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
                let most = if made % 2 == held_up { 37e6 } else { 97e6 };
                Ok::<_, Infallible>(through(order, most, 1.0))
            };
            let Ok(Judged { limit, account, .. }) = carry_out(&paced, &mut run);
            assert!(account.search.unwrap().trials.len() > 2);
            assert_eq!(limit.label, record::Label::Pacing, "{limit:?}");
        }
    }

    #[test]
    fn nothing_gets_through_a_path_that_drops_all() {
        let (search, _) = found(&order(|_| ()), 0.0, 0.0);
        assert_eq!((search.lower, search.complete), (None, true));
        // A hundred datagrams in half a second.
        assert!((search.upper.unwrap() / (100.0 * 8.0 * 1452.0 / WINDOW) - 1.0).abs() < 1e-9);
    }
}

//! Searches on simulated paths.

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

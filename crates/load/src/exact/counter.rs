//! Counts the cost of work: passes over it, in batches.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use words::Traffic;

use super::connections;
use super::memory::{HeldPackets, fill_slabs};
use super::work::{AnyWork, Bracketed, Trouble};
use crate::socket::Applied;
use crate::sys;

// By then caches, windows and buffers of the kernel have their final sizes, and a datagram costs a
// fresh socket more for its first fifth of a second.
const WARM_UP: Duration = Duration::from_millis(600);
const WARM_UP_TURNS: u32 = 64;
const BATCHES: u32 = 201;
pub(super) const MOST: u32 = 32;
// An eighth of the time between two ticks of a kernel of 250 Hz: seven of eight batches see none.
const BATCH_NS: u64 = 500_000;
const READINGS: usize = 1001;

/// The time in soft interrupts of the work's CPU so far, in ns of the clock, with half of the cost
/// of the count, which is the same at their begin and end.
pub type SoftirqTime = Box<dyn FnMut() -> Result<u64, SoftirqError>>;

/// Starts to count soft interrupts, which costs time from then on.
pub type CountSoftirqs<'a> = &'a mut dyn FnMut() -> Result<SoftirqTime, SoftirqError>;

/// Why soft interrupts cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SoftirqError(pub String);

// Odd, so that the median is one of them.
pub(super) fn batches_of(connections: u32) -> u32 {
    (BATCHES / connections) | 1
}

pub(super) fn count(
    work: &mut dyn AnyWork,
    traffic: &Traffic,
    settled: &mut dyn FnMut(),
    begin_softirqs: CountSoftirqs<'_>,
) -> Result<Account, Trouble> {
    // Kept to the end: the slabs are full as long as it lives.
    let _full = fill_slabs(traffic.message)?;
    // Connections share the time of the warm-up and the batches.
    let connections = connections(traffic.kind);
    let (warm_up, rounds) = (WARM_UP / connections, batches_of(connections));
    work.repeat(WARM_UP_TURNS)?;
    // By now the kernel has resolved the address of the peer.
    settled();
    let begun = sys::now();
    while u128::from(sys::now().saturating_sub(begun)) < warm_up.as_nanos() {
        work.repeat(1)?;
    }
    let turns = size_of_batch(work)?;
    let messages = turns * work.messages();
    let mut held = HeldPackets::empty(traffic.message, work.messages())?;
    let mut batches = |measure: &mut dyn FnMut() -> Result<[u64; 2], Trouble>| {
        let [mut first, mut second] = [(); 2].map(|()| Vec::with_capacity(rounds as usize));
        for _ in 0..rounds {
            held.shift()?;
            let [one, other] = measure()?;
            first.push(one);
            second.push(other);
        }
        Ok::<_, Trouble>([first, second].map(|values| BatchSpread::of_batches(values, messages)))
    };
    let [whole, _] = batches(&mut || Ok([timed(work, turns)?, 0]))?;
    let clock_ns = cost_of_reading();
    let mut bracketed = Bracketed::default();
    // Its own code paths are warmed up too.
    work.repeat_bracketed(&mut bracketed, turns)?;
    let [kernel, calls] = batches(&mut || {
        let (inside, calls) = (bracketed.inside(clock_ns), bracketed.calls);
        work.repeat_bracketed(&mut bracketed, turns)?;
        Ok([bracketed.inside(clock_ns).saturating_sub(inside), bracketed.calls - calls])
    })?;
    let softirq = match begin_softirqs() {
        Err(why) => Err(why),
        Ok(mut count) => {
            // The counting's own code paths are warmed up too.
            work.repeat(turns)?;
            let mut absent = None;
            let [inside, taken] = batches(&mut || {
                let before = count();
                let taken = timed(work, turns)?;
                let inside = before.and_then(|before| Ok(count()?.saturating_sub(before)));
                let inside = inside.unwrap_or_else(|why| {
                    absent = Some(why);
                    0
                });
                Ok([inside, taken])
            })?;
            // Half of the cost of counting lies inside of the counted time.
            let counting = taken.median - whole.median;
            absent.map_or_else(|| Ok(inside.less(counting / 2.0)), Err)
        }
    };
    Ok(Account {
        messages,
        batches: rounds,
        clock_ns,
        whole,
        kernel,
        softirq_absent: softirq.as_ref().err().map(ToString::to_string),
        softirq: softirq.ok(),
        // On a busy CPU a datagram may arrive late, and a reader tries again.
        calls: calls.median,
        // The caller, who has the sockets, adds them.
        applied: Vec::new(),
    })
}

fn timed(work: &mut dyn AnyWork, turns: u32) -> Result<u64, Trouble> {
    let begun = sys::now();
    work.repeat(turns)?;
    Ok(sys::now().saturating_sub(begun))
}

// A power of two, so that a small difference of their cost changes nothing.
fn size_of_batch(work: &mut dyn AnyWork) -> Result<u32, Trouble> {
    let mut turns = MOST;
    while turns > 1 && timed(work, turns)? > BATCH_NS {
        turns /= 2;
    }
    Ok(turns)
}

fn cost_of_reading() -> u64 {
    let mut costs = [0; READINGS];
    for cost in &mut costs {
        let first = sys::now();
        *cost = sys::now().saturating_sub(first);
    }
    costs.sort_unstable();
    costs[READINGS / 2]
}

/// The cost of fixed work, in ns of the host's clock: instructions, where that counts them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Messages, or transactions, of a batch.
    pub messages: u32,
    /// Batches of each pass.
    pub batches: u32,
    /// The cost of reading the clock in ns, already subtracted from [`Account::kernel`].
    pub clock_ns: u64,
    /// The cost of a message, or transaction.
    pub whole: BatchSpread,
    /// Its part inside system calls.
    pub kernel: BatchSpread,
    /// The part of that in soft interrupts; `None` where they cannot be counted.
    pub softirq: Option<BatchSpread>,
    /// Why they cannot be counted.
    pub softirq_absent: Option<String>,
    /// System calls that move data, of both ends, per message or transaction (median batch).
    pub calls: f64,
    /// The options read back from the connected sockets, the sending one first.
    pub applied: Vec<Applied>,
}

impl Account {
    /// The account of the connection whose cost is in the middle. `None`: there are no connections.
    pub fn middle(mut connections: Vec<Self>) -> Option<Self> {
        connections.sort_by(|one, other| one.whole.median.total_cmp(&other.whole.median));
        let middle = connections.len() / 2;
        connections.into_iter().nth(middle)
    }

    /// The cost of a message outside of system calls, in ns: the difference of the two passes.
    pub fn user(&self) -> f64 {
        (self.whole.median - self.kernel.median).max(0.0)
    }
}

/// The cost of a message over batches: ns, or system calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchSpread {
    /// The least of a batch.
    pub least: f64,
    /// The first quartile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub high: f64,
    /// The most of a batch.
    pub most: f64,
}

impl BatchSpread {
    pub(super) fn of_batches(mut batches: Vec<u64>, messages: u32) -> Self {
        batches.sort_unstable();
        let last = batches.len().saturating_sub(1);
        let at = |quarter: usize| {
            batches.get(last * quarter / 4).map_or(0.0, |taken| *taken as f64 / f64::from(messages))
        };
        Self { least: at(0), low: at(1), median: at(2), high: at(3), most: at(4) }
    }

    pub(super) fn less(self, ns: f64) -> Self {
        let [least, low, median, high, most] =
            [self.least, self.low, self.median, self.high, self.most].map(|value| (value - ns).max(0.0));
        Self { least, low, median, high, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_batches_per_message() {
        let spread = BatchSpread::of_batches(vec![50, 10, 20, 40, 30], 10);
        assert_eq!(spread, BatchSpread { least: 1.0, low: 2.0, median: 3.0, high: 4.0, most: 5.0 });
        let account = Account {
            messages: 10,
            batches: 5,
            clock_ns: 1,
            whole: spread,
            kernel: BatchSpread::of_batches(vec![25], 10),
            softirq: Some(BatchSpread::of_batches(vec![15], 10).less(0.5)),
            softirq_absent: None,
            calls: 2.0,
            applied: Vec::new(),
        };
        assert!((account.user() - 0.5).abs() < 1e-12);
        assert!(account.softirq.is_some_and(|softirq| (softirq.median - 1.0).abs() < 1e-12));
        assert_eq!(spread.less(2.5).least, 0.0);
        let of = |median: f64| Account { whole: BatchSpread { median, ..spread }, ..account.clone() };
        let middle = Account::middle([9.0, 2.0, 3.0].map(of).to_vec());
        assert_eq!((middle, Account::middle(Vec::new())), (Some(of(3.0)), None));
    }
}

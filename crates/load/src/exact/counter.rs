//! What the work costs: passes over it, in batches.

use std::time::Duration;

use crate::sys;

use super::account::{Account, Spread};
use super::work::{Bracketed, Plain, Trouble, Work};
use crate::lane::Calls;

/// How long messages flow before anything is counted, and how many turns at least: caches, windows
/// and buffers of the kernel have found their sizes by then, and a datagram costs a fresh socket
/// more for its first fifth of a second.
const WARM_UP: Duration = Duration::from_millis(600);
const WARM_UP_TURNS: u32 = 64;
/// Batches of each pass; odd, so that the median is one of them.
pub(super) const BATCHES: u32 = 201;
pub(super) const MOST: u32 = 32;
/// What a batch may take, in ns: an eighth of the time between two ticks of a kernel of 250 Hz, so
/// that seven of eight see none.
const BATCH_NS: u64 = 500_000;
/// Readings from which the cost of one is taken.
const READINGS: usize = 1001;

/// Counts the time in soft interrupts of the CPU that the work runs on. What counting costs is the
/// same where one begins and where it ends.
pub trait Softirqs {
    /// What passed in them so far, in ns of the clock: half of what counting costs is in it.
    ///
    /// # Errors
    /// In words, if it cannot be told.
    fn inside_ns(&mut self) -> Result<u64, String>;
}

/// Begins to count soft interrupts, which costs time from then on; in words, why they cannot be
/// counted.
pub type CountSoftirqs<'a> = &'a mut dyn FnMut() -> Result<Box<dyn Softirqs>, String>;

pub(super) struct Counter<'a> {
    /// Called when the first messages have gone.
    pub(super) settled: &'a mut dyn FnMut(),
    pub(super) softirqs: CountSoftirqs<'a>,
}

impl Counter<'_> {
    /// The account, but for what the sockets read back.
    pub(super) fn count<W: Work>(self, mut work: W) -> Result<Account, Trouble> {
        turns(&mut work, &mut Plain, WARM_UP_TURNS)?;
        (self.settled)();
        let begun = sys::now();
        while u128::from(sys::now().saturating_sub(begun)) < WARM_UP.as_nanos() {
            turns(&mut work, &mut Plain, 1)?;
        }
        let count = size_of_batch(&mut work)?;
        let messages = count * work.messages();
        let whole = batches(&mut work, count)?;
        let clock_ns = cost_of_reading();
        let mut bracketed = Bracketed::default();
        // Its own paths are warmed up as well.
        turns(&mut work, &mut bracketed, count)?;
        let [mut kernel, mut calls] = [(); 2].map(|()| Vec::with_capacity(BATCHES as usize));
        for _ in 0..BATCHES {
            let (inside, before) = (bracketed.inside(clock_ns), bracketed.calls);
            turns(&mut work, &mut bracketed, count)?;
            kernel.push(bracketed.inside(clock_ns).saturating_sub(inside));
            calls.push(bracketed.calls - before);
        }
        // Where packets of others keep the CPU busy a datagram may arrive late, and a reader looks
        // for it again.
        let calls = Spread::of(calls, messages).median;
        let whole = Spread::of(whole, messages);
        let softirq = softirqs(&mut work, count, whole.median, self.softirqs)?;
        Ok(Account {
            messages,
            batches: BATCHES,
            clock_ns,
            whole,
            kernel: Spread::of(kernel, messages),
            softirq_absent: softirq.as_ref().err().cloned(),
            softirq: softirq.ok(),
            calls,
            applied: Vec::new(),
        })
    }
}

/// What passes in soft interrupts, for a message, which takes `whole` where they are not counted.
fn softirqs<W: Work>(
    work: &mut W,
    count: u32,
    whole: f64,
    begin: CountSoftirqs<'_>,
) -> Result<Result<Spread, String>, Trouble> {
    let mut softirqs = match begin() {
        Ok(softirqs) => softirqs,
        Err(why) => return Ok(Err(why)),
    };
    turns(work, &mut Plain, count)?;
    let [mut taken, mut inside] = [(); 2].map(|()| Vec::with_capacity(BATCHES as usize));
    for _ in 0..BATCHES {
        let before = softirqs.inside_ns();
        let begun = sys::now();
        turns(work, &mut Plain, count)?;
        let ended = sys::now();
        match (before, softirqs.inside_ns()) {
            (Ok(before), Ok(after)) => inside.push(after.saturating_sub(before)),
            (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
        }
        taken.push(ended.saturating_sub(begun));
    }
    let messages = count * work.messages();
    let counting = Spread::of(taken, messages).median - whole;
    Ok(Ok(Spread::of(inside, messages).less(counting / 2.0)))
}

#[inline(never)]
fn turns<W: Work, C: Calls>(work: &mut W, calls: &mut C, count: u32) -> Result<(), Trouble> {
    for _ in 0..count {
        work.turn(calls)?;
    }
    Ok(())
}

/// How many turns fit into a batch: a power of two, so that a small difference of what they cost
/// changes nothing.
fn size_of_batch<W: Work>(work: &mut W) -> Result<u32, Trouble> {
    let mut count = MOST;
    while count > 1 {
        let begun = sys::now();
        turns(work, &mut Plain, count)?;
        if sys::now().saturating_sub(begun) <= BATCH_NS {
            break;
        }
        count /= 2;
    }
    Ok(count)
}

fn batches<W: Work>(work: &mut W, count: u32) -> Result<Vec<u64>, Trouble> {
    let mut taken = Vec::with_capacity(BATCHES as usize);
    for _ in 0..BATCHES {
        let begun = sys::now();
        turns(work, &mut Plain, count)?;
        taken.push(sys::now().saturating_sub(begun));
    }
    Ok(taken)
}

/// What passes between two readings of the clock with nothing between them, in ns: the median.
fn cost_of_reading() -> u64 {
    let mut costs = [0; READINGS];
    for cost in &mut costs {
        let first = sys::now();
        *cost = sys::now().saturating_sub(first);
    }
    costs.sort_unstable();
    costs[READINGS / 2]
}

//! Simulated experiments: each method's false-positive rate, and how often it finds a difference.
//!
//! A [`World`] defines the spread of boots and runs; [`simulate`] draws experiments from it, lets
//! each [`Method`] decide whether condition 1 differs from condition 0 at 5 %, and counts. Every
//! experiment has its own random numbers, so the counts depend only on the seed, not on the number
//! of threads.

mod bootstrap;
mod means;
mod methods;
mod plan;
mod ranks;
mod rate;
mod sequential;
mod world;

pub(crate) use methods::Method;
pub(crate) use plan::Plan;
pub(crate) use rate::Rate;
pub(crate) use sequential::{Looking, SequentialRates, look_often};
pub(crate) use world::{Shape, World};

use std::ops::{AddAssign, Range};
use std::thread;

use methods::Decider;

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Without a difference, by spread between boots: rates of false positives.
    pub(crate) false_positives: Vec<Cell>,
    /// By spread between boots, then by difference: rates of differences found.
    pub(crate) power: Vec<Cell>,
}

/// The rates of one spread and difference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    /// The standard deviation between boots.
    pub(crate) between: f64,
    /// The difference.
    pub(crate) difference: f64,
    /// The rate at which each of the plan's methods found a difference.
    pub(crate) rates: Vec<Rate>,
}

/// Simulates `plan` in `threads` threads.
///
/// # Errors
/// For an impossible world, or too much work.
pub(crate) fn simulate(plan: &Plan, threads: usize) -> Result<Outcome, String> {
    plan.check()?;
    let cell = |place: usize, between: f64, difference: f64| {
        let world = plan.world.with_between(between);
        let count = |experiments: Range<u32>| count(plan, &world, place, difference, experiments);
        let hits = in_threads(plan.experiments, threads, plan.methods.len(), &count);
        let rates = hits.into_iter().map(|hits| Rate::new(hits, u64::from(plan.experiments))).collect();
        Cell { between, difference, rates }
    };
    let powers = plan.between.iter().flat_map(|between| plan.differences.iter().map(move |d| (*between, *d)));
    // Places number the cells, so that none share random numbers.
    let wolves = plan.between.iter().enumerate().map(|(place, between)| cell(place, *between, 0.0)).collect();
    let first = plan.between.len();
    let power = powers.enumerate().map(|(place, (between, d))| cell(first + place, between, d)).collect();
    Ok(Outcome { false_positives: wolves, power })
}

fn count(plan: &Plan, world: &World, place: usize, difference: f64, experiments: Range<u32>) -> Vec<u64> {
    let mut hits = vec![0; plan.methods.len()];
    let mut decider = Decider::new(world);
    for experiment in experiments {
        let mut random = world::random(plan.seed, place, experiment);
        decider.draw(&mut random, difference);
        for (hits, method) in hits.iter_mut().zip(&plan.methods) {
            *hits += u64::from(decider.decides(*method, &mut random));
        }
    }
    hits
}

/// Sums the counts of parts of the experiments, each in a thread.
fn in_threads<Count: Copy + Default + AddAssign + Send>(
    experiments: u32,
    threads: usize,
    width: usize,
    count: &(impl Fn(Range<u32>) -> Vec<Count> + Sync),
) -> Vec<Count> {
    let threads = u32::try_from(threads).unwrap_or(u32::MAX).clamp(1, 64);
    let part = experiments.div_ceil(threads).max(1);
    let mut sums = vec![Count::default(); width];
    thread::scope(|scope| {
        let parts = (0..experiments).step_by(part as usize);
        let workers: Vec<_> = parts
            .map(|start| scope.spawn(move || count(start..experiments.min(start.saturating_add(part)))))
            .collect();
        for worker in workers {
            match worker.join() {
                Ok(counts) => sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    sums
}

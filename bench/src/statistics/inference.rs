//! All inference there is, on a million runs.

use std::fmt::Display;
use std::time::Instant;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use stats::effects::{DesignMatrix, factorial, ladder, shapley};
use stats::{Against, Margin, Observation, Question, analyse, diagnostics};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::figures::summary;
use crate::goal::{Bound, Goal};
use crate::normal::normal;
use crate::report::Report;

/// All parts but the pairs together, in s; and the pairs by themselves.
const GOAL: f64 = 1.0;
/// Combinations of eight switches.
const CONDITIONS: usize = 200;
/// The conditions that are combinations of switches only.
const SWITCHED: usize = 8;
const LEVEL: f64 = 0.95;
/// Boots, and runs of each condition in each.
const SIZE: (u32, usize) = (25, 200);
const SMOKE_SIZE: (u32, usize) = (3, 2);

/// What shape the data have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Crossed,
    Nested,
    /// Crossed, one run in two hundred missing.
    Ragged,
}

const SHAPES: [(Shape, &str); 3] =
    [(Shape::Crossed, "crossed"), (Shape::Nested, "nested"), (Shape::Ragged, "ragged")];

/// What is timed, in order; after them all pairs, which are another question to the same data.
const PARTS: [&str; 5] = ["against a baseline, within 2 %", "diagnostics", "factorial", "shares", "ladder"];

/// Times all parts on data of every shape, `repeats` times.
pub(super) fn run(bench: &Bench, repeats: u32, report: &mut Report) -> Result<(), Failure> {
    for (shape, name) in SHAPES {
        let observations = draw(shape, bench.or_smoke(SIZE, SMOKE_SIZE));
        let [seconds] = bench.in_turn(name, (0, repeats), |_| once(&observations))?;
        let Some(all) = summary(seconds.iter().map(|parts| parts.iter().sum())) else { continue };
        let median =
            |part: usize| summary(seconds.iter().map(|parts| parts[part])).map_or(f64::NAN, |all| all.median);
        let each =
            PARTS.iter().enumerate().map(|(part, name)| format!("{name} {:.0} ms", 1e3 * median(part)));
        let each = each.collect::<Vec<_>>().join(", ");
        let pairs = all_pairs(&observations, bench.or_smoke(CONDITIONS, SWITCHED))?;
        report.note(format!(
            "inference, {name}, {} runs in {CONDITIONS} conditions: {:.3} s ({:.3} to {:.3}, {repeats} times): {each}; all pairs instead \
             of a baseline, once: {pairs:.3} s",
            observations.len(),
            all.median,
            all.min,
            all.max,
        ));
        for (what, seconds) in [("", all.median), (", all pairs", pairs)] {
            let what = format!("inference, {name}{what}");
            report.goals.push(Goal::new(what, seconds, Bound::Under(GOAL), "s"));
        }
        report.result(name, json!({"runs": observations.len(), "parts": PARTS, "seconds": seconds}));
    }
    Ok(())
}

/// Runs in the order of measurement: boot after boot, in it block after block.
fn draw(shape: Shape, (boots, runs): (u32, usize)) -> Vec<Observation> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut observations = Vec::with_capacity(CONDITIONS * boots as usize * runs);
    for boot in 0..boots {
        let common = 2.0 * normal(&mut random);
        let mean = |condition| 1000.0 + condition as f64 / 10.0 + common + normal(&mut random);
        let means: Vec<f64> = (0..CONDITIONS).map(mean).collect();
        for run in 0..runs {
            for (condition, mean) in means.iter().enumerate() {
                let value = mean + 3.0 * normal(&mut random);
                let boot = match shape {
                    Shape::Nested => boot * CONDITIONS as u32 + condition as u32,
                    Shape::Crossed | Shape::Ragged => boot,
                };
                if shape != Shape::Ragged || !(run + 7 * condition + boot as usize).is_multiple_of(200) {
                    observations.push(Observation { condition, boot, value });
                }
            }
        }
    }
    observations
}

/// The time of each part, in s.
fn once(observations: &[Observation]) -> Result<[f64; PARTS.len()], Failure> {
    let factors = ["a", "b", "c", "d", "e", "f", "g", "h"].map(str::to_owned);
    let levels: Vec<Vec<bool>> = (0..CONDITIONS).map(levels).collect();
    let layout = DesignMatrix { factors: &factors, levels: &levels };
    let switches: Vec<Vec<bool>> = levels.iter().take(SWITCHED).map(|levels| levels[..3].to_vec()).collect();
    let switched = DesignMatrix { factors: &factors[..3], levels: &switches };
    let rungs: Vec<usize> = (0..SWITCHED).collect();
    let few: Vec<Observation> = observations.iter().copied().filter(|run| run.condition < SWITCHED).collect();
    let baseline = Question { margin: Some(Margin::Percent(2.0)), ..Question::against(0) };
    Ok([
        timed(|| analyse(observations, &baseline))?,
        timed(|| diagnostics::diagnose(observations))?,
        timed(|| factorial(observations, &layout, 2, LEVEL))?,
        timed(|| shapley(&few, &switched, LEVEL))?,
        timed(|| ladder(observations, &rungs, LEVEL))?,
    ])
}

/// The time of all pairs of the first `conditions`, in s: 19,900 of 200.
fn all_pairs(observations: &[Observation], conditions: usize) -> Result<f64, Failure> {
    let few: Vec<Observation> =
        observations.iter().copied().filter(|run| run.condition < conditions).collect();
    timed(|| analyse(&few, &Question { against: Against::AllPairs, ..Question::against(0) }))
}

fn timed<T, E: Display>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, Failure> {
    let start = Instant::now();
    std::hint::black_box(work().map_err(Failure::environment)?);
    Ok(start.elapsed().as_secs_f64())
}

/// Whether each switch is on in a condition: the first change fastest.
fn levels(condition: usize) -> Vec<bool> {
    (0..8).map(|switch| condition >> switch & 1 == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_condition_is_a_combination() {
        assert_eq!((0..CONDITIONS).map(levels).collect::<BTreeSet<_>>().len(), CONDITIONS);
        assert!((0..SWITCHED).all(|condition| !levels(condition)[3..].contains(&true)));
    }

    #[test]
    fn data_have_their_shape_and_all_of_it_is_done() {
        for ((shape, name), (boot_count, missing)) in
            SHAPES.into_iter().zip([(3, 0), (3 * CONDITIONS, 0), (3, 6)])
        {
            let observations = draw(shape, SMOKE_SIZE);
            let boots: BTreeSet<u32> = observations.iter().map(|run| run.boot).collect();
            let expected = (boot_count, 3 * 2 * CONDITIONS - missing);
            assert_eq!((boots.len(), observations.len()), expected, "{name}");
            assert!(once(&observations).unwrap().iter().all(|seconds| *seconds > 0.0));
        }
    }
}

//! All inference there is, on a million runs.

use std::time::Instant;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::{Value, json};
use stats::effects::{Layout, Orders, factorial, ladder, shapley};
use stats::{Against, Design, Margin, Observation, Question, analyse, diagnostics};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::random::normal;
use crate::report::{Goal, Report};
use crate::spread::Spread;

/// All parts but the pairs together, in s; and the pairs by themselves.
const GOAL: f64 = 1.0;
/// Conditions: three switches, and two factors of five levels.
const SIZES: [usize; 5] = [2, 2, 2, 5, 5];
const CONDITIONS: usize = 200;
/// The conditions that are combinations of switches only.
const SWITCHED: usize = 8;
const LEVEL: f64 = 0.95;

/// What shape the data have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Crossed,
    Nested,
    /// Crossed, one run in two hundred missing.
    Ragged,
}

impl Shape {
    const ALL: [Shape; 3] = [Shape::Crossed, Shape::Nested, Shape::Ragged];

    fn name(self) -> &'static str {
        match self {
            Self::Crossed => "crossed",
            Self::Nested => "nested",
            Self::Ragged => "ragged",
        }
    }
}

/// What is timed, in order; after them all pairs, which are another question to the same data.
const PARTS: [&str; 5] = ["against a baseline, within 2 %", "diagnostics", "factorial", "shares", "ladder"];

/// Times all parts on data of every shape, `repeats` times.
pub(super) fn tell(
    bench: &Bench<'_>,
    boots: u32,
    runs: usize,
    repeats: u32,
    report: &mut Report,
) -> Result<Value, Failure> {
    let mut results = serde_json::Map::new();
    for shape in Shape::ALL {
        let observations = draw(shape, boots, runs);
        let mut seconds: Vec<[f64; PARTS.len()]> = Vec::new();
        for _ in 0..repeats {
            if bench.interrupt.is_tripped() {
                return Err(Failure::Interrupted);
            }
            seconds.push(once(&observations)?);
        }
        let sums = || seconds.iter().map(|parts| parts.iter().sum::<f64>());
        let Some(all) = Spread::of(sums()) else { continue };
        let each: Vec<String> = PARTS
            .iter()
            .enumerate()
            .filter_map(|(part, name)| {
                let median = Spread::of(seconds.iter().map(|parts| parts[part]))?.median;
                Some(format!("{name} {:.0} ms", 1e3 * median))
            })
            .collect();
        let name = shape.name();
        let paired = if bench.common.smoke { SWITCHED } else { CONDITIONS };
        let pairs = all_pairs(&observations, paired)?;
        bench.say(&format!("stats, inference, {name}: {:.2} s", all.median));
        report.note(format!(
            "inference, {name}, {} runs in {CONDITIONS} conditions: {:.3} s ({:.3} to {:.3}, {repeats} times): {}; all pairs instead of \
             a baseline, once: {pairs:.3} s",
            observations.len(),
            all.median,
            all.min,
            all.max,
            each.join(", ")
        ));
        report.goals.push(Goal::under(format!("inference, {name}"), all.median, GOAL, "s"));
        report.goals.push(Goal::under(format!("inference, {name}, all pairs"), pairs, GOAL, "s"));
        results
            .insert(name.to_owned(), json!({"runs": observations.len(), "parts": PARTS, "seconds": seconds}));
    }
    Ok(results.into())
}

/// Runs in the order of measurement: boot after boot, in it block after block.
fn draw(shape: Shape, boots: u32, runs: usize) -> Vec<Observation> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut observations = Vec::with_capacity(CONDITIONS * boots as usize * runs);
    for boot in 0..boots {
        let common = 2.0 * normal(&mut random);
        let means: Vec<f64> = (0..CONDITIONS)
            .map(|condition| 1000.0 + condition as f64 / 10.0 + common + normal(&mut random))
            .collect();
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
    let wrong = |error: &dyn std::fmt::Display| Failure::Environment(error.to_string());
    let factors = ["a", "b", "c", "d", "e"].map(str::to_owned);
    let levels: Vec<Vec<usize>> = (0..CONDITIONS).map(levels).collect();
    let layout = Layout { factors: &factors, levels: &levels };
    let switches: Vec<Vec<usize>> = levels.iter().take(SWITCHED).map(|levels| levels[..3].to_vec()).collect();
    let switched = Layout { factors: &factors[..3], levels: &switches };
    let rungs: Vec<usize> = (0..SWITCHED).collect();
    let few: Vec<Observation> = observations.iter().copied().filter(|run| run.condition < SWITCHED).collect();
    let baseline = Question { margin: Some(Margin::Percent(2.0)), ..Question::against(0) };
    let design: Option<Design> = None;
    Ok([
        timed(|| analyse(observations, &baseline).map_err(|error| wrong(&error)))?,
        timed(|| diagnostics::diagnose(observations).map_err(|error| wrong(&error)))?,
        timed(|| factorial(observations, &layout, 2, design, LEVEL).map_err(|error| wrong(&error)))?,
        timed(|| shapley(&few, &switched, Orders::All, design, LEVEL).map_err(|error| wrong(&error)))?,
        timed(|| ladder(observations, &rungs, design, LEVEL).map_err(|error| wrong(&error)))?,
    ])
}

/// The time of all pairs of the first `conditions`, in s: 19,900 of 200.
fn all_pairs(observations: &[Observation], conditions: usize) -> Result<f64, Failure> {
    let observations: Vec<Observation> =
        observations.iter().copied().filter(|run| run.condition < conditions).collect();
    let question = Question { against: Against::AllPairs, ..Question::against(0) };
    timed(|| analyse(&observations, &question).map_err(|error| Failure::Environment(error.to_string())))
}

fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    std::hint::black_box(work()?);
    Ok(start.elapsed().as_secs_f64())
}

/// The level of each factor in a condition: the switches change fastest.
fn levels(condition: usize) -> Vec<usize> {
    let mut rest = condition;
    SIZES
        .iter()
        .map(|size| {
            let level = rest % size;
            rest /= size;
            level
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_a_condition() {
        assert_eq!(SIZES.iter().product::<usize>(), CONDITIONS);
        let all: std::collections::BTreeSet<Vec<usize>> = (0..CONDITIONS).map(levels).collect();
        assert_eq!(all.len(), CONDITIONS);
        assert!((0..SWITCHED).all(|condition| levels(condition)[3..] == [0, 0]));
    }

    #[test]
    fn data_have_their_shape_and_all_of_it_is_done() {
        for shape in Shape::ALL {
            let observations = draw(shape, 3, 2);
            let boots: std::collections::BTreeSet<u32> = observations.iter().map(|run| run.boot).collect();
            let (boot_count, missing) = match shape {
                Shape::Crossed => (3, 0),
                Shape::Nested => (3 * CONDITIONS, 0),
                Shape::Ragged => (3, 6),
            };
            assert_eq!((boots.len(), observations.len()), (boot_count, 3 * 2 * CONDITIONS - missing));
            assert!(once(&observations).unwrap().iter().all(|seconds| *seconds > 0.0));
        }
    }
}

//! States of a testbed: conditions of one state share boots, those of different states never do.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analysed;
#[macro_use]
mod sizes;

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use analysed::analysed;
use netassay_stats::diagnostics::diagnose;
use netassay_stats::effects::ladder;
use netassay_stats::{
    Analysis, Comparison, Correction, Design, ErrorTerm, Gap, Observation, Question, Verdict,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

in_two_sizes! { 400, 2000, "2,000 experiments, of which the gate makes 400":
    five_percent_are_kept_inside_a_state_and_between_two
    all_comparisons_of_a_study_err_as_one
}

/// States of equally many conditions that do not differ, each with boots of its own; the spread
/// between runs is 1.
#[derive(Clone, Copy, Debug)]
struct World {
    states: usize,
    conditions: usize,
    boots: u32,
    /// The number of runs of a cell; each third has one more if it is ragged.
    runs: usize,
    is_ragged: bool,
    /// sd between boots.
    between: f64,
    /// sd of what a boot does to one of its conditions.
    interaction: f64,
}

const WORLD: World =
    World { states: 2, conditions: 3, boots: 3, runs: 3, is_ragged: false, between: 1.0, interaction: 0.5 };

impl World {
    fn experiment(self, random: &mut ChaCha8Rng) -> Vec<Observation> {
        let mut observations = Vec::new();
        for state in 0..self.states {
            for number in 0..self.boots {
                let boot = state as u32 * self.boots + number + 1;
                let effect = self.between * normal(random);
                for condition in 0..self.conditions {
                    let cell = 100.0 + effect + self.interaction * normal(random);
                    let is_longer = self.is_ragged && (number as usize + condition).is_multiple_of(3);
                    for _ in 0..self.runs + usize::from(is_longer) {
                        let condition = state * self.conditions + condition;
                        observations.push(Observation { condition, boot, value: cell + normal(random) });
                    }
                }
            }
        }
        observations
    }

    /// The share of experiments that satisfy `is_hit`, in %.
    fn share(self, experiments: u32, seed: u64, is_hit: impl Fn(&[Observation]) -> bool) -> f64 {
        self.shares(experiments, seed, |runs| [is_hit(runs)])[0]
    }

    /// The share of experiments that satisfy each of some conditions, in %.
    fn shares<const N: usize>(
        self,
        experiments: u32,
        seed: u64,
        hits: impl Fn(&[Observation]) -> [bool; N],
    ) -> [f64; N] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut counts = [0_u32; N];
        for _ in 0..experiments {
            for (count, is_hit) in counts.iter_mut().zip(hits(&self.experiment(&mut random))) {
                *count += u32::from(is_hit);
            }
        }
        counts.map(|count| 100.0 * f64::from(count) / f64::from(experiments))
    }
}

/// Box and Muller's transformation.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// The deviation of a share of this many experiments from a true one that chance reaches, by the
/// number of its standard deviations; all in %.
fn reach(share: f64, experiments: u32, deviations: f64) -> f64 {
    deviations * (share * (100.0 - share) / f64::from(experiments)).sqrt()
}

/// 99.97 % of shares of so many experiments whose chance is 5 % lie below this: 6.7 % of 2,000.
fn most(experiments: u32) -> f64 {
    5.0 + reach(5.0, experiments, 3.49)
}

/// 99.95 % of shares of so many experiments with a chance of `share` % lie above this.
fn least(share: f64, experiments: u32) -> f64 {
    share - reach(share, experiments, 3.29)
}

fn alone(runs: &[Observation], design: Option<Design>) -> Analysis {
    let question = Question { correction: Correction::None, design, ..Question::against(0) };
    analysed(runs, &question)
}

fn is_proven(one: &Comparison) -> bool {
    matches!(one.verdict, Verdict::Higher | Verdict::Lower)
}

fn run(condition: usize, boot: u32, value: f64) -> Observation {
    Observation { condition, boot, value }
}

/// A split plot by hand: boots are the plots, two states of two conditions, two boots each.
#[test]
fn across_states_the_boots_are_part_of_the_error() {
    let runs = [
        run(0, 1, 10.0),
        run(1, 1, 13.0),
        run(0, 2, 14.0),
        run(1, 2, 15.0),
        run(2, 3, 20.0),
        run(3, 3, 21.0),
        run(2, 4, 22.0),
        run(3, 4, 27.0),
    ];
    let analysis = alone(&runs, None);
    assert_eq!((analysis.design, analysis.error), (Design::Crossed, ErrorTerm::Interaction));
    let [inside, across, _] = analysis.comparisons.as_slice() else { panic!("{analysis:?}") };
    assert_eq!((inside.boots_apart, across.boots_apart), (false, true));
    // Inside a state its own boots: differences 3 and 1, a paired t-test.
    let close = |one: f64, other: f64| (one - other).abs() < 1e-9;
    assert!(close(inside.difference, 2.0) && (inside.df, inside.boots) == (1.0, 2), "{inside:?}");
    assert!(close(inside.standard_error.unwrap(), 1.0), "{inside:?}");
    // Across: the cells' variances are 2 / 2 and 8 / 2. The boots' means 11.5, 14.5 and 20.5, 24.5
    // have mean squares 4.5 and 8, of which cells are half their variance. Means of two boots each.
    let (cells, boots) = ([1.0 / 2.0, 4.0 / 2.0], [(4.5 - 0.5) / 2.0, (8.0 - 2.0) / 2.0]);
    let variance = cells.iter().chain(&boots).sum::<f64>();
    assert!(close(across.difference, 9.0) && across.boots == 2, "{across:?}");
    assert!(close(across.standard_error.unwrap(), variance.sqrt()), "{across:?}");
    // Satterthwaite's degrees of freedom, with one of each mean square.
    let squares =
        cells.map(|cell| cell * cell).iter().sum::<f64>() + (4.5_f64 / 2.0).powi(2) + 4.0_f64.powi(2);
    let df = variance * variance / squares;
    assert!(close(across.df, df), "{} not {df}", across.df);
    // Effects built from the same fit see the same.
    let steps = ladder(&runs, &[0, 2], 0.95).unwrap();
    assert!(close(steps.total.standard_error.unwrap(), across.standard_error.unwrap()));
}

#[test]
fn a_state_of_one_boot_is_not_judged() {
    let runs = [
        run(0, 1, 10.0),
        run(1, 1, 12.0),
        run(0, 2, 14.0),
        run(1, 2, 15.0),
        run(2, 3, 20.0),
        run(3, 3, 21.0),
    ];
    let gaps: Vec<Option<Gap>> = alone(&runs, None).comparisons.iter().map(|one| one.gap).collect();
    assert_eq!(gaps, [None, Some(Gap::OneBoot), Some(Gap::OneBoot)]);
}

#[test]
fn boots_of_one_state_that_spread_more_are_not_pooled() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let world = World { boots: 8, between: 0.0, ..WORLD };
    let mut runs = world.experiment(&mut random);
    for run in runs.iter_mut().filter(|run| run.boot > 8) {
        run.value += if run.boot.is_multiple_of(2) { 30.0 } else { -30.0 };
    }
    let analysis = alone(&runs, None);
    let of = |condition: usize| analysis.comparisons.iter().find(|one| one.condition == condition).unwrap();
    // Inside the quiet state the other's boots do not count; between them Welch's error is the wide
    // state's alone.
    assert!(of(1).standard_error.unwrap() < 1.0 && of(1).df > 7.0, "{:?}", of(1));
    assert!(of(3).standard_error.unwrap() > 10.0 && of(3).df < 7.5, "{:?}", of(3));
    assert!(of(3).relative_interval.is_some());
}

fn five_percent_are_kept_inside_a_state_and_between_two(experiments: u32) {
    let mut seed = 0;
    for (between, interaction) in [(0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (2.0, 0.5), (1.0, 2.0)] {
        for (states, conditions, is_ragged) in [(2, 3, false), (2, 3, true), (3, 2, false)] {
            let world = World { states, conditions, between, interaction, is_ragged, ..WORLD };
            seed += 1;
            // One inside the baseline's state, and one of another.
            let chosen = [1, conditions];
            let shares = world.shares(experiments, seed, |runs| {
                let comparisons = alone(runs, None).comparisons;
                chosen.map(|condition| is_proven(&comparisons[condition - 1]))
            });
            for (condition, share) in chosen.into_iter().zip(shares) {
                // Satterthwaite's approximation is cautious where boots do not differ: there the
                // chance is some 2 %, which leaves 1 % of 2,000.
                let allowed = least(2.04, experiments)..=most(experiments);
                assert!(allowed.contains(&share), "{share} % of condition {condition} in {world:?}");
            }
        }
    }
}

fn all_comparisons_of_a_study_err_as_one(experiments: u32) {
    let any = |runs: &[Observation]| analysed(runs, &Question::against(0)).comparisons.iter().any(is_proven);
    for (seed, between) in [(100, 0.0), (101, 1.0), (102, 3.0)] {
        let share = World { between, ..WORLD }.share(experiments, seed, any);
        // A chance of 1.06 % leaves 0.3 % of 2,000.
        let allowed = least(1.06, experiments)..=most(experiments);
        assert!(allowed.contains(&share), "{share} % with boots {between}");
    }
}

#[test]
fn clean_states_are_flagged_as_seldom_as_any_campaign() {
    for (seed, between) in [(200, 0.0), (201, 2.0)] {
        let world = World { boots: 5, runs: 5, between, interaction: 0.3, ..WORLD };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut flagged, experiments) = (BTreeMap::<String, u32>::new(), 500);
        for _ in 0..experiments {
            let mut kinds: Vec<String> = diagnose(&world.experiment(&mut random))
                .unwrap()
                .iter()
                .map(|flag| format!("{:?}", flag.kind))
                .collect();
            kinds.dedup();
            kinds.into_iter().for_each(|kind| *flagged.entry(kind).or_default() += 1);
        }
        // Each kind flags one in a hundred; 15 of 500 are there once in a thousand times.
        assert!(flagged.values().all(|count| *count < 15), "{flagged:?} with boots {between}");
    }
}

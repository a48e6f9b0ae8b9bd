//! Studies of several conditions of which none differs, or one, and which spread unequally.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;
use stats::distribution::{dunnett, noncentral_t, normal as gauss};
use stats::{Design, Observation};

use crate::random::normal;

/// Of the whole family.
pub(super) const ERROR_RATE: f64 = 0.05;
/// How often the oracle finds the difference that is sought.
pub(super) const POWER: f64 = 0.8;
/// The standard deviation of the logarithm of spreads in public data.
const LOG_SD: f64 = 0.94;
/// Drawn spreads that studies of log-normal spreads take turns with: each needs a critical value of
/// its own.
const DRAWS: u32 = 10;
/// What a boot does to all conditions alike, in units of the quiet spread.
const SHARED: f64 = 3.0;
/// Of ragged studies: the chance that a cell is lost, and the most runs of one that is not.
const LOST: f64 = 0.1;
const MOST_RUNS: u64 = 6;

/// How conditions and boots meet, and what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Layout {
    Nested,
    Crossed,
    /// One cell in ten is lost, the others have 1 to 6 runs.
    NestedRagged,
    CrossedRagged,
}

impl Layout {
    pub(super) const ALL: [Layout; 4] =
        [Layout::Nested, Layout::Crossed, Layout::NestedRagged, Layout::CrossedRagged];

    pub(super) fn name(self) -> &'static str {
        match self {
            Layout::Nested => "nested",
            Layout::Crossed => "crossed",
            Layout::NestedRagged => "nested, ragged",
            Layout::CrossedRagged => "crossed, ragged",
        }
    }

    pub(super) fn is_ragged(self) -> bool {
        matches!(self, Layout::NestedRagged | Layout::CrossedRagged)
    }

    pub(super) fn design(self) -> Design {
        match self {
            Layout::Nested | Layout::NestedRagged => Design::Nested,
            Layout::Crossed | Layout::CrossedRagged => Design::Crossed,
        }
    }
}

/// Which conditions spread how much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Spreads {
    Equal,
    /// The baseline so many times as much as the others.
    Baseline(f64),
    /// Condition 1, the one that may differ, so many times as much.
    Treatment(f64),
    LogNormal,
}

impl Spreads {
    pub(super) const ALL: [Spreads; 8] = [
        Spreads::Equal,
        Spreads::Baseline(2.0),
        Spreads::Baseline(3.0),
        Spreads::Baseline(6.0),
        Spreads::Treatment(2.0),
        Spreads::Treatment(3.0),
        Spreads::Treatment(6.0),
        Spreads::LogNormal,
    ];

    pub(super) fn name(self) -> String {
        match self {
            Spreads::Equal => "equal".to_owned(),
            Spreads::Baseline(times) => format!("baseline x{times}"),
            Spreads::Treatment(times) => format!("treatment x{times}"),
            Spreads::LogNormal => "log-normal".to_owned(),
        }
    }

    /// The standard deviations of cells of one run: one set, or several to take turns with.
    fn sets(self, conditions: usize, seed: u64) -> Vec<Vec<f64>> {
        let one = |place: usize, times: f64| {
            (0..conditions).map(|c| if c == place { times } else { 1.0 }).collect()
        };
        match self {
            Spreads::Equal => vec![vec![1.0; conditions]],
            Spreads::Baseline(times) => vec![one(0, times)],
            Spreads::Treatment(times) => vec![one(1, times)],
            Spreads::LogNormal => {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let set = |random: &mut ChaCha8Rng| {
                    (0..conditions).map(|_| (LOG_SD * normal(random)).exp()).collect()
                };
                (0..DRAWS).map(|_| set(&mut random)).collect()
            }
        }
    }
}

/// A set of spreads, and what an oracle sees in such a study.
#[derive(Debug, Clone)]
struct Known {
    sds: Vec<f64>,
    /// The difference of condition 1 that the oracle finds with its power.
    difference: f64,
    /// The power of the oracle that knows the ratios of the spreads and estimates their common
    /// scale.
    of_ratios: f64,
}

impl Known {
    /// The oracle knows the spreads: its statistics are normal, correlated as the baseline that
    /// they share makes them, and its critical value is exact for them together.
    fn of(sds: Vec<f64>, design: Design, boots: usize) -> Option<Known> {
        let variance = |condition: usize| sds[condition] * sds[condition];
        let lambda = |condition: usize| (variance(0) / (variance(0) + variance(condition))).sqrt();
        let lambdas: Vec<f64> = (1..sds.len()).map(lambda).collect();
        let error = ((variance(0) + variance(1)) / boots as f64).sqrt();
        let (a, b) = (sds.len() as f64, boots as f64);
        let df = match design {
            Design::Nested => a * (b - 1.0),
            Design::Crossed => (a - 1.0) * (b - 1.0),
        };
        let known = dunnett::upper_quantile(ERROR_RATE, &lambdas, f64::INFINITY)?;
        let estimated = dunnett::upper_quantile(ERROR_RATE, &lambdas, df)?;
        let noncentrality = known + gauss::quantile(POWER)?;
        let of_ratios = noncentral_t::sf(estimated, df, noncentrality);
        Some(Known { difference: noncentrality * error, of_ratios, sds })
    }
}

/// Studies of one size and kind.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) layout: Layout,
    pub(super) spreads: Spreads,
    pub(super) conditions: usize,
    pub(super) boots: usize,
    sets: Vec<Known>,
}

impl World {
    /// None where the oracle has no critical value.
    pub(super) fn new(
        layout: Layout,
        spreads: Spreads,
        conditions: usize,
        boots: usize,
        seed: u64,
    ) -> Option<World> {
        let sets = spreads.sets(conditions, seed ^ conditions as u64);
        // What ragged layouts lose is lost to an oracle too, which is not worked out.
        let known = |sds| match layout.is_ragged() {
            true => Some(Known { sds, difference: 0.0, of_ratios: 1.0 }),
            false => Known::of(sds, layout.design(), boots),
        };
        let sets = sets.into_iter().map(known).collect::<Option<Vec<Known>>>()?;
        Some(World { layout, spreads, conditions, boots, sets })
    }

    /// The power of the oracle that knows the ratios of the spreads.
    pub(super) fn of_ratios(&self) -> f64 {
        self.sets.iter().map(|set| set.of_ratios).sum::<f64>() / self.sets.len() as f64
    }

    /// The runs of a study; of condition 1, higher by what the oracle would find, if it `differs`.
    pub(super) fn study(&self, number: u32, differs: bool, random: &mut ChaCha8Rng) -> Vec<Observation> {
        let set = &self.sets[number as usize % self.sets.len()];
        let is_crossed = self.layout.design() == Design::Crossed;
        let common: Vec<f64> = (0..self.boots).map(|_| SHARED * normal(random)).collect();
        let mut observations = Vec::new();
        for (condition, sd) in set.sds.iter().enumerate() {
            let mean = 100.0 + if differs && condition == 1 { set.difference } else { 0.0 };
            for (place, common) in common.iter().enumerate() {
                let boot = if is_crossed { place } else { condition * self.boots + place } as u32;
                let centre = mean + if is_crossed { *common } else { 0.0 };
                if !self.layout.is_ragged() {
                    let value = centre + sd * normal(random);
                    observations.push(Observation { condition, boot, value });
                    continue;
                }
                let (fate, runs) = (share(random), 1 + random.next_u64() % MOST_RUNS);
                // Two boots are left of every condition.
                if fate < LOST && place >= 2 {
                    continue;
                }
                // Half of the variance of a single run is its cell's.
                let half = sd * 0.5_f64.sqrt();
                let cell = centre + half * normal(random);
                let value = |random: &mut ChaCha8Rng| cell + half * normal(random);
                observations.extend((0..runs).map(|_| Observation { condition, boot, value: value(random) }));
            }
        }
        observations
    }
}

/// A number from 0 to below 1.
fn share(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_is_a_z_test_for_two_and_finds_what_it_is_said_to_find() {
        let known = Known::of(vec![3.0, 1.0], Design::Nested, 5).unwrap();
        // z(0.975) + z(0.8), times the error of the difference.
        assert!((known.difference - 2.801_585 * (10.0_f64 / 5.0).sqrt()).abs() < 1e-5, "{known:?}");
        // R: power.t.test(n = 5, delta = 2.801585 * sqrt(2 / 5))$power is 0.690.
        assert!((known.of_ratios - 0.690).abs() < 0.001, "{known:?}");
    }

    #[test]
    fn ragged_studies_keep_two_boots_and_others_all() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for layout in Layout::ALL {
            let world = World::new(layout, Spreads::Baseline(3.0), 4, 10, 1).unwrap();
            let runs = world.study(0, false, &mut random);
            let mut cells: Vec<(usize, u32)> = runs.iter().map(|run| (run.condition, run.boot)).collect();
            cells.dedup();
            assert_eq!(layout.is_ragged(), cells.len() < 40 && runs.len() > 40, "{layout:?}");
            assert!((0..4).all(|condition| cells.iter().filter(|cell| cell.0 == condition).count() >= 2));
        }
    }
}

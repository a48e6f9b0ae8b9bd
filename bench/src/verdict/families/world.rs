//! Studies of several conditions of which none differs, or one, and which spread unequally.

use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use stats::distribution::dunnett::Dunnett;
use stats::distribution::{noncentral_t, normal as gauss};
use stats::{Design, Observation};

use crate::normal::normal;
use crate::verdict::protocol::ERROR_RATE;

const SEED: u64 = 1;
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

/// How conditions and boots meet, and whether something is missing: one cell in ten is lost, the
/// others have 1 to 6 runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) design: Design,
    pub(super) is_ragged: bool,
}

pub(super) const LAYOUTS: [Layout; 4] = [
    Layout { name: "nested", design: Design::Nested, is_ragged: false },
    Layout { name: "crossed", design: Design::Crossed, is_ragged: false },
    Layout { name: "nested, ragged", design: Design::Nested, is_ragged: true },
    Layout { name: "crossed, ragged", design: Design::Crossed, is_ragged: true },
];

/// How many times as much as the others the baseline spreads, and condition 1, the one that may
/// differ; none: log-normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spreads(pub(super) Option<[f64; 2]>);

pub(super) const SPREADS: [Spreads; 8] = [
    Spreads(Some([1.0, 1.0])),
    Spreads(Some([2.0, 1.0])),
    Spreads(Some([3.0, 1.0])),
    Spreads(Some([6.0, 1.0])),
    Spreads(Some([1.0, 2.0])),
    Spreads(Some([1.0, 3.0])),
    Spreads(Some([1.0, 6.0])),
    Spreads(None),
];

impl Spreads {
    pub(super) fn name(self) -> String {
        match self.0 {
            None => "log-normal".to_owned(),
            Some([1.0, 1.0]) => "equal".to_owned(),
            Some([baseline, 1.0]) => format!("baseline x{baseline}"),
            Some([_, treatment]) => format!("treatment x{treatment}"),
        }
    }

    /// The standard deviations of cells of one run: one set, or several to take turns with.
    fn sets(self, conditions: usize) -> Vec<Vec<f64>> {
        let Some([baseline, treatment]) = self.0 else {
            let mut random = ChaCha8Rng::seed_from_u64(SEED ^ conditions as u64);
            let mut set = |_| (0..conditions).map(|_| (LOG_SD * normal(&mut random)).exp()).collect();
            return (0..DRAWS).map(&mut set).collect();
        };
        vec![[baseline, treatment].into_iter().chain(std::iter::repeat(1.0)).take(conditions).collect()]
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
        let known = Dunnett::new(&lambdas, f64::INFINITY)?.upper_quantile(ERROR_RATE)?;
        let estimated = Dunnett::new(&lambdas, df)?.upper_quantile(ERROR_RATE)?;
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
    boots: usize,
    /// Of the random numbers.
    stream: u64,
    sets: Vec<Known>,
}

impl World {
    /// None where the oracle has no critical value.
    pub(super) fn new(layout: Layout, spreads: Spreads, conditions: usize, boots: usize) -> Option<World> {
        // What ragged layouts lose is lost to an oracle too, which is not worked out.
        let known = |sds| match layout.is_ragged {
            true => Some(Known { sds, difference: 0.0, of_ratios: 1.0 }),
            false => Known::of(sds, layout.design, boots),
        };
        let sets = spreads.sets(conditions).into_iter().map(known).collect::<Option<Vec<Known>>>()?;
        let place = |found: Option<usize>| found.unwrap_or_default() as u64;
        let size = place(LAYOUTS.iter().position(|one| *one == layout)) << 16 | (conditions as u64) << 8;
        let stream =
            (size | boots as u64) << 40 | place(SPREADS.iter().position(|one| *one == spreads)) << 34;
        Some(World { layout, spreads, boots, stream, sets })
    }

    /// The power of the oracle that knows the ratios of the spreads.
    pub(super) fn of_ratios(&self) -> f64 {
        self.sets.iter().map(|set| set.of_ratios).sum::<f64>() / self.sets.len() as f64
    }

    /// The runs of a study; of condition 1, higher by what the oracle would find, if it `differs`.
    pub(super) fn study(&self, number: u32, differs: bool) -> Vec<Observation> {
        // A stream for each study of each world.
        let random = &mut ChaCha8Rng::seed_from_u64(SEED);
        random.set_stream(self.stream | u64::from(differs) << 33 | u64::from(number));
        let set = &self.sets[number as usize % self.sets.len()];
        let is_crossed = self.layout.design == Design::Crossed;
        let common: Vec<f64> = (0..self.boots).map(|_| SHARED * normal(random)).collect();
        let mut observations = Vec::new();
        for (condition, sd) in set.sds.iter().enumerate() {
            let mean = 100.0 + if differs && condition == 1 { set.difference } else { 0.0 };
            for (place, common) in common.iter().enumerate() {
                let boot = if is_crossed { place } else { condition * self.boots + place } as u32;
                let centre = mean + if is_crossed { *common } else { 0.0 };
                if !self.layout.is_ragged {
                    let value = centre + sd * normal(random);
                    observations.push(Observation { condition, boot, value });
                    continue;
                }
                let (fate, runs) = (random.random::<f64>(), 1 + random.next_u64() % MOST_RUNS);
                // Two boots are left of every condition.
                if fate < LOST && place >= 2 {
                    continue;
                }
                // Half of the variance of a single run is its cell's.
                let half = sd * 0.5_f64.sqrt();
                let cell = centre + half * normal(random);
                let mut run = |_| Observation { condition, boot, value: cell + half * normal(random) };
                observations.extend((0..runs).map(&mut run));
            }
        }
        observations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_is_a_z_test_for_two_and_finds_what_it_should() {
        let known = Known::of(vec![3.0, 1.0], Design::Nested, 5).unwrap();
        // z(0.975) + z(0.8), times the error of the difference.
        assert!((known.difference - 2.801_585 * (10.0_f64 / 5.0).sqrt()).abs() < 1e-5, "{known:?}");
        // R: power.t.test(n = 5, delta = 2.801585 * sqrt(2 / 5))$power is 0.690.
        assert!((known.of_ratios - 0.690).abs() < 0.001, "{known:?}");
    }

    #[test]
    fn ragged_studies_keep_two_boots_and_others_all() {
        for layout in LAYOUTS {
            let runs = World::new(layout, Spreads(Some([3.0, 1.0])), 4, 10).unwrap().study(0, false);
            let mut cells: Vec<(usize, u32)> = runs.iter().map(|run| (run.condition, run.boot)).collect();
            cells.dedup();
            assert_eq!(layout.is_ragged, cells.len() < 40 && runs.len() > 40, "{layout:?}");
            assert!((0..4).all(|condition| cells.iter().filter(|cell| cell.0 == condition).count() >= 2));
        }
    }
}

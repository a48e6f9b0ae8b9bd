//! Percentile bootstraps of a difference.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use stats::Design;

use super::world::ALPHA;

/// Resampled differences of one decision, the usual number.
pub(super) const RESAMPLES: u32 = 1000;

/// The runs of two conditions, each boot by boot.
pub(super) struct Pair<'a> {
    pub(super) baseline: &'a [f64],
    pub(super) treated: &'a [f64],
    /// Runs of a condition in a boot.
    pub(super) runs: usize,
    pub(super) design: Design,
}

impl Pair<'_> {
    /// The runs of each condition drawn again with replacement, as if each were independent of all
    /// others.
    pub(super) fn runs_differ(&self, random: &mut ChaCha8Rng) -> bool {
        let mut places = Places { random, spare: None };
        is_outside(|| {
            let mut mean =
                |values: &[f64]| (0..values.len()).map(|_| values[places.draw(values.len())]).sum::<f64>();
            mean(self.treated) - mean(self.baseline)
        })
    }

    /// Boots drawn with replacement, and in each drawn boot its runs. In a crossed design a boot
    /// brings both conditions.
    pub(super) fn boots_differ(&self, random: &mut ChaCha8Rng) -> bool {
        let boots = self.baseline.len() / self.runs;
        let mut places = Places { random, spare: None };
        is_outside(|| {
            let mut sum = 0.0;
            for _ in 0..boots {
                let boot = places.draw(boots);
                let other = if self.design == Design::Crossed { boot } else { places.draw(boots) };
                for (values, boot, sign) in [(self.treated, boot, 1.0), (self.baseline, other, -1.0)] {
                    let values = &values[boot * self.runs..(boot + 1) * self.runs];
                    let drawn: f64 = (0..self.runs).map(|_| values[places.draw(self.runs)]).sum();
                    sum += sign * drawn;
                }
            }
            sum
        })
    }
}

/// Whether zero lies outside the percentile interval of the resampled differences: fewer than α/2
/// of them are on one side of it. Stops as soon as both sides have too many for that.
fn is_outside(mut difference: impl FnMut() -> f64) -> bool {
    let enough = (f64::from(RESAMPLES) * ALPHA / 2.0).ceil() as u32;
    let (mut above, mut below) = (0, 0);
    for _ in 0..RESAMPLES {
        let difference = difference();
        above += u32::from(difference >= 0.0);
        below += u32::from(difference <= 0.0);
        if above >= enough && below >= enough {
            return false;
        }
    }
    true
}

/// Random places, two from each random number of 64 bits.
struct Places<'a> {
    random: &'a mut ChaCha8Rng,
    spare: Option<u32>,
}

impl Places<'_> {
    /// A place below `count`, which is less than 2^32; the high half of a product is as even as
    /// 2^32 numbers allow.
    fn draw(&mut self, count: usize) -> usize {
        let half = self.spare.take().unwrap_or_else(|| {
            let both = self.random.next_u64();
            self.spare = Some((both >> 32) as u32);
            both as u32
        });
        ((u64::from(half) * count as u64) >> 32) as usize
    }
}

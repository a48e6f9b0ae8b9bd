//! The chance that a sequence of t statistics crosses its bounds, exactly.
//!
//! At a look with n boots the standardised sum Z of the differences is normal and the error's sum
//! of squares E is chi-squared with ν = m (n - 1) degrees of freedom; m is what each boot adds, 1
//! in a paired comparison. Write T = √ν tan θ, so that sin θ = Z / √(Z² + E). Without a difference
//! θ is independent of the length √(Z² + E) (Basu), so the angles are a Markov chain with the steps
//!
//! sin θ' = √f √B sin θ + √(1 - f) √(1 - B) sin φ,
//!
//! where f = n / n', B is the old boots' share of the new length (a beta variable of shapes
//! (ν + 1) / 2 and (g + 1) / 2), φ has a density in proportion to cos^(g-1), and g = ν' - ν - 1.
//! This is a linear function on a sphere. In coordinates around its axis (√f sin θ, √(1 - f)) one
//! integral over the latitude is left; that over the longitude is a function of one variable, which
//! the bounds do not change. In sums and sums of squares it is the recursion of Jennison and
//! Turnbull, Biometrika 78 (1991).

use std::f64::consts::{FRAC_PI_2, PI};

use statrs::function::beta::beta;

use crate::distribution::numeric::{LogDensity, Polynomial, gauss_legendre};
use crate::distribution::student;

// From this many added degrees of freedom on, the bend does not matter.
const SMOOTH: f64 = 3.0;
// A density below this is negligible.
const NOTHING: f64 = 1e-30;
// A panel's width, in standard deviations of the integrand.
const PANEL: f64 = 2.5;

pub(super) struct Sequence {
    df: Vec<f64>,
    steps: Vec<LookStep>,
}

impl Sequence {
    /// Looks after these numbers of boots, ascending from at least 2, where each boot adds
    /// `df_per_boot` >= 1 degrees of freedom.
    pub(super) fn new(boots: &[u32], df_per_boot: f64) -> Sequence {
        let df = |boots: u32| df_per_boot * (f64::from(boots) - 1.0);
        let step = |pair: &[u32]| {
            let fraction = f64::from(pair[0]) / f64::from(pair[1]);
            LookStep::new(fraction, df(pair[0]), (df(pair[1]) - df(pair[0]) - 1.0).max(0.0))
        };
        let steps = boots.windows(2).map(step).collect();
        Sequence { df: boots.iter().map(|boots| df(*boots)).collect(), steps }
    }

    /// The chance that |T| exceeds its quantile at any look without a difference, for these
    /// two-sided levels.
    pub(super) fn crossed(&self, levels: &[f64]) -> f64 {
        let angles: Vec<f64> = self.df.iter().zip(levels).map(|(df, level)| angle(*level, *df)).collect();
        let (Some(first), Some(df)) = (angles.first(), self.df.first()) else { return 0.0 };
        let mut later = Survival::new(1.0, 0.0, |_| 1.0);
        for (step, bounds) in self.steps.iter().zip(angles.windows(2)).rev() {
            let bend = step.bend(bounds[1]);
            later = Survival::new(bounds[0].sin(), bend, |from| step.survives(from, bounds[1], &later));
        }
        let density = |at: f64| at.cos().powf(df - 1.0) * later.value(at.sin());
        let integral = later.panels(1.0, (0.0, *first), df.sqrt().recip(), density);
        1.0 - 2.0 * integral / beta(0.5, 0.5 * df)
    }
}

/// The bound on θ for this level of |T|.
fn angle(level: f64, df: f64) -> f64 {
    student::upper_quantile(0.5 * level, df).map_or(FRAC_PI_2, |t| (t / df.sqrt()).atan())
}

struct LookStep {
    /// The share of the earlier boots.
    fraction: f64,
    /// The earlier degrees of freedom.
    df: f64,
    /// The added degrees of freedom, without that of the new boots' mean.
    added: f64,
    /// The integral over the density without bounds.
    whole: f64,
    /// The integral over the longitude, by the logarithm of half its variable, below and above 0.
    longitude: [LogDensity; 2],
}

impl LookStep {
    fn new(fraction: f64, df: f64, added: f64) -> LookStep {
        let whole = 0.5 * beta(0.5 * (df + 1.0), 0.5 * (added + 1.0));
        LookStep { fraction, df, added, whole, longitude: Default::default() }
    }

    /// The chance that no later bound is crossed, from sin θ = `from` on, if the next bound is
    /// `angle` and the chances after it are `later`.
    fn survives(&self, from: f64, angle: f64, later: &Survival) -> f64 {
        let (along, across) = (self.fraction.sqrt() * from, (1.0 - self.fraction).sqrt());
        let (length, axis) = (along.hypot(across), along.atan2(across));
        let latitude = (angle.sin() / length).min(1.0).asin();
        let sd = across / (length * (self.df + self.added + 1.0).sqrt());
        let density = |at: f64| {
            let ratio = 1.0 + at.tan() * axis.tan();
            let weight = (at - axis).cos().max(0.0).powf(self.df) * at.cos().powf(self.added);
            if weight < NOTHING || ratio <= 0.0 {
                return 0.0;
            }
            weight * self.over_longitudes(ratio) * later.value(length * at.sin())
        };
        let range = ((-latitude).max(axis - FRAC_PI_2), latitude);
        later.panels(length, range, sd, density) / self.whole
    }

    /// The sin θ from which the next bound `angle` can be crossed upwards, if not from everywhere.
    fn bend(&self, angle: f64) -> f64 {
        if self.added > SMOOTH {
            // With more boots the function is smoother there.
            return 0.0;
        }
        ((angle.sin().powi(2) - (1.0 - self.fraction)).max(0.0) / self.fraction).sqrt()
    }

    /// The mean of (1 - (1 - cos χ) / `ratio`)^ν, as far as it is positive, over longitudes χ with
    /// a density in proportion to sin^(g-1).
    fn over_longitudes(&self, ratio: f64) -> f64 {
        // The only bend is at a ratio of 2, where this is 0.
        let place = (0.5 * ratio).ln();
        let mean = |at: f64| mean_power(2.0 * at.exp(), self.df, self.added);
        if place < 0.0 {
            self.longitude[0].value(-place, |at| mean(-at))
        } else {
            self.longitude[1].value(place, mean)
        }
    }
}

fn mean_power(ratio: f64, power: f64, added: f64) -> f64 {
    let share = |half_sine: f64| (1.0 - 2.0 * half_sine * half_sine / ratio).max(0.0).powf(power);
    if added < 1e-9 {
        // All of the density is at both ends.
        return 0.5 * (1.0 + share(1.0));
    }
    // In p = χ^g, or (π - χ)^g, a density that is infinite at the ends becomes finite.
    let bend = added.min(1.0);
    let end = if ratio < 2.0 { 2.0 * (0.5 * ratio).sqrt().asin() } else { PI };
    let side = |from: f64, to: f64, longitude: &dyn Fn(f64) -> f64| {
        let sd = (to - from) / (1.0 + 2.0 * (power + added)).sqrt();
        panels(from.powf(bend), to.powf(bend), sd.powf(bend), |p| {
            let angle = p.powf(1.0 / bend);
            let weight = (angle.sin() / angle).powf(added - 1.0) * angle.powf(added - bend) / bend;
            weight * share((0.5 * longitude(angle)).sin())
        })
    };
    let near = side(0.0, end.min(FRAC_PI_2), &|angle| angle);
    let far = if end > FRAC_PI_2 { side(PI - end, FRAC_PI_2, &|angle| PI - angle) } else { 0.0 };
    (near + far) / beta(0.5, 0.5 * added)
}

/// The chance that nothing is crossed any more, by sin θ: polynomials in its square below a bend,
/// and above it, where it goes on with a root, in the root of the square's excess.
struct Survival {
    bend: f64,
    bound: f64,
    below: Polynomial,
    /// None where nothing is above.
    above: Option<Polynomial>,
}

impl Survival {
    fn new(bound: f64, bend: f64, chance: impl Fn(f64) -> f64) -> Survival {
        // A bend at 0 or beyond the bound is none.
        let bend = if bend > 0.0 { bend.min(bound) } else { bound };
        let chance_above =
            |share: f64| chance((bend * bend + share * share * (bound * bound - bend * bend)).sqrt());
        let above = (bend < bound).then(|| Polynomial::through(chance_above));
        Survival { bend, bound, below: Polynomial::through(|share| chance(bend * share.sqrt())), above }
    }

    fn value(&self, sine: f64) -> f64 {
        let (square, bend) = (sine * sine, self.bend * self.bend);
        match &self.above {
            Some(above) if square > bend => {
                above.value(((square - bend) / (self.bound * self.bound - bend)).min(1.0).sqrt())
            }
            _ => self.below.value((square / bend).min(1.0)),
        }
    }

    /// The integral over latitudes of `f`, which takes this at `length` times their sine; its
    /// features are as wide as `sd`.
    fn panels(&self, length: f64, range: (f64, f64), sd: f64, f: impl Fn(f64) -> f64) -> f64 {
        let bend = (self.bend / length).min(1.0).asin();
        let ends = [range.0, -bend, bend, range.1].map(|end| end.clamp(range.0, range.1.max(range.0)));
        ends.windows(2).map(|ends| panels(ends[0], ends[1], sd, &f)).sum()
    }
}

fn panels(from: f64, to: f64, sd: f64, f: impl Fn(f64) -> f64) -> f64 {
    if to <= from {
        return 0.0;
    }
    let count = ((to - from) / (PANEL * sd)).ceil().clamp(1.0, 1000.0);
    gauss_legendre(from, to, count).map(|(at, weight)| weight * f(at)).sum()
}

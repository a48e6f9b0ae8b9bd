//! Integrals over the line and over a chi distribution, by the trapezoidal rule.
//!
//! For analytic integrands that vanish at both ends the rule converges exponentially: each halving
//! of the step doubles the number of correct digits (Trefethen and Weideman, SIAM Review 56, 2014).
//! So if two sums agree to 9 digits or more, their average has nearly all digits of a double.

use std::f64::consts::PI;
use std::sync::LazyLock;

use super::incomplete::stirling;

/// Terms below this share of the sum end it.
const NEGLIGIBLE: f64 = 1e-18;
/// The agreement of two sums at which their average is taken; inside another integral less is
/// enough.
const AGREEMENT: f64 = 1e-11;
const AGREEMENT_INSIDE: f64 = 1e-9;
const HALVINGS: u32 = 12;
/// From here on a chi distribution counts as a point: the results differ by less than 1e-11.
const POINT: f64 = 1e13;

/// An integral, and beside it another over the same nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pair(pub(crate) f64, pub(crate) f64);

impl Pair {
    fn plus(self, other: Pair) -> Pair {
        Pair(self.0 + other.0, self.1 + other.1)
    }

    fn times(self, factor: f64) -> Pair {
        Pair(self.0 * factor, self.1 * factor)
    }
}

/// The integrals over the whole line of two functions. The first decides the range: it has one
/// peak, and at 0 it is not zero (or it is zero everywhere).
fn line(step: f64, f: impl Fn(f64) -> Pair) -> Pair {
    refined(step, AGREEMENT, |step, phase| {
        let side = |first: f64, stride: f64, mut sum: Pair| {
            let mut before = 0.0;
            let mut at = first;
            loop {
                let term = f(at * step);
                sum = sum.plus(term);
                let is_over = term.0 <= before && term.0 <= NEGLIGIBLE * sum.0;
                if is_over || !term.0.is_finite() {
                    return sum;
                }
                before = term.0;
                at += stride;
            }
        };
        let right = side(phase, 1.0, Pair::default());
        side(phase - 1.0, -1.0, right)
    })
}

/// Twice the integral from 0 of the even function `f`, which vanishes beyond its peaks, all below
/// `peaks`.
pub(crate) fn inner_even_line(step: f64, peaks: f64, f: impl Fn(f64) -> f64) -> f64 {
    let sum = refined(step, AGREEMENT_INSIDE, |step, phase| {
        let (mut at, mut sum) = if phase == 0.0 { (1.0, 0.5 * f(0.0)) } else { (phase, 0.0) };
        loop {
            let term = f(at * step);
            sum += term;
            let is_over = at * step > peaks && term <= NEGLIGIBLE * sum;
            if is_over || !term.is_finite() {
                return Pair(2.0 * sum, 0.0);
            }
            at += 1.0;
        }
    });
    sum.0
}

/// Halves the step until the sums over the grid and over its midpoints agree. `sum` takes the step
/// and the grid's phase.
fn refined(step: f64, agreement: f64, sum: impl Fn(f64, f64) -> Pair) -> Pair {
    let mut step = step;
    let mut value = sum(step, 0.0).times(step);
    for _ in 0..HALVINGS {
        let middle = sum(step, 0.5).times(step);
        let average = value.plus(middle).times(0.5);
        let is_agreed = (value.0 - middle.0).abs() <= agreement * average.0.abs();
        value = average;
        if is_agreed || !value.0.is_finite() {
            break;
        }
        step /= 2.0;
    }
    value
}

/// The expectation of `f`(S) where S^2 is chi-squared with `df` degrees of freedom, divided by
/// them, and its integrand peaks near S = e^`centre`; and the derivative by ln d of the expectation
/// of `f`(d S), at d = 1.
///
/// `scale` is the difference of ln S over which `f` changes much.
pub(crate) fn over_chi(df: f64, centre: f64, scale: f64, f: impl Fn(f64) -> f64) -> Pair {
    if df >= POINT {
        let ends = (f(1.0 + 1e-5), f(1.0 - 1e-5));
        return Pair(f(1.0), (ends.0 - ends.1) / 2e-5);
    }
    let step = 0.25_f64.min(0.7 / df.sqrt()).min(scale);
    // The density of u = ln S is sqrt(v / π) e^(-δ(v / 2)) e^(-v / 2 (e^(2 u) - 1 - 2 u)) with v =
    // `df` and δ the remainder of Stirling's formula; its derivative by u is v (1 - e^(2 u)) times
    // itself.
    let ln_scale = 0.5 * (df / PI).ln() - stirling(0.5 * df);
    // The range in which the density of u is above e^-200: the peak is there, or the integral is
    // negligible.
    let lowest = if df < 200.0 { -200.0 / df } else { -(200.0 / df).sqrt() };
    let centre = centre.clamp(lowest, 0.5 * (200.0 / df).ln_1p());
    line(step, |t| {
        // The density vanishes to the left as e^(v u) only; in t it vanishes faster than any
        // exponential.
        let bend = 0.25 * (-t).exp();
        let u = centre + t - (bend - 0.25);
        let weight = (ln_scale - 0.5 * df * exp_excess(2.0 * u)).exp() * (1.0 + bend);
        if weight == 0.0 {
            return Pair::default();
        }
        let value = weight * f(u.exp());
        Pair(value, df * (2.0 * u).exp_m1() * value)
    })
}

/// Nodes of each panel of [`gauss_legendre`].
pub(crate) const NODES: usize = 12;

/// The Gauss-Legendre rule (DLMF 3.5.v), which is exact for polynomials up to the degree 2
/// [`NODES`] - 1: nodes and weights on [-1, 1].
static RULE: LazyLock<[(f64, f64); NODES]> = LazyLock::new(|| {
    let all = NODES as f64;
    std::array::from_fn(|i| {
        let mut x = (PI * (i as f64 + 0.75) / (all + 0.5)).cos();
        let mut slope = 1.0;
        // Newton's method settles within 6 steps from there.
        for _ in 0..10 {
            let (mut before, mut legendre) = (1.0, x);
            for n in 2..=NODES {
                let n = n as f64;
                (before, legendre) = (legendre, ((2.0 * n - 1.0) * x * legendre - (n - 1.0) * before) / n);
            }
            slope = all * (x * legendre - before) / (x * x - 1.0);
            x -= legendre / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
});

/// The nodes and weights of the rule between `from` and `to`, in `panels` equal panels.
pub(crate) fn gauss_legendre(from: f64, to: f64, panels: f64) -> impl Iterator<Item = (f64, f64)> {
    let (rule, half) = (&*RULE, 0.5 * (to - from) / panels);
    (0..panels as usize).flat_map(move |panel| {
        let middle = from + half * (2.0 * panel as f64 + 1.0);
        rule.iter().map(move |(node, weight)| (middle + half * node, half * weight))
    })
}

/// e^x - 1 - x.
fn exp_excess(x: f64) -> f64 {
    if x.abs() > 0.1 {
        return x.exp_m1() - x;
    }
    let mut term = 0.5 * x * x;
    let mut sum = 0.0;
    let mut n = 3.0;
    while term.abs() > 1e-18 * f64::abs(sum) {
        sum += term;
        term *= x / n;
        n += 1.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::distribution::normal;

    /// A quantile of the largest family takes some ten expectations over a chi distribution, each
    /// of whose points is a line integral: this bounds its work.
    #[test]
    fn integrals_take_few_evaluations() {
        let count = Cell::new(0);
        let counted = |value: f64| {
            count.set(count.get() + 1);
            value
        };
        for df in [1.0, 16.0, 1e6] {
            count.set(0);
            over_chi(df, 0.0, 0.2, |s| counted(normal::sf(3.0 * s)));
            assert!(count.get() <= 500, "{df}: {}", count.get());
        }
        for peaks in [0.0, 3.0, 30.0] {
            count.set(0);
            inner_even_line(0.5, peaks, |z| counted(normal::density(z)));
            assert!(count.get() <= 500, "{peaks}: {}", count.get());
        }
    }
}

//! Integrals over the line and over a chi distribution, by the trapezoidal rule.
//!
//! For analytic integrands that vanish at both ends the rule converges exponentially: each halving
//! of the step doubles the number of correct digits (Trefethen and Weideman, SIAM Review 56, 2014).
//! So if two sums agree to 9 digits or more, their average has nearly all digits of a double.

use std::cell::RefCell;
use std::f64::consts::PI;
use std::sync::LazyLock;

use crate::distribution::special::{Tails, stirling};

// Terms below this share of the sum end it.
const NEGLIGIBLE: f64 = 1e-18;
// The agreement of two sums at which their average is taken; inside another integral less is
// enough.
const AGREEMENT: f64 = 1e-11;
const AGREEMENT_INSIDE: f64 = 1e-9;
const HALVINGS: u32 = 12;
// From here on a chi distribution counts as a point: the results differ by less than 1e-11.
const POINT: f64 = 1e13;

/// The values of two integrands, or of their integrals.
pub(crate) type Both = [f64; 2];

fn plus(one: Both, other: Both) -> Both {
    [one[0] + other[0], one[1] + other[1]]
}

/// The integrals over the whole line of two functions. The first decides the range: it has one
/// peak, and at 0 it is not zero (or it is zero everywhere).
fn line(step: f64, f: impl Fn(f64) -> Both) -> Both {
    refined(step, AGREEMENT, |step, phase| {
        let side = |first: f64, stride: f64, mut sum: Both| {
            let mut before = 0.0;
            let mut at = first;
            loop {
                let term = f(at * step);
                sum = plus(sum, term);
                let is_over = term[0] <= before && term[0] <= NEGLIGIBLE * sum[0];
                if is_over || !term[0].is_finite() {
                    return sum;
                }
                before = term[0];
                at += stride;
            }
        };
        let right = side(phase, 1.0, [0.0; 2]);
        side(phase - 1.0, -1.0, right)
    })
}

/// Twice the integral from 0 of the even function `f`, which vanishes beyond its peaks, all below
/// `peaks`.
pub(crate) fn inner_even_line(step: f64, peaks: f64, f: impl Fn(f64) -> f64) -> f64 {
    let [sum, _] = refined(step, AGREEMENT_INSIDE, |step, phase| {
        let (mut at, mut sum) = if phase == 0.0 { (1.0, 0.5 * f(0.0)) } else { (phase, 0.0) };
        loop {
            let term = f(at * step);
            sum += term;
            let is_over = at * step > peaks && term <= NEGLIGIBLE * sum;
            if is_over || !term.is_finite() {
                return [2.0 * sum, 0.0];
            }
            at += 1.0;
        }
    });
    sum
}

/// Halves the step until the sums over the grid and over its midpoints agree. `sum` takes the step
/// and the grid's phase.
fn refined(step: f64, agreement: f64, sum: impl Fn(f64, f64) -> Both) -> Both {
    let mut step = step;
    let mut value = sum(step, 0.0).map(|sum| sum * step);
    for _ in 0..HALVINGS {
        let middle = sum(step, 0.5).map(|sum| sum * step);
        let average = plus(value, middle).map(|sum| sum * 0.5);
        let is_agreed = (value[0] - middle[0]).abs() <= agreement * average[0].abs();
        value = average;
        if is_agreed || !value[0].is_finite() {
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
pub(crate) fn over_chi(df: f64, centre: f64, scale: f64, f: impl Fn(f64) -> f64) -> Both {
    if df >= POINT {
        let ends = (f(1.0 + 1e-5), f(1.0 - 1e-5));
        return [f(1.0), (ends.0 - ends.1) / 2e-5];
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
            return [0.0; 2];
        }
        let value = weight * f(u.exp());
        [value, df * (2.0 * u).exp_m1() * value]
    })
}

// Nodes of each panel of [`gauss_legendre`].
pub(crate) const NODES: usize = 12;

// The Gauss-Legendre rule (DLMF 3.5.v), which is exact for polynomials up to the degree 2
// [`NODES`] - 1: nodes and weights on [-1, 1].
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

const TERMS: usize = 20;

/// A polynomial of degree `TERMS` - 1 on [0, 1], by its Chebyshev coefficients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polynomial([f64; TERMS]);

impl Polynomial {
    pub(crate) fn through(f: impl Fn(f64) -> f64) -> Polynomial {
        let angle = |j: usize| PI * (j as f64 + 0.5) / TERMS as f64;
        let values: [f64; TERMS] = std::array::from_fn(|j| f(0.5 * (1.0 + angle(j).cos())));
        Polynomial(std::array::from_fn(|m| {
            let sum: f64 = (0..TERMS).map(|j| values[j] * (m as f64 * angle(j)).cos()).sum();
            sum * if m == 0 { 1.0 } else { 2.0 } / TERMS as f64
        }))
    }

    /// Its value at `share`, by Clenshaw's recurrence (DLMF 3.11.15).
    pub(crate) fn value(&self, share: f64) -> f64 {
        let t = 2.0 * share - 1.0;
        let (mut next, mut after) = (0.0, 0.0);
        for coefficient in self.0[1..].iter().rev() {
            (next, after) = (coefficient + 2.0 * t * next - after, next);
        }
        self.0[0] + t * next - after
    }
}

// Within half a unit ln f is such a polynomial to 1e-13 or better, if f is the upper tail of the
// largest of normal variables: its singularities are at least half a unit from the line.
const WIDTH: f64 = 0.5;
// From here on f counts as 0: the largest of a few thousand normal variables, or their range, has
// a tail below 1e-130.
const END: f64 = 36.0;

/// ln f in the used cells of the half-line.
#[derive(Debug, Default)]
pub(crate) struct LogDensity(RefCell<Vec<Option<Polynomial>>>);

impl LogDensity {
    /// `f`(`x`), where `f` is always the same, positive, smooth on the scale above, and negligible
    /// beyond its end; `x` is not negative.
    pub(crate) fn value(&self, x: f64, f: impl Fn(f64) -> f64) -> f64 {
        if x >= END {
            return 0.0;
        }
        let cell = (x / WIDTH) as usize;
        let mut cells = self.0.borrow_mut();
        if cells.len() <= cell {
            cells.resize(cell + 1, None);
        }
        let low = cell as f64 * WIDTH;
        let ln = cells[cell].get_or_insert_with(|| Polynomial::through(|share| f(low + WIDTH * share).ln()));
        ln.value((x - low) / WIDTH).exp()
    }
}

/// The point where the lower tail is `p` and the upper one `q`, as the logarithm that `tails`
/// takes.
pub(crate) fn solve(p: f64, q: f64, start: f64, tails: impl Fn(f64) -> Tails) -> f64 {
    // Newton's method on the logarithm of the smaller tail. The distributions of ln X (X gamma) and
    // of ln(X / (1 - X)) (X beta) have log-concave densities, so both log-tails are concave: after
    // its first step the method approaches the root from one side and cannot leave it.
    let step = |at: f64| {
        let Tails { lower, upper, slope } = tails(at);
        if p < q { (lower / p).ln() * lower / -slope } else { (upper / q).ln() * upper / slope }
    };
    let mut at = start;
    let mut next = step(at);
    for _ in 0..200 {
        // Only the first step can lead to where the tail underflows.
        let mut beyond = step(at + next);
        for _ in 0..60 {
            if beyond.is_finite() {
                break;
            }
            next /= 2.0;
            beyond = step(at + next);
        }
        at += next;
        next = beyond;
        // It converges quadratically: the next step would be below the rounding.
        if next.abs() <= 1e-11 {
            return at + next;
        }
    }
    at
}

/// The zero of `f`, which falls from `first` to `last`: the secant, kept inside the bracket (the
/// Illinois form of regula falsi: Dowell and Jarratt, BIT 11, 1971). The nearer end, if there is
/// none.
pub(crate) fn bracketed(first: f64, last: f64, f: impl Fn(f64) -> f64) -> f64 {
    let negligible = 1e-13 * (last - first).abs();
    let (mut from, mut to) = ((first, f(first)), (last, f(last)));
    if from.1 <= 0.0 {
        return first;
    }
    if to.1 >= 0.0 {
        return last;
    }
    let mut before = first;
    let mut was_above = None;
    for _ in 0..200 {
        let at = (from.0 * to.1 - to.0 * from.1) / (to.1 - from.1);
        let value = f(at);
        if value == 0.0 || (at - before).abs() <= negligible.max(1e-13 * at.abs()) {
            return at;
        }
        before = at;
        let is_above = value > 0.0;
        let is_again = was_above == Some(is_above);
        was_above = Some(is_above);
        let (near, other) = if is_above { (&mut from, &mut to) } else { (&mut to, &mut from) };
        *near = (at, value);
        if is_again {
            other.1 /= 2.0;
        }
    }
    before
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

#[cfg(test)]
mod solve_tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_root_takes_few_evaluations() {
        let count = Cell::new(0);
        let root = bracketed(0.0, 8.0, |x| {
            count.set(count.get() + 1);
            2.0 - x.powi(3)
        });
        assert!((root - 2.0_f64.cbrt()).abs() < 1e-12, "{root}");
        assert!(count.get() <= 40, "{} evaluations", count.get());
    }
}

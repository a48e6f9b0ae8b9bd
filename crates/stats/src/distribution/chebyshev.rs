//! Approximates expensive functions by polynomials (DLMF 3.11.ii).

use std::cell::RefCell;
use std::f64::consts::PI;

const TERMS: usize = 20;

/// A polynomial of degree `TERMS` - 1 on [0, 1], by its Chebyshev coefficients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polynomial([f64; TERMS]);

impl Polynomial {
    /// The polynomial through `f` at Chebyshev's nodes.
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

/// Within half a unit ln f is such a polynomial to 1e-13 or better, if f is the upper tail of the
/// largest of normal variables: its singularities are at least half a unit from the line.
const WIDTH: f64 = 0.5;
/// From here on f counts as 0: the largest of a few thousand normal variables, or their range, has
/// a tail below 1e-130.
const END: f64 = 36.0;

/// ln f in the used cells of the half-line.
#[derive(Debug, Default)]
pub(crate) struct Curve(RefCell<Vec<Option<Polynomial>>>);

impl Curve {
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

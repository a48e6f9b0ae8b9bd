//! A function that is dear to compute, from polynomials.

use std::cell::RefCell;
use std::f64::consts::PI;

/// Within half a unit ln f is a polynomial of degree `TERMS` - 1 to 1e-13 or better, if f is the
/// upper tail of the largest of normal variables: its singularities lie at least half a unit away
/// from the line.
const WIDTH: f64 = 0.5;
const TERMS: usize = 20;
/// From here on f is taken for 0: the largest of a few thousand normal variables, or their range,
/// is below 1e-130 there.
const END: f64 = 36.0;

/// The Chebyshev coefficients of ln f in each cell of the half-line that was asked about.
#[derive(Debug, Default)]
pub(crate) struct Curve {
    cells: RefCell<Vec<Option<[f64; TERMS]>>>,
}

impl Curve {
    /// `f`(`x`), where `f` is always the same, positive, and smooth on the scale that is said
    /// above, and nothing beyond its end; `x` is not negative.
    pub(crate) fn at(&self, x: f64, f: impl Fn(f64) -> f64) -> f64 {
        if x >= END {
            return 0.0;
        }
        let cell = (x / WIDTH) as usize;
        let mut cells = self.cells.borrow_mut();
        if cells.len() <= cell {
            cells.resize(cell + 1, None);
        }
        let low = cell as f64 * WIDTH;
        let coefficients = cells[cell].get_or_insert_with(|| {
            let angle = |j: usize| PI * (j as f64 + 0.5) / TERMS as f64;
            let values: [f64; TERMS] =
                std::array::from_fn(|j| f(low + 0.5 * WIDTH * (1.0 + angle(j).cos())).ln());
            std::array::from_fn(|m| {
                let sum: f64 = (0..TERMS).map(|j| values[j] * (m as f64 * angle(j)).cos()).sum();
                sum * if m == 0 { 1.0 } else { 2.0 } / TERMS as f64
            })
        });
        // Clenshaw's recurrence (DLMF 3.11.15).
        let t = 2.0 * (x - low) / WIDTH - 1.0;
        let (mut next, mut after) = (0.0, 0.0);
        for coefficient in coefficients[1..].iter().rev() {
            (next, after) = (coefficient + 2.0 * t * next - after, next);
        }
        (coefficients[0] + t * next - after).exp()
    }
}

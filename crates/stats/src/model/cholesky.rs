//! Cholesky's factor of a matrix, and the solution of its equations.

/// A smaller pivot, as a share of its column's diagonal, is only rounding.
const SINGULAR: f64 = 1e-9;

/// The factor of a symmetric positive definite matrix, by rows.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    size: usize,
    lower: Vec<f64>,
    /// The first column that depends on those before it.
    pub(crate) dependent: Option<usize>,
}

impl Factor {
    /// The factor of a matrix of `size` rows; its upper triangle is not read.
    pub(crate) fn decompose(mut matrix: Vec<f64>, size: usize) -> Factor {
        let mut dependent = None;
        for row in 0..size {
            let largest = matrix[row * size + row];
            for column in 0..=row {
                let (before, from_row) = matrix.split_at(row * size);
                let of_column = if column < row { &before[column * size..] } else { from_row };
                let product: f64 =
                    from_row[..column].iter().zip(&of_column[..column]).map(|(one, other)| one * other).sum();
                let value = matrix[row * size + column] - product;
                matrix[row * size + column] = if column < row {
                    value / matrix[column * size + column]
                } else {
                    if value <= SINGULAR * largest {
                        dependent = dependent.or(Some(row));
                    }
                    // Rounding must not give the root of a negative number.
                    value.max(largest * f64::EPSILON).max(f64::MIN_POSITIVE).sqrt()
                };
            }
        }
        Factor { size, lower: matrix, dependent }
    }

    /// Solves for a right side, in its place.
    pub(crate) fn solve(&self, right: &mut [f64]) {
        let size = self.size;
        for row in 0..size {
            let line = &self.lower[row * size..row * size + row];
            let known: f64 = line.iter().zip(right.iter()).map(|(one, other)| one * other).sum();
            right[row] = (right[row] - known) / self.lower[row * size + row];
        }
        for row in (0..size).rev() {
            right[row] /= self.lower[row * size + row];
            let value = right[row];
            let line = &self.lower[row * size..row * size + row];
            for (earlier, factor) in right.iter_mut().zip(line) {
                *earlier -= factor * value;
            }
        }
    }
}

//! The linear model behind every comparison, on cell means: m(i, j) = condition i (+ boot j, when
//! crossed) + cell (i, j) + the mean of the cell's runs.
//!
//! The cell's own deviation is the effect of a boot on a condition: the boot itself when nested,
//! the condition x boot interaction when crossed, where boots are fixed effects and cancel from
//! every difference. A cell of n runs has variance cell + run / n, and cells are independent. Every
//! cell has one vote: the spread of cells gives the error of their mean with any numbers of runs,
//! so neither of the two variances must be known.

mod additive;
mod cholesky;
mod components;
mod crossed;
mod estimate;
mod fieller;
mod fit;
mod flows;
mod layout;
mod least_squares;
mod normal_equations;
mod rows;
mod spread;
mod weights;

pub(crate) use additive::Borrowing;
pub(crate) use cholesky::Factor;
pub use components::{Component, Components};
pub(crate) use crossed::Pairs;
pub(crate) use estimate::{Estimate, ROUNDING};
pub(crate) use fieller::{Fieller, Quantiles};
pub use fit::ErrorTerm;
pub(crate) use fit::Fit;
pub(crate) use spread::{Common, Spread};

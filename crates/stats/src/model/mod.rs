//! The linear model behind every comparison, on cell means: m(i, j) = condition i (+ boot j, when
//! crossed) + cell (i, j) + the mean of the cell's runs.
//!
//! The cell's own deviation is the effect of a boot on a condition: the boot itself when nested,
//! the condition x boot interaction when crossed, where boots are fixed effects and cancel from
//! every difference. A cell of n runs has variance cell + run / n, and cells are independent. Every
//! cell has one vote: the spread of cells gives the error of their mean with any numbers of runs,
//! so neither of the two variances must be known.

mod additive;
mod components;
mod fieller;
mod fit;
mod layout;
mod normal_equations;
mod rows;
mod spread;

pub(crate) use additive::{Borrowing, sum_of_two};
pub use components::{Component, Components};
pub(crate) use fieller::{Quantiles, paired_relative_interval, relative_interval};
pub use fit::ErrorTerm;
pub(crate) use fit::{Estimate, Fit, ROUNDING};
pub(crate) use normal_equations::CholeskyFactor;
pub(crate) use spread::{Common, Spread};

//! The linear model behind every comparison, on cell means: m(i, j) = condition i (+ boot j, when crossed) + cell (i, j) +
//! the mean of the cell's runs.
//!
//! The cell's own deviation is what a boot does to a condition: the boot itself when nested, the condition x boot
//! interaction when crossed, where boots are fixed effects and so cancel from every difference. A cell of n runs has
//! variance cell + run / n, and cells are independent. Every cell has one vote: the error of a mean of cells is told by how these
//! spread, whatever numbers of runs are in them, so neither of the two variances needs to be known.

mod additive;
mod estimate;
mod layout;
mod normal_equations;
mod spread;

pub(crate) use additive::Additive;
pub(crate) use estimate::{Estimate, ROUNDING};
pub(crate) use layout::Layout;
pub(crate) use spread::Common;

//! Comparisons of conditions: differences with intervals, verdicts, and checks.

mod analysis;
mod comparison;
pub(crate) mod family;
mod judgement;
mod ratio;
mod robust;

pub use analysis::{Analysis, ConditionEstimate, Spending, analyse, analyse_with, estimates};
pub use comparison::{Comparison, Gap, Ratio, Verdict};
pub use robust::RobustCheck;

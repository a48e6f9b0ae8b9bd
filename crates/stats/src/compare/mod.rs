//! Comparisons of conditions: differences with intervals, verdicts, and checks.

mod analysis;
mod check;
mod comparison;
mod counts;
mod detectable;
pub(crate) mod family;
mod judgement;
mod question_at_look;
mod ranks;
mod ratio;
mod robust;
mod spending;
mod verdict;
mod wild;

pub use analysis::{Analysis, ConditionEstimate, analyse, analyse_among, analyse_with, estimates};
pub use check::{Check, Farthest, Looks};
pub use comparison::{Comparison, Gap, Ratio};
pub use robust::{DOUBT, SURE};
pub use spending::Spending;
pub use verdict::Verdict;

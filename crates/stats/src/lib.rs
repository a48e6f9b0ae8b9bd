//! From runs to verdicts: summaries, intervals and comparisons, without any input or output.
//!
//! The unit of replication is the boot: [`analyse`] turns the runs of a boot into one mean and takes the spread
//! between boots as the error, because runs inside a boot are not independent. What every other tool does, Student's t
//! over the pooled runs, is in the crate `ministat`, in that program's own words.

mod analysis;
mod boots;
mod comparison;
mod components;
mod counts;
mod crossed;
mod detectable;
pub mod diagnostics;
pub mod distribution;
pub mod effects;
mod error;
pub mod families;
mod family;
mod fieller;
mod fit;
mod judgement;
mod model;
mod number;
pub mod planning;
mod question;
mod ranks;
mod ratio;
mod robust;
mod sentence;
pub mod sequential;
mod shown;
pub mod simulate;
mod spending;
mod summary;
mod verdict;
mod wild;

#[cfg(test)]
mod oracles;

pub use analysis::{Analysis, ConditionEstimate, analyse, analyse_among, analyse_with};
pub use boots::Observation;
pub use comparison::{Comparison, Gap, Ratio};
pub use components::{Component, Components};
pub use error::StatsError;
pub use fit::ErrorTerm;
pub use number::{confidence, fixed, signed};
pub use question::{Against, Correction, Design, Look, Margin, Question};
pub use robust::{Check, DOUBT, Farthest, Looks, SURE};
pub use shown::{corrected, seen};
pub use spending::Spending;
pub use summary::{Summary, mean};
pub use verdict::Verdict;

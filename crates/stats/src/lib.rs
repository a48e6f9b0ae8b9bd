//! From runs to verdicts: summaries, intervals and comparisons, without any input or output.
//!
//! The unit of replication is the boot: [`compare`] turns the runs of a boot into one mean and takes the spread
//! between boots as the error, because runs inside a boot are not independent. What every other tool does, Student's t
//! over the pooled runs, is in [`ministat`], in that program's own words.

mod boots;
mod comparison;
mod crossed;
pub mod diagnostics;
pub mod distribution;
mod error;
pub mod families;
pub mod ministat;
mod summary;
mod verdict;

#[cfg(test)]
mod oracles;

pub use boots::Observation;
pub use comparison::{Comparison, compare};
pub use distribution::student::quantile as student_t_quantile;
pub use error::StatsError;
pub use summary::Summary;
pub use verdict::Verdict;

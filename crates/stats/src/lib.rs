//! From runs to verdicts: summaries, intervals and comparisons, without any input or output.
//!
//! The unit of replication is the boot: [`analyse`] turns the runs of a boot into one mean and
//! takes the spread between boots as the error, because runs inside a boot are not independent.
//! What every other tool does, Student's t over the pooled runs, is in the crate `ministat`, in
//! that program's own words.

mod compare;
pub mod diagnostics;
pub mod distribution;
pub mod effects;
mod error;
pub mod families;
mod model;
mod observed;
pub mod planning;
mod question;
pub mod sequential;
pub mod simulate;
mod wording;

#[cfg(test)]
mod oracles;

pub use compare::{
    Analysis, Check, Comparison, ConditionEstimate, DOUBT, Farthest, Gap, Looks, Ratio, SURE, Spending,
    Verdict, analyse, analyse_among, analyse_with,
};
pub use error::StatsError;
pub use model::{Component, Components, ErrorTerm};
pub use observed::{Observation, Summary, mean};
pub use question::{Against, Correction, Design, Look, Margin, Question};
pub use wording::{confidence, corrected, fixed, seen, signed};

//! Turns runs into verdicts: summaries, intervals and comparisons, without I/O.
//!
//! The unit of replication is the boot: [`analyse`] reduces the runs of a boot to one mean and
//! takes the spread between boots as the error, because runs inside a boot are not independent. The
//! usual test, Student's t over the pooled runs, is in the crate `ministat`.

pub mod agreement;
pub mod change;
mod compare;
pub mod diagnostics;
pub mod distribution;
pub mod effects;
pub mod families;
pub mod fleet;
pub mod knee;
mod model;
mod observed;
#[cfg(test)]
mod oracles;
pub mod parts;
pub mod planning;
mod question;
pub mod search;
pub mod sequential;
mod wording;

pub use compare::{
    Analysis, Comparison, ConditionEstimate, Gap, Ratio, RobustCheck, Spending, Verdict, analyse,
    analyse_with, estimates,
};
pub use model::{Component, Components, ErrorTerm};
pub use observed::{Observation, mean};
pub use question::{Against, Correction, Design, Look, Margin, Question, StatsError, ValueRange};
pub use wording::{confidence, fixed, power_sentence, signed};

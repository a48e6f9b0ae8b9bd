//! Student's t over the pooled runs, in the words of ministat(1), to the byte: the table of summaries and the verdict of
//! each set against the first.
//!
//! It is the classic test that published results use, and it takes every run as independent of every other. Where
//! boots differ it finds differences that are not there in a quarter to a half of all comparisons, so its verdicts
//! are to be labelled as what they are; [`crate::compare`] gives those that hold.
//!
//! What is reproduced is Debian's version 20150715 with its arithmetic: sums of squares in one pass, the upper middle
//! value as the median, and a table of quantiles with three decimals.

mod error;
mod format;
mod level;
mod report;
mod set;
mod student;

pub use error::MinistatError;
pub use level::Level;
pub use report::{HEADER, MAX_SETS, names, report, table};
pub use set::Set;
pub use student::PooledT;

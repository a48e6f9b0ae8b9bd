//! Student's t over the pooled runs, as ministat(1) prints it, to the byte: the table of summaries
//! and the verdict of each set against the first.
//!
//! It is the classic test of published results, and it assumes that runs are independent. Where
//! boots differ, it finds false differences in a quarter to a half of all comparisons, so its
//! verdicts must be labelled; [`stats::analyse`] gives valid ones.
//!
//! It reproduces Debian's version 20150715 with its arithmetic: sums of squares in one pass, the
//! upper middle value as the median, and a table of quantiles with three decimals. The program
//! without its I/O is here: [`Request`] is its command line, [`Format`] reads lines, [`Values`] and
//! [`Set`] summarise, [`Plot`] and [`write_all`] show, [`Refusal`] is its error output.

mod lines;
mod number;
mod plot;
mod refusal;
mod report;
mod request;
mod set;
mod student;

pub use lines::{Format, InvalidData};
pub use number::parse_number;
pub use plot::{MAX_SETS, MAX_WIDTH, Plot};
pub use refusal::{MinistatError, Refusal};
pub use report::{report, write_all};
pub use request::{Request, columns};
pub use set::{Points, Set, Values};
pub use student::{Level, PooledT};

//! Student's t over the pooled runs, as Debian's ministat(1) of 20150715 prints it, to the byte,
//! with its arithmetic: one-pass sums of squares, the upper middle value as the median, and
//! quantiles with three decimals.
//!
//! It assumes that runs are independent. Where boots differ, it finds false differences in a
//! quarter to a half of all comparisons; [`stats::analyse`] gives valid verdicts.
//!
//! [`MinistatRequest`] is the command line, [`ValueFormat`] reads lines, [`Values`] and [`Set`]
//! summarise, [`MinistatPlot`] and [`write_all`] show, [`Rejection`] is the error output.

mod lines;
mod number;
mod plot;
mod refusal;
mod report;
mod request;
mod set;
mod student;

pub use lines::{InvalidData, ValueFormat};
pub use number::parse_number;
pub use plot::{MAX_SETS, MAX_WIDTH, MinistatPlot};
pub use refusal::{MinistatError, Rejection};
pub use report::{report, write_all};
pub use request::{MinistatRequest, columns};
pub use set::{Set, Values};
pub use student::{ConfidenceLevel, PooledT};

//! Student's t over the pooled runs, in the words of ministat(1), to the byte: the table of
//! summaries and the verdict of each set against the first.
//!
//! It is the classic test that published results use, and it takes every run as independent of
//! every other. Where boots differ it finds differences that are not there in a quarter to a half
//! of all comparisons, so its verdicts are to be labelled as what they are; [`stats::analyse`]
//! gives those that hold.
//!
//! What is reproduced is Debian's version 20150715 with its arithmetic: sums of squares in one
//! pass, the upper middle value as the median, and a table of quantiles with three decimals;
//! [`Dialect::Freebsd`] has FreeBSD's. The program is here but for its contact with the world:
//! [`Request`] is its command line, [`Format`] reads lines, [`Values`] and [`Set`] sum up, [`Plot`]
//! and [`write_all`] show, [`Refusal`] is everything it says instead.

mod dialect;
mod error;
mod format;
mod getopt;
mod level;
mod lines;
mod number;
mod order;
mod plot;
mod refusal;
mod report;
mod request;
mod set;
mod student;
mod symbols;
mod values;

pub use dialect::Dialect;
pub use error::MinistatError;
pub use level::Level;
pub use lines::{Format, InvalidData};
pub use number::{decimal as parse_decimal_prefix, whole as parse_number};
pub use plot::{MAX_WIDTH, Plot, Style};
pub use refusal::Refusal;
pub use report::{HEADER, names, report, table, write_all};
pub use request::{Caller, Request, columns};
pub use set::{Points, Set};
pub use student::PooledT;
pub use symbols::MAX_SETS;
pub use values::Values;

//! Anybody's measurements, read into observations: ministat's files, CSV, and what netperf, iperf,
//! iperf3, hyperfine and Go's benchmarks write.
//!
//! Nothing here opens a file: [`Sheet::read`] takes whatever can be read, once and in bounded
//! memory ([`limits`]), and [`Dataset::new`] puts several of them together: which values are one
//! condition, which conditions are compared with each other, and which runs belong to the same
//! boot. What is wrong is told with file, line, column and the way out.

mod dataset;
mod error;
mod format;
pub mod limits;
mod lines;
mod names;
mod options;
mod readers;
mod recognise;
mod series;
mod sheet;
mod word;

pub use dataset::{Dataset, Group, Input};
pub use error::SamplesError;
pub use format::InputFormat;
pub use options::{Boots, Column, Layout, Options};
pub use sheet::Sheet;

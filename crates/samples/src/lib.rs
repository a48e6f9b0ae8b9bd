//! Measurements of any program, read into observations: ministat's files, CSV, and the output of
//! netperf, iperf, iperf3 and hyperfine.
//!
//! This crate opens no file: [`MeasurementFile::read`] reads any input in bounded memory
//! ([`limits`]), and [`Dataset::new`] combines files: conditions, comparisons and boots.

mod dataset;
mod error;
pub mod limits;
mod lines;
mod measurement_file;
pub mod ministat;
mod options;
mod readers;
mod series;

pub use dataset::{ComparedConditions, Dataset};
pub use error::SamplesError;
pub use measurement_file::MeasurementFile;
pub use options::{BootColumn, Boots, InputFormat, Options};
pub use stats::Design;

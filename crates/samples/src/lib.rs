//! Measurements of any program, read into observations: ministat's files, CSV, and the output of
//! netperf, iperf, iperf3 and hyperfine.
//!
//! This crate opens no file: [`MeasurementFile::read`] reads any input, once and in bounded memory
//! ([`limits`]), and [`Dataset::new`] combines sheets: which values are one condition, which
//! conditions are compared, and which runs belong to the same boot. Errors have file, line, column
//! and remedy.

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
pub use measurement_file::{Input, MeasurementFile};
pub use options::{Boots, Column, InputFormat, Options};
pub use stats::Design;

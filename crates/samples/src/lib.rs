//! Measurements of any program, read into observations: ministat's files, CSV, and the output of
//! netperf, iperf, iperf3, hyperfine and Go's benchmarks.
//!
//! This crate opens no file: [`MeasurementFile::read`] reads any input, once and in bounded memory
//! ([`limits`]), and [`Dataset::new`] combines sheets: which values are one condition, which
//! conditions are compared, and which runs belong to the same boot. Errors have file, line, column
//! and remedy.

mod dataset;
mod error;
mod format;
mod left_out;
pub mod limits;
mod lines;
mod measurement_file;
mod names;
mod options;
mod readers;
mod recognise;
mod series;
mod token;

pub use dataset::{ComparedConditions, Dataset};
pub use error::SamplesError;
pub use format::InputFormat;
pub use measurement_file::{Input, MeasurementFile};
pub use options::{Boots, Column, Options};
pub use stats::Design;

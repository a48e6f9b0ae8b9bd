//! The kernels and versions that were traced: figures of a path belong to one kernel.

use std::fmt;

use serde::Serialize;
use store::StoredStudy;

use crate::words::lists::distinct;

/// The kernels of a study, and the version that measured it.
#[derive(Debug, Serialize)]
pub struct TraceOrigin {
    /// The kernels, with their command lines, each once.
    pub kernels: Vec<String>,
    /// The version of netassay that began the study.
    pub measured_by: String,
}

impl TraceOrigin {
    pub(crate) fn from_stored(stored: &StoredStudy) -> Self {
        Self::of_boots(stored, |_| true)
    }

    /// The origin of the boots in which a condition was measured.
    pub(crate) fn for_condition(stored: &StoredStudy, condition: usize) -> Self {
        let runs: Vec<_> = stored.measurements_of(condition).collect();
        Self::of_boots(stored, |boot| runs.iter().any(|run| (run.boot, run.part) == boot))
    }

    fn of_boots(stored: &StoredStudy, is_meant: impl Fn((u32, u32)) -> bool) -> Self {
        let boots = stored.boots.iter().filter(|boot| is_meant((boot.number, boot.part)));
        let kernels = distinct(boots.map(|boot| boot.environment.transmitter.kernel.to_string()));
        Self { kernels, measured_by: stored.row.version.clone() }
    }
}

impl fmt::Display for TraceOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}; netassay {}", self.kernels.join(" and "), self.measured_by)
    }
}

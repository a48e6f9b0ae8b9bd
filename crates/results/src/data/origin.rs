//! The kernels and versions that were traced: figures of a path belong to one kernel.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use store::{BootRow, StoredStudy};

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
    /// The origin of the boots in which a condition was measured; `None`: of all boots of a study.
    pub(crate) fn new(stored: &StoredStudy, condition: Option<usize>) -> Self {
        // A boot that was continued may have another kernel in each of its parts.
        let measured = |one: usize| stored.measurements_of(one).map(|run| (run.boot, run.part)).collect();
        let own: Option<BTreeSet<(u32, u32)>> = condition.map(measured);
        let is_own = |boot: &&BootRow| own.as_ref().is_none_or(|own| own.contains(&(boot.number, boot.part)));
        let boots = stored.boots.iter().filter(is_own);
        let kernels = distinct(boots.map(|boot| boot.environment.transmitter.kernel.to_string()));
        Self { kernels, measured_by: stored.row.version.clone() }
    }
}

impl fmt::Display for TraceOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}; netassay {}", self.kernels.join(" and "), self.measured_by)
    }
}

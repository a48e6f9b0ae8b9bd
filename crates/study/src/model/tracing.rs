//! Traces that a study makes behind each recorded run.

use serde::{Deserialize, Serialize};
use words::{KernelPath, Kind, Waiting};

/// The traces that a study makes behind each recorded run, with the switches of that run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tracing {
    /// The paths. One whose protocol a workload does not have is not traced with it.
    pub paths: Vec<KernelPath>,
    /// Waits of the readers; each path is traced with each.
    pub readers: Vec<Waiting>,
    /// Messages of a batch.
    pub batch: u32,
    /// Batches of each kind.
    pub rounds: u32,
    /// Whether the functions that take the CPU are sampled, without probes.
    #[serde(default)]
    pub profile: bool,
}

impl Default for Tracing {
    fn default() -> Self {
        Self { paths: Vec::new(), readers: vec![Waiting::Awake], batch: 4096, rounds: 5, profile: false }
    }
}

impl Tracing {
    /// The traced paths of this kind of traffic, each with each wait of the readers.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (KernelPath, Waiting)> {
        let paths = self.paths.iter().filter(move |path| path.carries(kind));
        paths.flat_map(move |path| {
            let readers = self.readers.iter().filter(move |reader| reader.suits(kind));
            readers.map(|reader| (*path, *reader))
        })
    }

    /// Whether functions are sampled beside this trace: with the first path of each kind of reader,
    /// for all of its paths have the same work.
    pub fn samples(&self, kind: Kind, (path, reader): (KernelPath, Waiting)) -> bool {
        let first = self.of_kind(kind).find(|(_, other)| *other == reader);
        self.profile && first == Some((path, reader))
    }
}

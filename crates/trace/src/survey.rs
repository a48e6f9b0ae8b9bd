//! A survey of a kernel for paths: the kinds of probe that it allows, and the places of each stage.

use serde::{Deserialize, Serialize};

use crate::ladder::ProbeLadder;
use crate::offered::OfferedProbes;
use crate::path::TracePath;
use crate::resolve::{PointKind, ProbePoints, ResolvedStage, resolve};

/// The probes that a kernel has for some paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survey {
    /// The kinds of probe.
    pub ladder: ProbeLadder,
    /// The stages of each path, in the order in which these were given.
    pub paths: Vec<Vec<ResolvedStage>>,
}

impl Survey {
    /// Surveys the running kernel. `functions`: whether functions may be probed, so that a probe at
    /// one of them is tried ([`ProbeLadder::tried`]).
    #[must_use]
    pub fn make(paths: &[TracePath], functions: bool) -> Self {
        let offered = OfferedProbes::read(paths);
        let paths: Vec<Vec<ResolvedStage>> = paths.iter().map(|path| resolve(path, &offered)).collect();
        let tried = plain_function(&paths).filter(|_| functions);
        Self { ladder: tried.map_or_else(ProbeLadder::read, ProbeLadder::tried), paths }
    }
}

/// The first function of the kernel itself whose arguments fentry can pass on.
fn plain_function(paths: &[Vec<ResolvedStage>]) -> Option<&str> {
    const MOST_ARGUMENTS: u16 = 6;
    let found = paths.iter().flatten().map(|stage| &stage.ipv4);
    let points = found.flat_map(|found| match found {
        ProbePoints::Points(points) => points.as_slice(),
        ProbePoints::Missing(_) => &[],
    });
    let mut plain = points.filter(|point| {
        point.kind == PointKind::Function && point.arguments.is_some_and(|count| count <= MOST_ARGUMENTS)
    });
    plain.next().map(|point| point.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PATHS;
    use crate::ladder::{Availability, Rung};

    #[test]
    fn the_running_kernel_is_surveyed_without_a_probe_at_a_function() {
        let paths: Vec<TracePath> = PATHS.iter().map(|bundled| bundled.path()).collect();
        let survey = Survey::make(&paths, false);
        let stages: Vec<usize> = survey.paths.iter().map(Vec::len).collect();
        assert_eq!(stages, paths.iter().map(|path| path.stages.len()).collect::<Vec<_>>());
        let trampoline = survey.ladder.0.iter().find(|step| step.rung == Rung::Trampoline).unwrap();
        assert_ne!(trampoline.verdict, Availability::Yes);
        if let Some(function) = plain_function(&survey.paths) {
            assert!(!function.contains('.'), "{function} is a copy that the compiler made");
        }
    }
}

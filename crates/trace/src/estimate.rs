//! The cost of a trace, estimated before anything is loaded: the places of its probes, their cost
//! elsewhere, and the memory of its maps.

use serde::Serialize;

use crate::object::{ObjectError, map_bytes};
use crate::path::{At, TracePath};
use crate::resolve::{OfferedProbes, PointKind, ProbePoints, resolve};
use crate::tracer::{Attachment, RING};

/// The kernel of a trace; it decides the meaning of the figures and the probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceTarget {
    /// The kernel of this machine, by tracepoints.
    Here,
    /// An emulated virtual machine, by time.
    Guest,
    /// An emulated virtual machine in exact mode: ns are instructions.
    Exact,
    /// Another machine, which is not asked.
    Elsewhere,
}

/// Measured costs of a probe: of tracepoints on this project's machine in ns (131 to 155), in an
/// emulated guest in ns (half of a pair that was added), and in exact mode in instructions (Linux
/// 6.1, `docs/where-the-time-goes.md`). A user's own kernel is traced by tracepoints only.
const COSTS: [(Attachment, At, [Option<f64>; 3]); 6] = [
    (Attachment::Trampoline, At::Entry, [None, Some(520.0), Some(410.0)]),
    (Attachment::Trampoline, At::Return, [None, Some(520.0), Some(460.0)]),
    (Attachment::Kprobe, At::Entry, [None, Some(920.0), Some(620.0)]),
    (Attachment::Kprobe, At::Return, [None, Some(920.0), Some(860.0)]),
    (Attachment::Tracepoint, At::Entry, [Some(145.0), None, None]),
    (Attachment::Tracepoint, At::Return, [Some(145.0), None, None]),
];

/// The estimated cost of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceEstimate {
    /// The stages, each with the place where it may be seen; or why it has none.
    pub stages: Vec<(String, Result<String, String>)>,
    /// The cost of all probes for a packet that passes each, in ns or instructions; `None`:
    /// unknown.
    pub probes: Option<f64>,
    /// The memory of their maps in the kernel, in bytes.
    pub memory: u64,
    /// The additional memory for each CPU.
    pub memory_of_cpu: u64,
}

impl TraceEstimate {
    /// Estimates the trace of a path. A guest's kernel is not known before it runs, and another
    /// machine's not before it is asked: the first function that the path names stands for each
    /// stage.
    ///
    /// # Errors
    /// [`ObjectError`] if the programs cannot be read.
    pub fn for_path(path: &TracePath, ipv6: bool, place: TraceTarget) -> Result<Self, ObjectError> {
        let found =
            if place == TraceTarget::Here { tracepoints_here(path, ipv6) } else { first_named(path, ipv6) };
        let each = path.stages.iter().zip(&found).filter_map(|(stage, found)| {
            let (_, mean) = found.as_ref().ok()?;
            let at = if *mean == Attachment::Tracepoint { At::Entry } else { stage.at };
            Some(cost(*mean, at, place))
        });
        let probes = each.sum();
        let [memory, memory_of_cpu] = map_bytes(RING)?;
        let stages = path.stages.iter().zip(found).map(|(stage, found)| {
            let name = match stage.at {
                At::Entry => stage.label.clone(),
                At::Return => format!("{} return", stage.label),
            };
            (name, found.map(|(place, _)| place))
        });
        Ok(Self { stages: stages.collect(), probes, memory, memory_of_cpu })
    }
}

type FirstPlace = Result<(String, Attachment), String>;

fn tracepoints_here(path: &TracePath, ipv6: bool) -> Vec<FirstPlace> {
    let resolved = resolve(path, &OfferedProbes::read(std::slice::from_ref(path)));
    let seen = |stage: crate::ResolvedStage| {
        let found = if ipv6 { stage.ipv6 } else { stage.ipv4 };
        let points = match found {
            ProbePoints::Points(points) => points,
            ProbePoints::Missing(reason) => return Err(reason),
        };
        let tracepoint = points.into_iter().find(|point| point.kind == PointKind::Tracepoint);
        let tracepoint =
            tracepoint.map(|point| (format!("tracepoint {}", point.name), Attachment::Tracepoint));
        tracepoint.ok_or_else(|| "only functions stand for it, and they are not probed here".to_owned())
    };
    resolved.into_iter().map(seen).collect()
}

fn first_named(path: &TracePath, ipv6: bool) -> Vec<FirstPlace> {
    let seen = |stage: &crate::Stage| {
        let functions = if ipv6 { &stage.ipv6 } else { &stage.ipv4 };
        let function = functions.first().map(|name| (name.clone(), Attachment::Trampoline));
        let tracepoint = stage.tracepoints.first();
        let tracepoint = tracepoint.map(|name| (format!("tracepoint {name}"), Attachment::Tracepoint));
        function.or(tracepoint).ok_or_else(|| "no place is named for this family".to_owned())
    };
    path.stages.iter().map(seen).collect()
}

/// The cost of a probe there. An unmeasured kind is taken to cost as much as the entry of a
/// function.
fn cost(mean: Attachment, at: At, place: TraceTarget) -> Option<f64> {
    let row = |mean, at| {
        let row = COSTS.iter().find(|row| (row.0, row.1) == (mean, at))?;
        row.2.get(place as usize).copied().flatten()
    };
    row(mean, at).or_else(|| row(Attachment::Trampoline, At::Entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PATHS;

    #[test]
    fn each_stage_has_a_place_or_a_reason_and_what_is_probed_costs_something() {
        for bundled in PATHS {
            let path = bundled.path();
            for place in [TraceTarget::Guest, TraceTarget::Exact] {
                let estimate = TraceEstimate::for_path(&path, false, place).unwrap();
                assert_eq!(estimate.stages.len(), path.stages.len());
                assert!(estimate.stages.iter().all(|(_, place)| place.is_ok()), "{estimate:?}");
                // A probe costs some hundred instructions.
                let each = estimate.probes.unwrap() / path.stages.len() as f64;
                assert!((400.0..=520.0).contains(&each), "{}: {each}", bundled.name);
            }
            let here = TraceEstimate::for_path(&path, true, TraceTarget::Here).unwrap();
            let seen = here.stages.iter().filter(|(_, place)| place.is_ok()).count();
            assert!((here.probes.unwrap() - 145.0 * seen as f64).abs() < 1e-6, "{here:?}");
            let elsewhere = TraceEstimate::for_path(&path, false, TraceTarget::Elsewhere).unwrap();
            let guest = TraceEstimate::for_path(&path, false, TraceTarget::Guest).unwrap();
            assert_eq!(elsewhere, TraceEstimate { probes: None, ..guest });
        }
    }

    #[test]
    fn the_memory_is_that_of_the_maps() {
        let [once, of_cpu] = map_bytes(RING).unwrap();
        // A thousand packets with their stamps; and 8 x 64 cells for each CPU.
        assert!(once > 1024 * 1024 && once < 4 << 20, "{once}");
        assert!(of_cpu > 512 * 2048 && of_cpu < 2 << 20, "{of_cpu}");
    }
}

//! What a trace is going to cost, before anything is loaded: where its probes are, what they cost
//! elsewhere, and the memory of its maps.

use serde::Serialize;

use crate::object::{ObjectError, map_bytes};
use crate::offered::Offered;
use crate::path::{At, Path};
use crate::resolve::{Found, Kind, resolve};
use crate::tracer::{Mean, RING};

/// Where a trace is made: what its figures are, and which probes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The kernel of this machine, by tracepoints.
    Here,
    /// An emulated virtual machine, by time.
    Guest,
    /// The same in exact mode: ns are instructions.
    Exact,
    /// Another machine, which is not asked.
    Elsewhere,
}

/// What a probe was found to cost, in ns: in instructions (Linux 6.1), in an
/// emulated guest (half of a pair that was added), and of tracepoints on this project's machine
/// (131 to 155). Kernels of one's own are traced by tracepoints only.
const COSTS: [(Mean, At, [Option<f64>; 3]); 6] = [
    (Mean::Trampoline, At::Entry, [None, Some(520.0), Some(410.0)]),
    (Mean::Trampoline, At::Return, [None, Some(520.0), Some(460.0)]),
    (Mean::Kprobe, At::Entry, [None, Some(920.0), Some(620.0)]),
    (Mean::Kprobe, At::Return, [None, Some(920.0), Some(860.0)]),
    (Mean::Tracepoint, At::Entry, [Some(145.0), None, None]),
    (Mean::Tracepoint, At::Return, [Some(145.0), None, None]),
];

/// What a trace is going to cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The stages, each with the place where it may be seen; or why it has none.
    pub stages: Vec<(String, Result<String, String>)>,
    /// What all probes cost a packet that passes each, in ns or instructions; `None`: nobody knows.
    pub probes: Option<f64>,
    /// The memory of their maps in the kernel, in bytes.
    pub memory: u64,
    /// What each CPU adds to it.
    pub memory_of_cpu: u64,
}

impl Estimate {
    /// Of a path. A guest's kernel is not known before it runs, and another machine's not before it
    /// is asked: the first function that the path names stands for each stage.
    ///
    /// # Errors
    /// [`ObjectError`] if the programs cannot be read.
    pub fn of(path: &Path, ipv6: bool, place: Place) -> Result<Self, ObjectError> {
        let found = if place == Place::Here { here(path, ipv6) } else { first_named(path, ipv6) };
        let each = path.stages.iter().zip(&found).filter_map(|(stage, found)| {
            let (_, mean) = found.as_ref().ok()?;
            let at = if *mean == Mean::Tracepoint { At::Entry } else { stage.at };
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

type Seen = Result<(String, Mean), String>;

/// The tracepoints of the running kernel.
fn here(path: &Path, ipv6: bool) -> Vec<Seen> {
    let resolved = resolve(path, &Offered::read(std::slice::from_ref(path)));
    let seen = |stage: crate::Resolved| {
        let found = if ipv6 { stage.ipv6 } else { stage.ipv4 };
        let points = match found {
            Found::Points(points) => points,
            Found::Missing(reason) => return Err(reason),
        };
        let tracepoint = points.into_iter().find(|point| point.kind == Kind::Tracepoint);
        let tracepoint = tracepoint.map(|point| (format!("tracepoint {}", point.name), Mean::Tracepoint));
        tracepoint.ok_or_else(|| "only functions stand for it, and they are not probed here".to_owned())
    };
    resolved.into_iter().map(seen).collect()
}

fn first_named(path: &Path, ipv6: bool) -> Vec<Seen> {
    let seen = |stage: &crate::Stage| {
        let functions = if ipv6 { &stage.ipv6 } else { &stage.ipv4 };
        let function = functions.first().map(|name| (name.clone(), Mean::Trampoline));
        let tracepoint = stage.tracepoints.first();
        let tracepoint = tracepoint.map(|name| (format!("tracepoint {name}"), Mean::Tracepoint));
        function.or(tracepoint).ok_or_else(|| "no place is named for this family".to_owned())
    };
    path.stages.iter().map(seen).collect()
}

/// What a probe costs there; what was not measured there costs what an entry of a function does.
fn cost(mean: Mean, at: At, place: Place) -> Option<f64> {
    let row = |mean, at| {
        let row = COSTS.iter().find(|row| (row.0, row.1) == (mean, at))?;
        row.2.get(place as usize).copied().flatten()
    };
    row(mean, at).or_else(|| row(Mean::Trampoline, At::Entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PATHS;

    #[test]
    fn each_stage_has_a_place_or_a_reason_and_what_is_probed_costs_something() {
        for bundled in PATHS {
            let path = bundled.path();
            for place in [Place::Guest, Place::Exact] {
                let estimate = Estimate::of(&path, false, place).unwrap();
                assert_eq!(estimate.stages.len(), path.stages.len());
                assert!(estimate.stages.iter().all(|(_, place)| place.is_ok()), "{estimate:?}");
                // A probe costs some hundred instructions.
                let each = estimate.probes.unwrap() / path.stages.len() as f64;
                assert!((400.0..=520.0).contains(&each), "{}: {each}", bundled.name);
            }
            let here = Estimate::of(&path, true, Place::Here).unwrap();
            let seen = here.stages.iter().filter(|(_, place)| place.is_ok()).count();
            assert!((here.probes.unwrap() - 145.0 * seen as f64).abs() < 1e-6, "{here:?}");
            let elsewhere = Estimate::of(&path, false, Place::Elsewhere).unwrap();
            let guest = Estimate::of(&path, false, Place::Guest).unwrap();
            assert_eq!(elsewhere, Estimate { probes: None, ..guest });
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

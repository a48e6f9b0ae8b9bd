//! Which probe points a kernel has for the stages of a path.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::Read;
use std::path;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::btf::{Arguments, Btf, Packet};
use crate::ladder::ProbeLadder;
use crate::path::{At, JourneyPhase, Layer, Stage, TracePath};

/// A stage, with the probe points of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedStage {
    /// The box of the flow chart.
    pub label: String,
    /// The layer of the box.
    pub lane: Layer,
    /// Whether functions are entered or left there.
    pub at: At,
    /// Whether some packets do not pass it.
    pub optional: bool,
    /// The journey that it is a part of.
    pub phase: JourneyPhase,
    /// Its probe points for IPv4.
    pub ipv4: ProbePoints,
    /// Its probe points for IPv6.
    pub ipv6: ProbePoints,
}

/// The probe points of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProbePoints {
    /// The kernel's probe points, best first: only hits tell which of them packets pass.
    Points(Vec<ProbePoint>),
    /// The reason why there is none.
    Missing(String),
}

impl ResolvedStage {
    pub(crate) fn probes_for(&self, ipv6: bool) -> &ProbePoints {
        if ipv6 { &self.ipv6 } else { &self.ipv4 }
    }
}

impl ProbePoints {
    pub(crate) fn points(&self) -> &[ProbePoint] {
        if let Self::Points(points) = self { points } else { &[] }
    }
}

/// A probe point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbePoint {
    /// A function or a tracepoint.
    pub kind: PointKind,
    /// The kernel's own name of it, with the compiler's suffix.
    pub name: String,
    /// The number of a function's arguments, if the kernel describes it.
    pub arguments: Option<u16>,
    /// Which of them is a packet.
    pub packet: Option<Packet>,
}

/// The kind of a probe point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PointKind {
    /// The entry or return of a function.
    Function,
    /// A raw tracepoint.
    Tracepoint,
}

/// The stages of a path, each with what a kernel offers for it.
pub fn resolve(path: &TracePath, offered: &OfferedProbes) -> Vec<ResolvedStage> {
    let stages = path.stages.iter().zip(path.phases()).map(|(stage, phase)| ResolvedStage {
        label: stage.label.get_ref().clone(),
        lane: stage.lane,
        at: stage.at,
        optional: stage.optional,
        phase,
        ipv4: probe_points(stage, false, offered),
        ipv6: probe_points(stage, true, offered),
    });
    stages.collect()
}

fn probe_points(stage: &Stage, ipv6: bool, offered: &OfferedProbes) -> ProbePoints {
    let types = offered.types.as_ref().map_err(String::as_str);
    let function = |name: &Spanned<String>| {
        let symbol = symbol(name.get_ref(), offered.functions.as_ref().map_err(Clone::clone)?)?;
        // A copy that the compiler made has its arguments as it likes.
        let known = types.ok().and_then(|types| types.functions.get(symbol));
        Ok(ProbePoint::new(PointKind::Function, symbol, known))
    };
    let tracepoint = |name: &Spanned<String>| match types?.tracepoints.get(name.get_ref()) {
        Some(known) => Ok(ProbePoint::new(PointKind::Tracepoint, name.get_ref(), Some(known))),
        None => Err(format!("no tracepoint {name}")),
    };
    let (mut points, mut reasons) = (Vec::new(), Vec::<String>::new());
    let functions = stage.functions_of(ipv6).iter().map(function);
    for found in functions.chain(stage.tracepoints.iter().map(tracepoint)) {
        match found {
            Ok(point) => points.push(point),
            Err(reason) => reasons.push(reason),
        }
    }
    // A list that cannot be read is the reason for each name.
    reasons.dedup();
    if points.is_empty() { ProbePoints::Missing(reasons.join("; ")) } else { ProbePoints::Points(points) }
}

impl ProbePoint {
    fn new(kind: PointKind, name: &str, known: Option<&Arguments>) -> Self {
        let arguments = known.map(|known| known.count).filter(|_| kind == PointKind::Function);
        Self { kind, name: name.to_owned(), arguments, packet: known.and_then(|known| known.packet) }
    }
}

fn symbol<'k>(name: &str, known: &'k BTreeSet<String>) -> Result<&'k str, String> {
    if let Some(same) = known.get(name) {
        return Ok(same);
    }
    let dotted = format!("{name}.");
    let copies = || known.range(dotted.clone()..).take_while(|other| other.starts_with(&dotted));
    // A `.part` or `.cold` holds only some of a function's code: it does not show it entered.
    let partial = |copy: &str| copy[name.len()..].split('.').any(|word| matches!(word, "part" | "cold"));
    match copies().find(|copy| !partial(copy)) {
        Some(copy) => Ok(copy),
        None if copies().next().is_some() => Err(format!("only a part of the function {name}")),
        None => Err(format!("no function {name} (absent or inlined)")),
    }
}

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
    pub fn make(paths: &[TracePath], functions: bool) -> Self {
        let offered = OfferedProbes::read(paths);
        let paths: Vec<Vec<ResolvedStage>> = paths.iter().map(|path| resolve(path, &offered)).collect();
        let function = plain_function(&paths).filter(|_| functions);
        Self { ladder: ProbeLadder::tried(function), paths }
    }
}

fn plain_function(paths: &[Vec<ResolvedStage>]) -> Option<&str> {
    const MOST_ARGUMENTS: u16 = 6;
    // A trampoline takes functions of at most six arguments.
    let mut plain = paths.iter().flatten().flat_map(|stage| stage.ipv4.points()).filter(|point| {
        point.kind == PointKind::Function && point.arguments.is_some_and(|count| count <= MOST_ARGUMENTS)
    });
    plain.next().map(|point| point.name.as_str())
}

const SYMBOLS: &str = "proc/kallsyms";
pub(crate) const BTF: &str = "sys/kernel/btf/vmlinux";
// More than any kernel's list of symbols or types has, in bytes.
const MOST: u64 = 256 << 20;

/// Probe points of paths that a kernel offers; for an unreadable list the reason.
#[derive(Clone, Debug)]
pub struct OfferedProbes {
    /// The functions of the kernel and its modules, with suffixes that the compiler gave.
    pub functions: Result<BTreeSet<String>, String>,
    /// The kernel's own types.
    pub types: Result<Btf, String>,
}

impl OfferedProbes {
    /// Reads what the running kernel offers for these paths.
    pub fn read(paths: &[TracePath]) -> Self {
        Self::read_from(path::Path::new("/"), paths)
    }

    fn read_from(root: &path::Path, paths: &[TracePath]) -> Self {
        let bytes = |name: &str| {
            let mut bytes = Vec::new();
            let read = File::open(root.join(name)).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
            read.map(|_| bytes).map_err(|error| format!("/{name} cannot be read: {error}"))
        };
        let stages = paths.iter().flat_map(|path| &path.stages);
        let names = stages
            .flat_map(|stage| [&stage.functions, &stage.ipv4, &stage.ipv6, &stage.tracepoints])
            .flatten();
        let names: HashSet<&str> = names.map(|name| name.get_ref().as_str()).collect();
        // A compiler's copy of a function has a dot behind the name.
        let wanted = |symbol: &str| symbol.split('.').next().is_some_and(|name| names.contains(name));
        Self {
            functions: bytes(SYMBOLS).map(|list| functions(&String::from_utf8_lossy(&list), wanted)),
            types: bytes(BTF)
                .and_then(|bytes| Btf::parse(&bytes, wanted).map_err(|error| format!("/{BTF}: {error}"))),
        }
    }
}

/// Functions `wanted` by name, from lines of address, type, name and module; over 100,000.
pub fn functions(list: &str, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let function = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (kind, name) = (words.next()?, words.next()?);
        let is_code = matches!(kind, "t" | "T" | "w" | "W");
        let printable = || name.bytes().all(|byte| byte.is_ascii_graphic());
        (is_code && wanted(name) && printable()).then(|| name.to_owned())
    };
    list.lines().filter_map(function).collect()
}

#[cfg(test)]
mod tests;

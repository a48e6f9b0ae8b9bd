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
    pub(crate) fn found(&self, ipv6: bool) -> &ProbePoints {
        if ipv6 { &self.ipv6 } else { &self.ipv4 }
    }
}

impl ProbePoints {
    pub(crate) fn points(&self) -> &[ProbePoint] {
        match self {
            Self::Points(points) => points,
            Self::Missing(_) => &[],
        }
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
        let tried = plain_function(&paths).filter(|_| functions);
        Self { ladder: tried.map_or_else(ProbeLadder::read, ProbeLadder::tried), paths }
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::PATHS;
    use crate::btf::Btf;
    use crate::ladder::{Availability, Rung};

    fn offered(functions: &[&str], tracepoints: &[&str]) -> OfferedProbes {
        let seven = Arguments { count: 7, packet: None };
        let tracepoints = tracepoints.iter().map(|&name| (name.to_owned(), Arguments::default()));
        let types = Btf { functions: [("f".to_owned(), seven)].into(), tracepoints: tracepoints.collect() };
        OfferedProbes {
            functions: Ok(functions.iter().map(|&name| name.to_owned()).collect()),
            types: Ok(types),
        }
    }

    fn names(found: ProbePoints) -> Vec<String> {
        match found {
            ProbePoints::Points(points) => points.into_iter().map(|point| point.name).collect(),
            ProbePoints::Missing(reason) => panic!("{reason}"),
        }
    }

    fn stage(functions: &[&str], tracepoints: &[&str]) -> Stage {
        let name = |name: &&str| Spanned::new(0..0, (*name).to_owned());
        Stage {
            label: name(&"a"),
            lane: Layer::Ip,
            at: At::Entry,
            optional: false,
            functions: functions.iter().map(name).collect(),
            ipv4: Vec::new(),
            ipv6: Vec::new(),
            tracepoints: tracepoints.iter().map(name).collect(),
        }
    }

    #[test]
    fn the_best_comes_first_and_a_tracepoint_last() {
        let kernel = offered(&["f", "g.constprop.0", "f.cold"], &["t"]);
        let points = probe_points(&stage(&["h", "g", "f"], &["t"]), false, &kernel);
        if let ProbePoints::Points(points) = &points {
            assert_eq!((points[1].arguments, points[2].kind), (Some(7), PointKind::Tracepoint));
        }
        assert_eq!(names(points), ["g.constprop.0", "f", "t"]);
    }

    #[test]
    fn what_is_missing_has_its_reason() {
        let asked = stage(&["g", "h"], &["t"]);
        let missing = probe_points(&asked, true, &offered(&["g.part.0", "gg"], &[]));
        let reason = "only a part of the function g; no function h (absent or inlined); no tracepoint t";
        assert_eq!(missing, ProbePoints::Missing(reason.to_owned()));
        let nothing = OfferedProbes { functions: Err("hidden".into()), types: Err("no BTF".into()) };
        assert_eq!(probe_points(&asked, false, &nothing), ProbePoints::Missing("hidden; no BTF".into()));
    }

    proptest! {
        #[test]
        fn only_what_the_kernel_offers_is_found(
            functions in prop::collection::btree_set("[ab]{1,2}(\\.(cold|part\\.0|isra\\.0))?", 0..8),
            asked in prop::collection::vec("[ab]{1,2}", 1..5),
        ) {
            let kernel = OfferedProbes { functions: Ok(functions.clone()), types: Ok(Btf::default()) };
            let names: Vec<&str> = asked.iter().map(String::as_str).collect();
            match probe_points(&stage(&names, &[]), false, &kernel) {
                ProbePoints::Points(points) => for point in points {
                    prop_assert!(functions.contains(&point.name));
                    prop_assert!(!point.name.contains("cold") && !point.name.contains("part"));
                },
                ProbePoints::Missing(reason) => {
                    prop_assert!(asked.iter().all(|name| !functions.contains(name)));
                    prop_assert!(!reason.is_empty());
                }
            }
        }
    }

    #[test]
    fn every_bundled_path_resolves_stage_by_stage_on_this_kernel() {
        let paths: Vec<TracePath> = PATHS.iter().map(|bundled| bundled.path()).collect();
        let offered = OfferedProbes::read(&paths);
        for bundled in PATHS {
            let (path, mut resolved) = (bundled.path(), resolve(&bundled.path(), &offered));
            assert_eq!(resolved.len(), path.stages.len());
            // Where the kernel hides its lists, the reason is said; nothing else is missing.
            if offered.functions.as_ref().is_ok_and(|known| !known.is_empty()) && offered.types.is_ok() {
                resolved.retain(|stage| !stage.optional && stage.lane != Layer::Driver);
                for stage in resolved {
                    assert!(matches!(stage.ipv4, ProbePoints::Points(_)), "{}: {stage:?}", bundled.name);
                }
            }
        }
    }

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

    #[test]
    fn functions_are_those_symbols_that_are_code() {
        let list = "ffff0 T udp_sendmsg\nffff1 d jiffies\n0 t veth_xmit\t[veth]\nbad\n0 W a\u{7}b\n";
        assert_eq!(functions(list, |_| true), ["udp_sendmsg", "veth_xmit"].map(str::to_owned).into());
    }

    #[test]
    fn copies_of_what_paths_name_are_kept() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        let list = "0 T udp_sendmsg\n0 t udp_sendmsg.part.0\n0 t udp_sendmsg_x\n0 t ip_output\n";
        std::fs::write(root.path().join(SYMBOLS), list).unwrap();
        let stage = "lane = \"ip\"\nfunctions";
        let text = format!(
            "about = \"x\"\nworkload = \"udp_rr\"\n[[stage]]\nlabel = \"a\"\n{stage} = [\"udp_sendmsg\"]\n\
             [[stage]]\nlabel = \"b\"\n{stage} = [\"b\"]\n"
        );
        let offered = OfferedProbes::read_from(root.path(), &[TracePath::parse("a path", &text).unwrap()]);
        assert_eq!(
            offered.functions.unwrap(),
            ["udp_sendmsg", "udp_sendmsg.part.0"].map(str::to_owned).into()
        );
    }

    #[test]
    fn a_list_that_is_missing_has_its_reason() {
        let root = tempfile::tempdir().unwrap();
        let offered = OfferedProbes::read_from(root.path(), &[]);
        assert!(offered.functions.unwrap_err().contains("/proc/kallsyms cannot be read"));
        assert!(offered.types.unwrap_err().contains("/sys/kernel/btf/vmlinux cannot be read"));
    }
}

use super::*;
use proptest::prelude::*;
use words::KernelPath;

use crate::btf::Btf;
use crate::ladder::{Availability, Rung};

fn offered(functions: &[&str], tracepoints: &[&str]) -> OfferedProbes {
    let seven = Arguments { count: 7, packet: None };
    let tracepoints = tracepoints.iter().map(|&name| (name.to_owned(), Arguments::default()));
    let types = Btf { functions: [("f".to_owned(), seven)].into(), tracepoints: tracepoints.collect() };
    OfferedProbes { functions: Ok(functions.iter().map(|&name| name.to_owned()).collect()), types: Ok(types) }
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
    let paths = KernelPath::ALL.map(TracePath::bundled);
    let offered = OfferedProbes::read(&paths);
    for (word, path) in KernelPath::ALL.into_iter().zip(&paths) {
        let mut resolved = resolve(path, &offered);
        assert_eq!(resolved.len(), path.stages.len());
        // Where the kernel hides its lists, the reason is said; nothing else is missing.
        if offered.functions.as_ref().is_ok_and(|known| !known.is_empty()) && offered.types.is_ok() {
            resolved.retain(|stage| !stage.optional && stage.lane != Layer::Driver);
            for stage in resolved {
                assert!(matches!(stage.ipv4, ProbePoints::Points(_)), "{word}: {stage:?}");
            }
        }
    }
}

#[test]
fn the_running_kernel_is_surveyed_without_a_probe_at_a_function() {
    let paths = KernelPath::ALL.map(TracePath::bundled);
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
    assert_eq!(offered.functions.unwrap(), ["udp_sendmsg", "udp_sendmsg.part.0"].map(str::to_owned).into());
}

#[test]
fn a_list_that_is_missing_has_its_reason() {
    let root = tempfile::tempdir().unwrap();
    let offered = OfferedProbes::read_from(root.path(), &[]);
    assert!(offered.functions.unwrap_err().contains("/proc/kallsyms cannot be read"));
    assert!(offered.types.unwrap_err().contains("/sys/kernel/btf/vmlinux cannot be read"));
}

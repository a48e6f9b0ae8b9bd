//! Paths with the places that a kernel offers to probe.

use results::{ListedPath, PathList, TracedMachine};
use trace::{At, Availability, LadderStep, PointKind, ProbePoints, ResolvedStage};

use crate::document::Block;

/// The kinds of probe, then each path with its stages.
pub fn path_list(found: &PathList) -> Vec<Block<'static>> {
    let whose = match found.on.as_ref().and_then(TracedMachine::named) {
        Some(named) => named,
        None if found.inside_guest => "the virtual machine's kernel".to_owned(),
        None => "this kernel".to_owned(),
    };
    let title = format!("probes at places of {whose}, best first");
    let probes = Block::titled_list(title, found.probes.0.iter().map(probe).collect());
    probes.into_iter().chain(found.paths.iter().filter_map(path)).collect()
}

fn probe(step: &LadderStep) -> String {
    let without = match step.verdict {
        Availability::Yes => String::new(),
        _ => format!("; without: {}", step.without),
    };
    format!("{}: {}: {}{without}", step.name, step.verdict, step.reason)
}

fn path(path: &ListedPath) -> Option<Block<'static>> {
    let is_there = |found: &&ProbePoints| matches!(found, ProbePoints::Points(_));
    let both = |stage: &&ResolvedStage| [&stage.ipv4, &stage.ipv6].iter().all(is_there);
    let (resolved, all) = (path.stages.iter().filter(both).count(), path.stages.len());
    let title = format!("{}: {} ({resolved} of {all} stages resolved)", path.name, path.about);
    Block::titled_list(title, path.stages.iter().map(stage).collect())
}

fn stage(stage: &ResolvedStage) -> String {
    let end = match stage.at {
        At::Entry => "",
        At::Return => " return",
    };
    let optional = if stage.optional { ", optional" } else { "" };
    let found = if stage.ipv4 == stage.ipv6 {
        points(&stage.ipv4)
    } else {
        format!("IPv4 {}; IPv6 {}", points(&stage.ipv4), points(&stage.ipv6))
    };
    format!("{}{end} ({}{optional}): {found}", stage.label, stage.lane)
}

fn points(found: &ProbePoints) -> String {
    match found {
        ProbePoints::Missing(reason) => format!("missing: {reason}"),
        ProbePoints::Points(all) => {
            let names = all.iter().map(|point| match point.kind {
                PointKind::Function => point.name.clone(),
                PointKind::Tracepoint => format!("tracepoint {}", point.name),
            });
            names.collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use trace::{JourneyPhase, Layer, ProbePoint};

    use super::*;

    fn resolved(ipv4: ProbePoints, ipv6: ProbePoints) -> ResolvedStage {
        let (lane, at, phase) = (Layer::Ip, At::Return, JourneyPhase::Out);
        ResolvedStage { label: "x".into(), lane, at, optional: true, phase, ipv4, ipv6 }
    }

    fn found(name: &str, kind: PointKind) -> ProbePoints {
        ProbePoints::Points(vec![ProbePoint { kind, name: name.to_owned(), arguments: None, packet: None }])
    }

    #[test]
    fn a_stage_names_its_points_once_where_both_families_have_the_same() {
        let same = || found("f", PointKind::Function);
        assert_eq!(stage(&resolved(same(), same())), "x return (ip, optional): f");
        let (tracepoint, missing) =
            (found("t", PointKind::Tracepoint), ProbePoints::Missing("no function g".into()));
        let both = stage(&resolved(tracepoint, missing));
        assert_eq!(both, "x return (ip, optional): IPv4 tracepoint t; IPv6 missing: no function g");
    }
}

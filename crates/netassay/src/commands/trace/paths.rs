//! `netassay trace --paths`: the bundled paths, with what this kernel offers to probe.

use report::document::Block;
use serde::Serialize;
use study::{Kind as Traffic, Scenario};
use trace::{At, BundledPath, PATHS, PointKind, ProbePoints, ResolvedStage, Survey};

use super::place::{self, OnMachine, PathKeys};
use crate::cli::Trace;
use crate::commands::load::Asked;
use crate::commands::undo::SaysUnrestored;
use crate::doctor::{Rung, rungs};
use crate::failure::Failure;
use crate::output::show_view;
use crate::signals;

#[derive(Serialize)]
struct List {
    /// True for the kernel of a virtual machine.
    inside_guest: bool,
    /// The machine, if it is not this one.
    #[serde(flatten)]
    on: Option<OnMachine>,
    /// The kinds of probe that it allows, best first.
    probes: Vec<Rung>,
    paths: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    about: String,
    stages: Vec<ResolvedStage>,
}

pub(super) fn list(names: &[&str], keys: &PathKeys, flags: &Trace) -> Result<(), Failure> {
    let wanted: Vec<&BundledPath> = if names.is_empty() {
        PATHS.iter().collect()
    } else {
        names.iter().map(|name| find(name)).collect::<Result<_, _>>()?
    };
    // Nothing is sent, and a machine without veth has its loopback.
    let default = match flags.hosts.names_any() {
        true => Scenario::Ssh,
        false if flags.host.is_some() => Scenario::Loopback,
        false => Scenario::Veth,
    };
    let asked = Asked::from_keys(Traffic::UdpStream, default, &keys.traffic)?;
    place::check_machine(&asked, flags)?;
    let is_here = !asked.inside_guest && asked.scenario.is_of_namespaces() && flags.host.is_none();
    let (Survey { ladder, paths }, on) = if is_here {
        let paths: Vec<trace::TracePath> = wanted.iter().map(|bundled| bundled.path()).collect();
        (Survey::make(&paths, false), None)
    } else {
        elsewhere(&asked, keys.exact, flags, &wanted)?
    };
    let listed = wanted.into_iter().zip(paths).map(|(bundled, stages)| Listed {
        name: bundled.name,
        about: bundled.path().about,
        stages,
    });
    let (inside_guest, probes) = (asked.inside_guest, rungs(&ladder));
    let list = List {
        inside_guest: inside_guest || asked.scenario.has_guests(),
        on,
        probes,
        paths: listed.collect(),
    };
    show_view(&list, &flags.output, false, |one, _| one.blocks())
}

/// Boots the kernel, or reaches the machine, and asks it.
fn elsewhere(
    asked: &Asked,
    exact: bool,
    flags: &Trace,
    wanted: &[&BundledPath],
) -> Result<(Survey, Option<OnMachine>), Failure> {
    let interrupt = signals::interrupt()?;
    let hosts = place::hosts(asked, flags, &interrupt)?;
    let _says_unrestored = SaysUnrestored(hosts.clone());
    let mut testbed = place::testbed(asked, exact, hosts.as_ref(), &interrupt)?;
    let texts = wanted.iter().map(|bundled| bundled.text.to_owned()).collect();
    let functions = !flags.tracepoints && testbed.may_probe_functions()?;
    Ok((testbed.survey(texts, functions)?, Some(place::on(&mut testbed, hosts.as_ref())?)))
}

pub(super) fn find(name: &str) -> Result<&'static BundledPath, Failure> {
    PATHS.iter().find(|path| path.name == name).ok_or_else(|| {
        let names: Vec<&str> = PATHS.iter().map(|path| path.name).collect();
        Failure::Usage(format!("{name:?} is no bundled path (bundled: {})", names.join(", ")))
    })
}

impl List {
    fn blocks(&self) -> Vec<Block<'static>> {
        let whose = match self.on.as_ref().and_then(OnMachine::named) {
            Some(named) => named,
            None if self.inside_guest => "the virtual machine's kernel".to_owned(),
            None => "this kernel".to_owned(),
        };
        let rungs = self.probes.iter().map(Rung::sentence).collect();
        let probes =
            Block::Fold(format!("probes at places of {whose}, best first"), vec![Block::List(rungs)]);
        std::iter::once(probes).chain(self.paths.iter().map(Listed::block)).collect()
    }
}

impl Listed {
    fn block(&self) -> Block<'static> {
        let both = |stage: &&ResolvedStage| [&stage.ipv4, &stage.ipv6].iter().all(|found| is_there(found));
        let resolved = self.stages.iter().filter(both).count();
        let title =
            format!("{}: {} ({resolved} of {} stages resolved)", self.name, self.about, self.stages.len());
        Block::Fold(title, vec![Block::List(self.stages.iter().map(line).collect())])
    }
}

fn is_there(found: &ProbePoints) -> bool {
    matches!(found, ProbePoints::Points(_))
}

fn line(stage: &ResolvedStage) -> String {
    let end = match stage.at {
        At::Entry => "",
        At::Return => " return",
    };
    let optional = if stage.optional { ", optional" } else { "" };
    let found = if stage.ipv4 == stage.ipv6 {
        words(&stage.ipv4)
    } else {
        format!("IPv4 {}; IPv6 {}", words(&stage.ipv4), words(&stage.ipv6))
    };
    format!("{}{end} ({}{optional}): {found}", stage.label, stage.lane)
}

fn words(found: &ProbePoints) -> String {
    match found {
        ProbePoints::Missing(reason) => format!("missing: {reason}"),
        ProbePoints::Points(points) => {
            let names = points.iter().map(|point| match point.kind {
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

    fn stage(ipv4: ProbePoints, ipv6: ProbePoints) -> ResolvedStage {
        let (lane, at, phase) = (Layer::Ip, At::Return, JourneyPhase::Out);
        ResolvedStage { label: "x".into(), lane, at, optional: true, phase, ipv4, ipv6 }
    }

    fn found(name: &str, kind: PointKind) -> ProbePoints {
        ProbePoints::Points(vec![ProbePoint { kind, name: name.to_owned(), arguments: None, packet: None }])
    }

    #[test]
    fn a_stage_names_its_points_once_where_both_families_have_the_same() {
        let same = || found("f", PointKind::Function);
        assert_eq!(line(&stage(same(), same())), "x return (IP, optional): f");
        let (tracepoint, missing) =
            (found("t", PointKind::Tracepoint), ProbePoints::Missing("no function g".into()));
        let both = line(&stage(tracepoint, missing));
        assert_eq!(both, "x return (IP, optional): IPv4 tracepoint t; IPv6 missing: no function g");
    }

    #[test]
    fn an_unknown_path_is_refused_with_those_that_exist() {
        let error = find("udp").unwrap_err().to_string();
        assert_eq!(error, "\"udp\" is no bundled path (bundled: udp-tx, udp-rx, tcp-tx, tcp-rx)");
    }
}

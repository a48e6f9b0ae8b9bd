//! `netassay trace --paths`: the bundled paths, with what this kernel offers to probe.

use report::views;
use results::{ListedPath, PathList, TracedMachine};
use study::{KernelPath, Kind as Traffic, Scenario};
use trace::{Survey, TracePath, bundled_text};

use super::place::{self, PathKeys};
use crate::cli::Trace;
use crate::commands::load::Asked;
use crate::commands::undo::SaysUnrestored;
use crate::failure::Failure;
use crate::output::show_view;
use crate::signals;

pub(super) fn list(names: &[&str], keys: &PathKeys, flags: &Trace) -> Result<(), Failure> {
    let wanted: Vec<KernelPath> = if names.is_empty() {
        KernelPath::ALL.to_vec()
    } else {
        names.iter().map(|name| find(name)).collect::<Result<_, _>>()?
    };
    // No packet is sent, and a machine without veth has its loopback.
    let default = match flags.hosts.names_any() {
        true => Scenario::Ssh,
        false if flags.host.is_some() => Scenario::Loopback,
        false => Scenario::Veth,
    };
    let asked = Asked::from_keys(Traffic::UdpStream, default, &keys.traffic)?;
    place::check_machine(&asked, flags)?;
    let is_here = !asked.inside_guest && asked.scenario.is_of_namespaces() && flags.host.is_none();
    let (Survey { ladder, paths }, on) = if is_here {
        let paths: Vec<TracePath> = wanted.iter().copied().map(TracePath::bundled).collect();
        (Survey::make(&paths, false), None)
    } else {
        elsewhere(&asked, keys.exact, flags, &wanted)?
    };
    let listed = wanted.into_iter().zip(paths).map(|(path, stages)| ListedPath {
        name: path.word(),
        about: TracePath::bundled(path).about.into_inner(),
        stages,
    });
    let list = PathList {
        inside_guest: asked.inside_guest || asked.scenario.has_guests(),
        on,
        probes: ladder,
        paths: listed.collect(),
    };
    show_view(&list, &flags.output, |list, _| views::path_list(list))
}

fn elsewhere(
    asked: &Asked,
    exact: bool,
    flags: &Trace,
    wanted: &[KernelPath],
) -> Result<(Survey, Option<TracedMachine>), Failure> {
    let interrupt = signals::interrupt()?;
    let (hosts, _) = place::hosts(asked, flags, &interrupt)?;
    let _says_unrestored = SaysUnrestored(hosts.clone());
    let mut testbed = place::testbed(asked, exact, hosts.as_ref(), true, &interrupt)?;
    let texts = wanted.iter().map(|path| bundled_text(*path).to_owned()).collect();
    let functions = !flags.tracepoints && testbed.may_probe_functions()?;
    Ok((testbed.survey(texts, functions)?, Some(place::on(&mut testbed, hosts.as_ref())?)))
}

pub(super) fn find(name: &str) -> Result<KernelPath, Failure> {
    KernelPath::ALL.into_iter().find(|path| path.word() == name).ok_or_else(|| {
        let names = KernelPath::ALL.map(KernelPath::word);
        Failure::Usage(format!("{name:?} is no bundled path (bundled: {})", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_path_is_refused_with_those_that_exist() {
        let error = find("udp").unwrap_err().to_string();
        assert_eq!(error, "\"udp\" is no bundled path (bundled: udp-tx, udp-rx, tcp-tx, tcp-rx)");
    }
}

//! `[trace]`.

use words::{Field, KernelPath, Scenario, Word};

use crate::model::Tracing;
use crate::model::tables::TRACE;
use crate::read::{ParsedWorkload, Problem, Problems, Section, TomlEntry, part};

/// Reports traffic that cannot be traced: between two namespaces of this machine, or not one
/// message after the other.
pub(crate) fn read(
    mut table: Section<'_>,
    (scenarios, inside_guest, exact): (&[Scenario], bool, bool),
    workloads: &[ParsedWorkload],
    problems: &mut Problems,
) -> Option<Tracing> {
    let mut tracing = Tracing::default();
    let place = table.span.clone();
    let readers = table.take("readers");
    let paths = table.require("paths", "`paths = [\"udp-tx\"]`", problems);
    part::fill(table, &TRACE, problems, |key, value| match key {
        "batch" => tracing.batch.set(value),
        "rounds" => tracing.rounds.set(value),
        _ => tracing.profile.set(value),
    });
    if let Some(readers) = readers {
        tracing.readers = word_list(&readers, problems)?;
    }
    let paths = paths?;
    tracing.paths = word_list::<KernelPath>(&paths, problems)?;
    let is_here = |scenario: &&Scenario| {
        scenario.is_of_namespaces() && **scenario != Scenario::Loopback && !inside_guest
    };
    if let Some(scenario) = scenarios.iter().find(is_here) {
        let message = format!(
            "a trace of `{scenario}` needs a virtual machine: here an agent may not enter the other end's namespace"
        );
        let help = "write `inside = \"guest\"` at the top, or use the scenario `vm`, `ssh`, or `loopback`, which is traced by tracepoints";
        problems.report(place, message, help);
    }
    let kinds = || workloads.iter().map(|read| read.workload.traffic.kind);
    if !workloads.is_empty() && kinds().all(|kind| tracing.of_kind(kind).next().is_none()) {
        let words: Vec<&str> = tracing.paths.iter().map(|path| path.word()).collect();
        let message = format!("no workload has packets on {}", words.join(", "));
        let help = "paths are of UDP or of TCP; ways in need a receiver, and readers that sleep need requests and responses";
        problems.report(paths.span(), message, help);
    }
    // Exact mode has reported its own problems already.
    for read in workloads.iter().filter(|_| !exact) {
        // Of several scenarios, a setting that none of them supports; the plan leaves out the
        // others.
        let misfits = |scenario: &Scenario| read.workload.traffic.traced_misfits(*scenario);
        for key in scenarios.first().map(misfits).unwrap_or_default().into_iter().map(|misfit| misfit.key) {
            if scenarios.iter().all(|scenario| misfits(scenario).iter().any(|other| other.key == key)) {
                let message =
                    format!("a trace does not support this `{key}`: it sends one message after the other");
                problems.report(read.place_of(key), message, format!("change `{key}`, or remove `[trace]`"));
            }
        }
    }
    Some(tracing)
}

fn word_list<W: Word + std::fmt::Display>(value: &TomlEntry<'_>, problems: &mut Problems) -> Option<Vec<W>> {
    let items = TomlEntry::items(value.value).iter();
    let read: Vec<Option<W>> = items.map(|one| TomlEntry::item(value.key, one).word(problems)).collect();
    let words = read.into_iter().collect::<Option<Vec<W>>>()?;
    let is_twice = (1..words.len()).any(|place| words[..place].contains(&words[place]));
    if words.is_empty() || is_twice {
        let what = if is_twice { "names one twice" } else { "is empty" };
        let message = format!("`{}` {what}", words::suggest::quoted(value.key));
        return Problem::new(value.span(), message).help("name each once").reject(problems);
    }
    Some(words)
}

#[cfg(test)]
mod tests;

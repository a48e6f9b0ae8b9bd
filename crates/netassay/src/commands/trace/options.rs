//! Which options of `trace` are for a path, and which for a study: what would do nothing is
//! refused.

use crate::cli::{CampaignFlags, Trace};

/// The first option that was given and is for a path.
pub(super) fn of_paths(flags: &Trace) -> Option<&'static str> {
    first([
        (!flags.said.0.is_empty(), "an option of traffic"),
        (flags.batch.is_some(), "--batch"),
        (flags.rounds.is_some(), "--rounds"),
        (flags.asleep, "--asleep"),
        (flags.exact, "--exact"),
        (flags.tracepoints, "--tracepoints"),
        (!flags.chart.is_empty(), "--chart"),
    ])
}

/// The first option that was given and is for a study that is measured.
pub(super) fn of_studies(flags: &Trace) -> Option<&'static str> {
    let CampaignFlags { set, database: _, dry_run: _, resume, keep_disturbed } = &flags.campaign;
    first([
        (!set.changes.is_empty(), "--set"),
        (resume.is_some(), "--resume"),
        (*keep_disturbed, "--keep-disturbed"),
    ])
}

/// The option that names a machine, if one was given.
pub(super) fn of_machines(flags: &Trace) -> Option<&'static str> {
    first([
        (flags.host.is_some(), "--host"),
        (flags.hosts.transmitter.is_some(), "--transmitter"),
        (flags.hosts.receiver.is_some(), "--receiver"),
        (flags.hosts.hosts.is_some(), "--hosts"),
    ])
}

fn first<const N: usize>(options: [(bool, &'static str); N]) -> Option<&'static str> {
    options.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
}

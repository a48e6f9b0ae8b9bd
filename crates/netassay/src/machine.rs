//! What a study changes of the machine itself: allowed, journalled, undone; and what an earlier
//! session left.

use host::journal::{Change, Fate, Journal, Manner, Outcome, Report, Undoing};
use host::machine::{FeatureRequest, Machine, MachineRequest};
use study::Study;

use crate::failure::{Failure, say};

/// What a study changed of the machine. Dropping it undoes that; [`during`] says what came of it.
#[derive(Debug)]
pub(crate) struct Changed {
    journal: Journal,
    /// The changes as text, for the record.
    pub(crate) changes: Vec<String>,
}

/// Undoes what sessions that are gone left behind. To be called before anything is measured.
pub(crate) fn recover() -> Result<(), Failure> {
    // Without a place for a journal nothing can have been changed.
    let Ok(directory) = host::journal::directory() else { return Ok(()) };
    let reports = match host::journal::restore(&directory, &Machine::system(), Manner::default()) {
        // As nobody, with another's HOME: what that user changed is theirs to undo.
        Err(error) if error.is_out_of_reach() => return Ok(()),
        reports => reports?,
    };
    for report in reports.iter().filter(|report| report.fate != Fate::InUse) {
        let killed = if matches!(report.fate, Fate::NotFollowed { .. }) {
            ""
        } else {
            "an earlier session was killed; "
        };
        say(&format!("netassay: {killed}{}", words(report, false).trim_end()));
    }
    if reports.iter().any(|report| !report.damaged.is_empty() || report.changes.iter().any(failed)) {
        return Err(Failure::Environment(
            "not all settings of this machine are restored: see above; `netassay restore` tries again, and with --forget sets the \
             journal aside"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Does this with the machine changed as the study wants, if that is allowed, and undoes it,
/// whatever came of it.
pub(crate) fn during<T>(
    study: &Study,
    allowed: bool,
    act: impl FnOnce(Option<&Changed>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let wanted = study.machine();
    if wanted.is_empty() {
        return act(None);
    }
    if !allowed {
        return Err(Failure::Usage(format!(
            "the study {:?} changes this machine itself ([machine]: {}): allow it with --change-machine (netassay undoes it at the \
             end), or remove [machine] from the file",
            study.name(),
            outline(wanted)
        )));
    }
    let machine = Machine::system();
    let settings = requested(wanted).settings(&machine)?;
    let mut journal = Journal::new(&host::journal::directory()?, machine);
    let mut changed = match journal.change(&settings) {
        Ok(()) => Changed { journal, changes: Vec::new() },
        Err(error) => {
            let _ = undo(journal, true);
            return Err(error.into());
        }
    };
    changed.changes =
        changed.journal.changes().iter().filter(|one| !one.is_nothing()).map(Change::to_string).collect();
    for change in &changed.changes {
        say(&format!("changed until the end: {change}"));
    }
    let done = act(Some(&changed));
    let undone = undo(changed.journal, done.is_err());
    // What went wrong first is what the user must hear.
    let done = done?;
    undone.map(|()| done)
}

impl Changed {
    /// How the machine differs from what the study wants, in sentences; nothing if nobody has
    /// touched it.
    pub(crate) fn differences(&self) -> Vec<String> {
        self.journal.differences()
    }
}

/// Undoes what a journal tells, and says what could not be undone; with `all`, also what could.
fn undo(journal: Journal, all: bool) -> Result<(), Failure> {
    let undone = journal.undo();
    if let Err(error) = &undone {
        say(&format!("netassay: {error}"));
    }
    let done = undone?;
    for one in done.iter().filter(|one| all || !one.outcome.is_settled()) {
        say(&format!("netassay: {}", sentence(one, false)));
    }
    if done.iter().any(failed) {
        let text = "not everything could be undone: `netassay restore` tries again";
        say(&format!("netassay: {text}"));
        return Err(Failure::Environment(text.to_owned()));
    }
    Ok(())
}

fn failed(undoing: &Undoing) -> bool {
    matches!(undoing.outcome, Outcome::Failed { .. })
}

fn requested(wanted: &study::Machine) -> MachineRequest {
    let feature = |(interface, features, on): (&str, Vec<&str>, bool)| FeatureRequest {
        interface: interface.to_owned(),
        features: features.into_iter().map(str::to_owned).collect(),
        on,
    };
    MachineRequest {
        sysctls: wanted.sysctl.clone(),
        governor: wanted.governor.clone(),
        irq_affinity: wanted.irq_affinity.clone(),
        features: wanted.kernel_features().into_iter().map(feature).collect(),
    }
}

/// What a study wants changed, in a row.
fn outline(wanted: &study::Machine) -> String {
    let mut parts: Vec<String> =
        wanted.sysctl.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    parts.extend(wanted.governor.iter().map(|governor| format!("governor {governor}")));
    parts.extend(wanted.irq_affinity.keys().map(|interface| format!("interrupts of {interface}")));
    parts.extend(wanted.features.keys().map(|interface| format!("features of {interface}")));
    parts.join(", ")
}

/// What was found in a journal, and done about it.
pub(crate) fn words(report: &Report, dry_run: bool) -> String {
    let path = report.journal.display();
    let mut text = match &report.fate {
        Fate::InUse => format!(
            "{path}: its process is running and will undo it, or another session is changing this machine\n"
        ),
        Fate::Undone if dry_run => format!("{path}: would be undone\n"),
        Fate::Undone => format!("{path}: undone\n"),
        Fate::Restarted => format!("{path}: nothing to undo: the machine has booted again since\n"),
        Fate::Elsewhere { network } => format!(
            "{path}: its changes belong to the network namespace {network}; `netassay restore` there undoes them, and if it is \
             gone, `netassay restore --forget` sets the journal aside\n"
        ),
        Fate::Kept => format!("{path}: not everything is undone, so the journal is kept\n"),
        Fate::NotFollowed { why } => {
            format!("{path}: ignored: {why}; inspect it, then `netassay restore --forget` sets it aside\n")
        }
        Fate::SetAside { path: aside } => {
            format!("{path}: not everything is undone; kept as {}\n", aside.display())
        }
    };
    for undoing in &report.changes {
        text.push_str(&format!("  {}\n", sentence(undoing, dry_run)));
    }
    for damage in &report.damaged {
        text.push_str(&format!("  {damage}; its change is not undone\n"));
    }
    if report.fate == Fate::Kept && !report.damaged.is_empty() {
        text.push_str(
            "  read the file and undo these changes by hand, then `netassay restore --forget` sets it aside\n",
        );
    }
    text
}

fn sentence(undoing: &Undoing, dry_run: bool) -> String {
    let Change { target, before, after, .. } = &undoing.change;
    // While it was being changed, anything could be there.
    let after = after.as_ref().map_or("half changed".to_owned(), ToString::to_string);
    match &undoing.outcome {
        Outcome::Undone if dry_run => format!("{target}: {after} -> {before}"),
        Outcome::Undone => format!("{target}: {after} -> {before}, undone"),
        Outcome::AlreadySo => format!("{target}: is {before} already"),
        Outcome::ChangedMeanwhile { now } => format!(
            "{target}: is {now}, not the {after} that netassay set: another program changed it, so it stays; `netassay restore --force` \
             sets it to {before}, --forget keeps it for good"
        ),
        Outcome::Failed { why } => format!("{target}: cannot be set back to {before}: {why}"),
    }
}

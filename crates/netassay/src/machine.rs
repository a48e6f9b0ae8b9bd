//! This machine: testbeds on it; changes of it by a study, made and undone by its own agent; and
//! the rest of earlier sessions' changes.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use agent::Interrupt;
use agent::message::Undone;
use host::journal::{Change, JournalFate, JournalReport, RestoreOptions, UndoOutcome};
use host::machine::{FeatureRequest, Machine, MachineRequest};
use record::Cause;
use report::Layout;
use report::document::{Block, terminal};
use study::{BootState, BySide, Study};
use testbed::{MachineSideSettings, SettingsAgent, TestbedOptions};

use crate::failure::{Failure, bail, say};

/// The running binary itself, even if its file was replaced: it becomes each agent.
pub(crate) const PROGRAM: &str = "/proc/self/exe";

pub(crate) fn testbed_options(
    state: impl Into<BootState>,
    rootless: bool,
    interrupt: &Interrupt,
) -> Result<TestbedOptions, Failure> {
    // This process is not pinned yet: the split is of the CPUs that it may use.
    let cpus = testbed::cpu_split_of_this_machine(PROGRAM.as_ref(), interrupt)?;
    Ok(TestbedOptions::new(state, PROGRAM, cpus, rootless))
}

/// Pins the controller to a CPU outside of the measured ones. Returns whether there is one.
pub(crate) fn pin_to_own_cpu(options: &TestbedOptions) -> Result<bool, Failure> {
    let own = &options.cpus.controller;
    if !own.is_empty() {
        host::affinity::pin_current_thread(own)?;
    }
    Ok(!own.is_empty())
}

/// The time in which the agent of a killed session exits.
const DYING: Duration = Duration::from_secs(1);

/// The time in which the agent of a session that has just ended undoes its changes and exits.
const UNDOING: Duration = Duration::from_secs(5);

/// Undoes the changes of sessions that are gone. Call it before measuring.
pub(crate) fn recover() -> Result<(), Failure> {
    let mut reports = restored(DYING)?;
    // Settings that a user applied are not in the way of measurements that do not change them.
    reports.retain(|report| !matches!(report.fate, JournalFate::InUse | JournalFate::Applied { .. }));
    let mut is_all_restored = true;
    for report in &reports {
        let is_followed = !matches!(report.fate, JournalFate::NotFollowed { .. });
        let killed = if is_followed { "an earlier session was killed; " } else { "" };
        say(&format!("netassay: {killed}{}", journal_text(report).trim_end()));
        is_all_restored &= report.damaged.is_empty()
            && !report.changes.iter().any(|one| matches!(one.outcome, UndoOutcome::Failed { .. }));
    }
    if !is_all_restored {
        let ways = "`netassay undo` tries again, and with --forget sets the journal aside";
        bail!(Environment, "not all settings of this machine are restored: see above; {ways}");
    }
    Ok(())
}

/// Undoes the changes of sessions that are gone, and tells those that are left; empty: none is.
pub(crate) fn unrestored() -> Result<String, Failure> {
    Ok(restored(UNDOING)?.iter().filter(|report| report.is_left()).map(journal_text).collect())
}

/// Undoes the changes of sessions that are gone, or exit within `patience`.
fn restored(patience: Duration) -> Result<Vec<JournalReport>, Failure> {
    // Without a place for a journal nothing can have been changed.
    let Ok(directory) = host::journal::directory() else { return Ok(Vec::new()) };
    let restore = || host::journal::restore(&directory, &Machine::system(), RestoreOptions::default());
    let mut reports = match restore() {
        // This is nobody with another user's HOME: that user undoes their own changes.
        Err(error) if error.is_out_of_reach() => return Ok(Vec::new()),
        reports => reports?,
    };
    let is_used = |report: &JournalReport| report.fate == JournalFate::InUse;
    let begun = Instant::now();
    while reports.iter().any(is_used) && begun.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(10));
        reports.retain(|report| !is_used(report));
        let more = restore()?.into_iter();
        let new = more.filter(|new| reports.iter().all(|known| known.journal != new.journal));
        reports.extend(new.collect::<Vec<_>>());
    }
    Ok(reports)
}

/// Calls `act` with the changes of a study and the differences from them that are seen later, and
/// undoes the changes whether or not it fails.
pub(crate) fn during<T>(
    study: &Study,
    wanted: &study::Machines,
    allowed: bool,
    act: impl FnOnce(&[Change], &dyn Fn() -> Vec<Cause>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if wanted.is_empty() {
        return act(&[], &Vec::new);
    }
    check_allowed(study, allowed)?;
    let of_two = wanted.of_two_machines();
    if !of_two.is_empty() {
        let (name, of_two) = (&study.name, of_two.join(", "));
        let ways = "name both (--transmitter, --receiver)";
        bail!(Usage, "{name:?} has settings of two machines ({of_two}): {ways}");
    }
    // Ctrl-C does not end the conversation with this agent, so that changes are undone after it.
    let nobody_stops = Interrupt::new().map_err(|error| Failure::Environment(error.to_string()))?;
    let mut settings = SettingsAgent::of_this_machine(PROGRAM.as_ref(), &nobody_stops)?;
    let changes = settings.change(requested(&wanted.both));
    let settings = RefCell::new(settings);
    let differences = || match settings.borrow_mut().differences() {
        Ok(differences) => differences.into_iter().map(Cause::Setting).collect(),
        Err(error) => vec![Cause::SettingsUnread(error.to_string())],
    };
    let done = changes.map_err(|error| Failure::Environment(error.to_string())).and_then(|changes| {
        changes.iter().for_each(|change| say(&format!("changed until the end: {change}")));
        act(&changes, &differences)
    });
    let undone = undo(settings.into_inner(), done.is_err());
    // The first error matters most.
    let done = done?;
    undone.map(|()| done)
}

pub(crate) fn of_sides(study: &Study, allowed: bool) -> Result<BySide<MachineSideSettings>, Failure> {
    if !study.machine.is_empty() || study.machine_factors().next().is_some() {
        check_allowed(study, allowed)?;
    }
    Ok(BySide::from_fn(|side| {
        let own = study.machine.for_side(side);
        MachineSideSettings { wanted: requested(&own), placement: own.placement }
    }))
}

pub(crate) fn check_allowed(study: &Study, allowed: bool) -> Result<(), Failure> {
    if allowed {
        return Ok(());
    }
    let (name, settings) = (&study.name, outline(study));
    let ways = "allow it with --change-machine (netassay undoes it at the end), or remove them from the file";
    bail!(Usage, "the study {name:?} changes settings of the machine itself ({settings}): {ways}");
}

fn undo(mut settings: SettingsAgent, all: bool) -> Result<(), Failure> {
    let why = match settings.undo() {
        Ok(undone) => {
            for one in undone.iter().filter(|one| all || !matches!(one, Undone::Settled(_))) {
                say(&format!("netassay: {}", one.sentence()));
            }
            if !undone.iter().any(|one| matches!(one, Undone::Failed(_))) {
                return Ok(());
            }
            "not everything could be undone: `netassay undo` tries again".to_owned()
        }
        Err(error) => format!("{error}: `netassay undo` undoes what is left"),
    };
    say(&format!("netassay: {why}"));
    Err(Failure::Environment(why))
}

pub(crate) fn requested(wanted: &study::MachineTuning) -> MachineRequest {
    let feature = |(interface, features, on): (&str, Vec<&str>, bool)| FeatureRequest {
        interface: interface.to_owned(),
        features: features.into_iter().map(str::to_owned).collect(),
        on,
    };
    MachineRequest {
        sysctls: wanted.sysctl.clone(),
        governor: wanted.governor.clone(),
        cpu_latency: wanted.cpu_latency,
        placement: None,
        irq_affinity: wanted.irq_affinity.clone(),
        features: wanted.kernel_features().into_iter().map(feature).collect(),
    }
}

fn outline(study: &Study) -> String {
    let factors = study.machine_factors().map(str::to_owned).collect();
    let tables = [("machine", parts(&study.machine)), ("factors", factors)];
    let tables = tables.into_iter().filter(|(_, parts)| !parts.is_empty());
    tables.map(|(table, parts)| format!("[{table}]: {}", parts.join(", "))).collect::<Vec<_>>().join("; ")
}

fn parts(wanted: &study::Machines) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let own = wanted.own.each_ref().into_iter().map(|(side, own)| (format!("{side}: "), own));
    for (of, wanted) in std::iter::once((String::new(), &wanted.both)).chain(own) {
        let mut add = |part: String| parts.push(of.clone() + &part);
        wanted.sysctl.iter().for_each(|(name, value)| add(format!("{name} = {value}")));
        wanted.governor.iter().for_each(|governor| add(format!("governor {governor}")));
        wanted.cpu_latency.iter().for_each(|held| add(format!("wake-up time of CPUs {held} µs")));
        wanted.placement.iter().for_each(|_| add("placement".to_owned()));
        wanted.irq_affinity.keys().for_each(|interface| add(format!("interrupts of {interface}")));
        wanted.features.keys().for_each(|interface| add(format!("features of {interface}")));
    }
    parts
}

pub(crate) fn journal_block(report: &JournalReport, dry_run: bool) -> Block<'static> {
    let fate = match &report.fate {
        JournalFate::InUse => {
            "its process is running and will undo it, or another session is changing this machine: try again after its end"
                .to_owned()
        }
        JournalFate::Undone if dry_run => "would be undone".to_owned(),
        JournalFate::Undone => "undone".to_owned(),
        JournalFate::Restarted => "nothing to undo: the machine has booted again since".to_owned(),
        JournalFate::Elsewhere { network } => format!(
            "its changes belong to the network namespace {network}; `netassay undo` there undoes them, and if it is gone, \
             `netassay undo --forget` sets the journal aside"
        ),
        JournalFate::Applied { why } => format!("applied to stay ({why}); `netassay undo` undoes it"),
        JournalFate::Kept => "not everything is undone, so the journal is kept".to_owned(),
        JournalFate::NotFollowed { why } => {
            format!("ignored: {why}; inspect it, then `netassay undo --forget` sets it aside")
        }
        JournalFate::SetAside { path: aside } => {
            format!("not everything is undone; kept as {}", aside.display())
        }
    };
    let mut lines: Vec<String> = report.changes.iter().map(|undoing| undoing.sentence(dry_run)).collect();
    lines.extend(report.damaged.iter().map(|damage| format!("{damage}; its change is not undone")));
    let untold = report.damaged_lines - report.damaged.len();
    if untold > 0 {
        lines.push(format!("{untold} more damaged lines, {} in all", report.damaged_lines));
    }
    if report.fate == JournalFate::Kept && !report.damaged.is_empty() {
        let next =
            "read the file and undo these changes by hand, then `netassay undo --forget` sets it aside";
        lines.push(next.to_owned());
    }
    Block::Fold(format!("{}: {fate}", report.journal.display()), vec![Block::List(lines)])
}

fn journal_text(report: &JournalReport) -> String {
    terminal(&[journal_block(report, false)], Layout::WIDE)
}

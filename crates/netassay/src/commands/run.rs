//! `netassay run` and `netassay quick`: the main job.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent::Interrupt;
use report::document::terminal;
use report::views;
use runner::{Campaign, Ending, Event, LocalLab, Summary};
use store::{Store, StoreError, StudyId};
use study::{BootKind, BootState, BySide, Machines, Study};

use crate::again::again;
use crate::cli::{Format, Measured, Run, RunFlags};
use crate::commands::aa;
use crate::commands::advise::in_short;
use crate::commands::hosts::{self, ReachedHosts};
use crate::commands::report as page_of;
use crate::commands::stored::newest_called;
use crate::commands::study_files::{crowding, find, refusals};
use crate::commands::undo::SaysUnrestored;
use crate::exit;
use crate::failure::{Failure, say};
use crate::machine::{self, Changed};
use crate::output::{self, named};
use crate::signals;
use crate::terminal::Progress;
use crate::turn;

pub(crate) fn quick(measured: &Measured) -> Result<ExitCode, Failure> {
    results("quick", measured)
}

pub(crate) fn run(flags: &Run) -> Result<ExitCode, Failure> {
    match &flags.study {
        Some(name) if !flags.aa.aa => results(name, &flags.measured),
        _ => aa::aa(flags),
    }
}

/// Measures a study, and shows its results.
fn results(name: &str, measured: &Measured) -> Result<ExitCode, Failure> {
    let flags = &measured.flags;
    let study = asked(name, flags)?;
    let Some(summary) = measure(&study, flags)? else { return Ok(ExitCode::from(exit::OK)) };
    // If no run counts, the page says why.
    let stored = Store::open_read_only(&flags.campaign.database.db)?.load(summary.study)?.sanitised();
    let results = results::Results::new(&stored)?;
    let written =
        if measured.no_report { None } else { report_beside(&flags.campaign.database.db, summary.study) };
    let place = written.as_deref().map_or_else(String::new, |path| format!("Report: {}\n", named(path)));
    let short = in_short(&stored, output::layout(flags.tables.wide))?;
    // A document for programs names no file of this machine.
    if let (Format::Json, Some(path)) = (flags.output.format, &written) {
        say(&format!("wrote {}", named(path)));
    }
    output::show(&results, &flags.output, flags.tables.wide, |results, layout| {
        let blocks = views::show(results, &named(&flags.campaign.database.db), layout.wide);
        terminal(&blocks, layout) + &short + &place
    })?;
    Ok(conclude(flags, &summary))
}

/// The study with its changes; on the machines that are named, if any are.
pub(crate) fn asked(name: &str, flags: &RunFlags) -> Result<Study, Failure> {
    if !flags.hosts.names_any() {
        return find(name, &flags.set);
    }
    let mut set = flags.set.clone();
    // Only machines restart, and have kernels that they restart with, and the study is not between
    // them yet.
    set.changes.push(hosts::change("boots.how=")?);
    set.changes.push(hosts::change("kernel=")?);
    let moved = hosts::moved(&find(name, &set)?)?;
    set.changes.truncate(flags.set.changes.len());
    set.changes.extend(moved);
    find(name, &set)
}

/// Writes the report beside the database, and says where it is; why not, if it cannot be written:
/// what was measured is stored all the same.
fn report_beside(db: &Path, study: StudyId) -> Option<PathBuf> {
    match page_of::write_beside(db, study) {
        Ok(path) => Some(path),
        Err(failure) => {
            say(&format!(
                "netassay: the report was not written: {failure}; netassay report {study} -o FILE writes it elsewhere"
            ));
            None
        }
    }
}

/// Measures or resumes a study. `None` with `--dry-run`, which prints the plan.
pub(crate) fn measure(study: &Study, flags: &RunFlags) -> Result<Option<Summary>, Failure> {
    let interrupt = signals::interrupt()?;
    let is_between = flags.hosts.names_any();
    // A dry run changes nothing.
    let of_sides = match is_between {
        true => machine::of_sides(study, flags.change_machine || flags.campaign.dry_run)?,
        false => BySide::default(),
    };
    let mut reached = hosts::reach(&flags.hosts, &study.scenarios(), study.inside_guest, &interrupt)?;
    let shorter = reached.as_ref().map(|reached| reached.without_missing_families(study)).transpose()?;
    let study = shorter.as_ref().and_then(Option::as_ref).unwrap_or(study);
    if let Some(reached) = &mut reached {
        reached.check(study, &interrupt)?;
    }
    if let (true, Some(reached)) = (flags.campaign.dry_run, &mut reached) {
        reached.preview(study, &of_sides, &interrupt)?;
        return dry_run_between(study, reached, flags).map(|()| None);
    }
    let mut lab = lab(study, flags, reached, &interrupt)?;
    lab.options.machine = of_sides;
    if flags.campaign.dry_run {
        return dry_run(study, &mut lab, flags).map(|()| None);
    }
    let (db, version) = (&flags.campaign.database.db, env!("CARGO_PKG_VERSION"));
    // A file that cannot be used is refused before others are waited for.
    match Store::open_for_outlines(db) {
        Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Empty { .. }) => {}
        Err(refused) => return Err(refused.into()),
    }
    let session = turn::begin(&flags.turn, &interrupt)?;
    let here = if is_between { &Machines::default() } else { &study.machine };
    let _says_unrestored = SaysUnrestored(lab.options.hosts.clone());
    machine::during(study, here, flags.change_machine, |changed| {
        let mut store = Store::open(db)?;
        let resumed = match &flags.campaign.resume {
            None => None,
            Some(word) => Some(to_resume(&store, study, word.as_deref())?),
        };
        let own_cpu = pin_to_own_cpu(&lab)?;
        let mut progress = Progress::new(flags.progress, own_cpu);
        let mut campaign = Campaign {
            lab: &mut lab,
            store: &mut store,
            interrupt,
            observe: &mut |event: &Event| progress.show(event),
            is_decided: &results::is_decided,
            keep_disturbed: flags.campaign.keep_disturbed,
            beside: session.disturbance(),
            machine: changed.map_or(&[], |changed| &changed.changes),
            differences: &|| changed.map(Changed::differences).unwrap_or_default(),
            version,
        };
        Ok(Some(match resumed {
            Some(id) => campaign.resume(id),
            None => campaign.run(study),
        }?))
    })
}

fn lab(
    study: &Study,
    flags: &RunFlags,
    reached: Option<ReachedHosts>,
    interrupt: &Interrupt,
) -> Result<LocalLab, Failure> {
    let rootless = hosts::rootless(flags.rootless, reached.as_ref());
    let (hosts, restarter) = reached.map(|reached| reached.into_parts(flags.reboot_within)).unzip();
    Ok(LocalLab {
        options: testbed::Options {
            inside_guest: study.inside_guest,
            exact: study.exact,
            hosts,
            families: study.plan().families(),
            // Each boot has its own state.
            ..machine::testbed_options(BootState::default(), rootless, interrupt)?
        },
        interrupt: interrupt.clone(),
        // The program is kept in memory only for machines that need it again.
        restarter: restarter.filter(|_| study.protocol.how == BootKind::Reboot),
    })
}

/// Pins the controller to a CPU outside of the measured ones. Returns whether there is one.
fn pin_to_own_cpu(lab: &LocalLab) -> Result<bool, Failure> {
    let own = &lab.options.cpus.controller;
    if !own.is_empty() {
        host::affinity::pin_current_thread(own)?;
    }
    Ok(!own.is_empty())
}

/// The plan between machines of the user's. Nothing is tried out there: a dry run changes nothing.
fn dry_run_between(study: &Study, reached: &ReachedHosts, flags: &RunFlags) -> Result<(), Failure> {
    let listing = results::PlanListing::new(study, study.plan().clone(), Vec::new(), None);
    let intended = reached.intended(study);
    if flags.output.format == Format::Json {
        say(&terminal(&intended, report::Layout::WIDE));
    }
    output::show(&listing, &flags.output, flags.tables.wide, |listing, layout| {
        terminal(&views::plan(listing, layout.wide), layout) + "\n" + &terminal(&intended, layout)
    })
}

fn dry_run(study: &Study, lab: &mut LocalLab, flags: &RunFlags) -> Result<(), Failure> {
    let plan = study.plan();
    let mut refused = refusals(study);
    let is_allowed = flags.change_machine || study.machine.is_empty();
    refused.extend(machine::check_allowed(study, is_allowed).err().map(|error| error.to_string()));
    let (plan, notes, costs) = match runner::probe(plan.clone(), lab) {
        Ok(probed) => (probed.plan, probed.notes, Some(probed.costs)),
        Err(error) if error.is_interrupt() => return Err(error.into()),
        Err(error) => {
            let error = error.to_string();
            // The lacks that were found before may have stopped the try.
            if !refused.iter().any(|why| error.contains(why.as_str())) {
                refused.push(error);
            }
            say("netassay: nothing could be tried here: the plan shows what the file says");
            (plan, crowding(study), None)
        }
    };
    for why in refused {
        say(&format!("netassay: netassay run refuses it here: {why}"));
    }
    let listing = results::PlanListing::new(study, plan, notes, costs.as_ref());
    output::show_view(&listing, &flags.output, flags.tables.wide, views::plan)
}

/// Which stored study `--resume` means.
fn to_resume(store: &Store, study: &Study, word: Option<&str>) -> Result<StudyId, Failure> {
    let rows = store.studies()?;
    let called = word.map(|word| newest_called(store, word)).transpose()?;
    let found = match called {
        Some(id) => rows.iter().find(|row| row.id == id),
        None => {
            rows.iter().rev().find(|row| row.name == study.name && row.status != store::StudyStatus::Complete)
        }
    };
    let Some(row) = found else {
        return Err(Failure::Nothing(format!(
            "no unfinished study {:?} is stored: `netassay db list` shows the stored studies",
            &study.name
        )));
    };
    if row.name != study.name {
        return Err(Failure::Usage(format!(
            "stored study {} is {:?}, not {:?}",
            row.id.0, row.name, &study.name
        )));
    }
    if row.toml != study.text {
        return Err(Failure::Usage(format!(
            "the study {:?} has changed since stored study {} began: run it again without --resume, or restore its file and what --set changed (`netassay show {} --format json` holds the text)",
            &study.name, row.id.0, row.id.0
        )));
    }
    Ok(row.id)
}

/// Reports how the session ended.
pub(crate) fn conclude(flags: &RunFlags, summary: &Summary) -> ExitCode {
    let again = again();
    let db = named(&flags.campaign.database.db);
    if summary.invalid > 0 {
        let invalid = results::counted(summary.invalid, "run");
        let id = summary.study;
        say(&format!(
            "netassay: {invalid} disturbed at every try and not counted. Stop what disturbed them (netassay show {id} --runs shows it) and try again: {again} --resume {id}. With --keep-disturbed they count"
        ));
    }
    if let Some((kernel, why)) = &summary.kernel_stays {
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        say(&format!(
            "netassay: the machines run kernel {kernel} until their next restart, which boots their default kernels{why}"
        ));
    }
    let code = match summary.ending {
        Ending::Complete if summary.recorded == 0 => exit::SOME_FAILED,
        Ending::Complete => exit::OK,
        Ending::SomeFailed => {
            let failed = results::counted(summary.failed, "run");
            say(&format!("netassay: {failed} failed; {again} --resume tries again"));
            exit::SOME_FAILED
        }
        Ending::Interrupted => {
            let kept = results::counted(summary.recorded, "recorded run");
            say(&format!("netassay: interrupted; {kept} kept in {db}; {again} --resume continues"));
            exit::INTERRUPTED
        }
    };
    ExitCode::from(code)
}

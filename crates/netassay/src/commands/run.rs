//! `netassay run` and `netassay quick`: the main job.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::document::{Block, terminal};
use report::views;
use runner::{Campaign, Event, LocalLab, Summary};
use store::{FleetPair, Store, StoreError, StudyId, StudyRow, StudyStatus};
use study::{BootKind, BootState, BySide, Machines, Study};

use crate::again::again;
use crate::cli::{Format, Run, RunFlags};
use crate::commands::aa;
use crate::commands::advise::in_short;
use crate::commands::db::{check_push, push_measured};
use crate::commands::fleet;
use crate::commands::hosts::{self, ReachedHosts};
use crate::commands::report as page_of;
use crate::commands::stored::newest_called;
use crate::commands::study_files::{crowding, find, refusals};
use crate::commands::undo::SaysUnrestored;
use crate::failure::{Failure, bail, say};
use crate::output::{self, named};
use crate::terminal::ProgressDisplay;
use crate::{exit, machine, signals, turn};

pub(crate) fn run(run: &Run) -> Result<ExitCode, Failure> {
    match &run.study {
        Some(name) if !run.aa.aa => measure_and_show(name, &run.flags),
        _ => aa::aa(run),
    }
}

pub(crate) fn measure_and_show(name: &str, flags: &RunFlags) -> Result<ExitCode, Failure> {
    flags.parent.map_or(Ok(()), host::namespace::die_with_parent)?;
    let pairs = hosts::pairs(&flags.hosts)?;
    if pairs.len() > 1 && flags.hosts.pair.is_none() {
        return fleet::measure_pairs(name, flags, &pairs);
    }
    let db = &flags.campaign.database.db;
    let study = asked(name, flags)?;
    if is_measured(&study, flags)? {
        return Ok(ExitCode::from(exit::OK));
    }
    let measured = measure(&study, flags).inspect_err(|failure| keep_failure(flags, failure));
    let Some(summary) = measured? else { return Ok(ExitCode::from(exit::OK)) };
    // If no run counts, the page says why.
    let stored = Store::open_read_only(db)?.load(summary.study)?.sanitised();
    let results = results::Results::new(&stored)?;
    let written = if flags.no_report { None } else { report_beside(db, summary.study) };
    let written = written.map(|path| named(&path));
    let short = in_short(&stored, db)?;
    // A document for programs names no file of this machine.
    if let (Format::Json, Some(path)) = (flags.output.format, &written) {
        say(&format!("wrote {path}"));
    }
    output::show_view(&results, &flags.output, |results, wide| {
        let mut blocks = views::show(results, &named(db), wide);
        blocks.extend(short);
        blocks.extend(written.map(|path| Block::Text(format!("Report: {path}"))));
        blocks
    })?;
    Ok(conclude(flags, &summary))
}

pub(crate) fn asked(name: &str, flags: &RunFlags) -> Result<Study, Failure> {
    if !flags.hosts.names_any() {
        return find(name, &flags.set);
    }
    let mut set = flags.set.clone();
    // Only machines restart, have kernels that they restart with, and are traced outside of a
    // guest, and the study is not between them yet.
    for machines in ["boots.how=", "kernel=", "trace="] {
        set.push(hosts::change(machines)?);
    }
    let moved = hosts::moved(&find(name, &set)?)?;
    set.truncate(flags.set.len());
    set.extend(moved);
    find(name, &set)
}

fn report_beside(db: &Path, study: StudyId) -> Option<PathBuf> {
    let not_written = |failure: &Failure| {
        say(&format!(
            "netassay: the report was not written: {failure}; `netassay report {study}{} -o FILE` writes it elsewhere",
            views::database_option(&named(db))
        ));
    };
    // The runs are stored all the same.
    page_of::write_beside(db, study).inspect_err(not_written).ok()
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
    let reached = hosts::reach(&flags.hosts, &study.scenarios(), study.inside_guest, &interrupt)?;
    let shorter = reached.as_ref().map(|reached| reached.without_missing_families(study)).transpose()?;
    let study = shorter.as_ref().and_then(Option::as_ref).unwrap_or(study);
    // The plan of a study that cannot be resumed is of no use.
    if let (Some(word), true) = (&flags.campaign.resume, flags.campaign.dry_run) {
        to_resume(&Store::open_read_only(&flags.campaign.database.db)?, study, word.as_deref(), flags.again)?;
    }
    if let Some(reached) = &reached {
        reached.check(study)?;
        if flags.campaign.dry_run {
            let intended = reached.intended(study, &of_sides)?;
            return dry_run_between(study, intended, flags).map(|()| None);
        }
    }
    let rootless = hosts::rootless(flags.rootless, reached.as_ref());
    let restarts = study.protocol.how == BootKind::Reboot
        || reached.as_ref().is_some_and(|reached| reached.hosts.are_managed());
    let measured = reached.as_ref().and_then(ReachedHosts::measured_ends);
    let (hosts, restarter) = reached.map(|reached| reached.into_parts(flags.reboot_within)).unzip();
    let mut lab = LocalLab {
        options: testbed::TestbedOptions {
            inside_guest: study.inside_guest,
            exact: study.exact,
            hosts,
            beside: flags.turn.beside,
            families: study.plan().families(),
            machine: of_sides,
            // Each boot has its own state.
            ..machine::testbed_options(BootState::default(), rootless, &interrupt)?
        },
        interrupt: interrupt.clone(),
        // The program is kept in memory only for machines that need it again.
        restarter: restarter.filter(|_| restarts),
    };
    if flags.campaign.dry_run {
        return dry_run(study, &mut lab, flags).map(|()| None);
    }
    let (db, version) = (&flags.campaign.database.db, env!("CARGO_PKG_VERSION"));
    // A file that cannot be used is refused before others are waited for.
    match Store::open_for_outlines(db) {
        Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Empty { .. }) => {}
        Err(refused) => return Err(refused.into()),
    }
    check_push(&flags.campaign)?;
    let pair = pair_of_campaign(flags)?;
    let (_turn, beside) = turn::begin(&flags.turn, measured, &interrupt)?;
    let here = if is_between { &Machines::default() } else { &study.machine };
    let _says_unrestored = SaysUnrestored(lab.options.hosts.clone());
    lab.options.hosts.as_ref().map_or(Ok(()), testbed::Hosts::open_consoles)?;
    machine::during(study, here, flags.change_machine, |changes, differences| {
        let mut store = Store::open(db)?;
        let resumed = match (&flags.campaign.resume, &pair) {
            (None, None) => None,
            (Some(word), None) => Some(to_resume(&store, study, word.as_deref(), flags.again)?),
            (_, Some(pair)) => match begun(&store, pair)? {
                Some(row) if row.toml != study.text => {
                    let (campaign, id) = (&pair.campaign, row.id);
                    let ways = "restore its file and what --set changed, or give another --campaign";
                    bail!(
                        Usage,
                        "campaign {campaign} measured pair {pair} by another study, stored as study {id}: {ways}"
                    );
                }
                Some(row) if row.status == StudyStatus::Complete && !flags.again => {
                    return conclude_measured(&store, pair, row.id, flags).map(|()| None);
                }
                row => row.map(|row| row.id),
            },
        };
        let own_cpu = machine::pin_to_own_cpu(&lab.options)?;
        let mut progress = ProgressDisplay::new(flags.progress, own_cpu);
        let mut campaign = Campaign {
            lab: &mut lab,
            store: &mut store,
            interrupt,
            observe: &mut |event: &Event| progress.show(event),
            is_decided: &results::is_decided,
            keep_disturbed: flags.campaign.keep_disturbed,
            beside,
            machine: changes,
            differences,
            version,
            pair,
            again: flags.again,
        };
        Ok(Some(match resumed {
            Some(id) => campaign.resume(id),
            None => campaign.run(study),
        }?))
    })
}

/// The pair that `--campaign` says to measure.
fn pair_of_campaign(flags: &RunFlags) -> Result<Option<FleetPair>, Failure> {
    let (Some(campaign), Some(name)) = (&flags.of_campaign, &flags.hosts.pair) else { return Ok(None) };
    let mut pairs = hosts::pairs(&flags.hosts)?.into_iter();
    let labels = pairs.find(|pair| pair.name == *name).map(|pair| pair.labels).unwrap_or_default();
    let repeat = flags.repeat.unwrap_or(1);
    Ok(Some(FleetPair { campaign: campaign.clone(), name: name.clone(), labels, repeat }))
}

/// Whether the pair of a task is complete: then its machines are not asked.
fn is_measured(study: &Study, flags: &RunFlags) -> Result<bool, Failure> {
    let db = &flags.campaign.database.db;
    let Some(pair) = pair_of_campaign(flags)?.filter(|_| !flags.again && !Store::is_recorded(db)) else {
        return Ok(false);
    };
    let Ok(store) = Store::open_read_only(db) else { return Ok(false) };
    let row = begun(&store, &pair)?.filter(|row| row.status == StudyStatus::Complete);
    let texts = hosts::texts_on_pairs(study)?;
    let Some(row) = row.filter(|row| texts.contains(&row.toml)) else { return Ok(false) };
    conclude_measured(&store, &pair, row.id, flags).map(|()| true)
}

/// Also pushes the study: the task that measured it may have been killed before it did.
fn conclude_measured(
    store: &Store,
    pair: &FleetPair,
    study: StudyId,
    flags: &RunFlags,
) -> Result<(), Failure> {
    say(&format!("netassay: pair {pair} is measured already: study {study}"));
    push_measured(store, &[study], &flags.campaign)
}

/// Keeps in the file of a pair why it was not measured: a scheduler hides the output of its task.
fn keep_failure(flags: &RunFlags, failure: &Failure) {
    let db = &flags.campaign.database.db;
    let Ok(Some(pair)) = pair_of_campaign(flags) else { return };
    // The process of a campaign keeps it itself; another task of this pair may measure it.
    if flags.parent.is_some() || flags.campaign.dry_run || Store::is_recorded(db) {
        return;
    }
    let kept = Store::open(db).and_then(|mut store| {
        store.begin_fleet(std::slice::from_ref(&pair))?;
        store.set_failure(&pair, Some(&failure.to_string()))
    });
    if let Err(error) = kept {
        say(&format!("netassay: why pair {pair} failed cannot be kept: {error}"));
    }
}

/// The study of a pair, if a process began one for this campaign.
pub(crate) fn begun(store: &Store, pair: &FleetPair) -> Result<Option<StudyRow>, Failure> {
    let is_it =
        |one: &FleetPair| (&one.campaign, &one.name, one.repeat) == (&pair.campaign, &pair.name, pair.repeat);
    let is_of_pair = |row: &StudyRow| row.pair.as_ref().is_some_and(is_it);
    Ok(store.studies()?.into_iter().find(is_of_pair))
}

/// Prints the plan between machines of the user's.
fn dry_run_between(study: &Study, intended: Vec<Block<'static>>, flags: &RunFlags) -> Result<(), Failure> {
    // No testbed is tried there: a dry run changes nothing.
    let listing = results::PlanListing::new(study, study.plan(), Vec::new(), None);
    if flags.output.format == Format::Json {
        say(&terminal(&intended, report::Layout::WIDE));
    }
    output::show_view(&listing, &flags.output, |listing, wide| {
        [views::plan(listing, wide), intended].concat()
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
        say(&format!("netassay: `netassay run` refuses it here: {why}"));
    }
    let listing = results::PlanListing::new(study, plan, notes, costs.as_ref());
    output::show_view(&listing, &flags.output, views::plan)
}

/// `again`: also a complete study, of which something may have crashed a machine.
fn to_resume(store: &Store, study: &Study, word: Option<&str>, again: bool) -> Result<StudyId, Failure> {
    let called = word.map(|word| newest_called(store, word)).transpose()?;
    let is_meant = |row: &StudyRow| match called {
        Some(id) => row.id == id,
        None => row.name == study.name && (again || row.status != StudyStatus::Complete),
    };
    let (rows, name) = (store.studies()?, &study.name);
    let Some(row) = rows.iter().rev().find(|row| is_meant(row)) else {
        bail!(Nothing, "no unfinished study {name:?} is stored: `netassay db list` shows the stored studies");
    };
    let id = row.id.0;
    if row.name != *name {
        bail!(Usage, "stored study {id} is {:?}, not {name:?}", row.name);
    }
    if row.toml != study.text {
        let of = views::database_option(&named(store.path()));
        let text = format!("`netassay show {id}{of} --format json` holds its text");
        let ways = "restore its file and what --set changed, or run it without --resume";
        bail!(Usage, "{name:?} has changed since stored study {id} began ({text}): {ways}");
    }
    Ok(row.id)
}

pub(crate) fn conclude(flags: &RunFlags, summary: &Summary) -> ExitCode {
    let again = again();
    let db = named(&flags.campaign.database.db);
    // The study of a pair goes into the database of its campaign, under another number.
    let of_campaign = flags.parent.and(flags.hosts.pair.as_ref());
    if summary.invalid > 0 {
        let invalid = results::counted(summary.invalid, "run");
        let (id, of) = (summary.study, views::database_option(&db));
        let way = match of_campaign {
            Some(pair) => format!("and try again: --pair {pair} --resume STUDY"),
            None => {
                format!("(`netassay show {id}{of} --runs` shows it) and try again: `{again} --resume {id}`")
            }
        };
        say(&format!(
            "netassay: {invalid} disturbed at every try and not counted. Stop what disturbed them {way}. With --keep-disturbed they count"
        ));
    }
    if summary.crashed > 0 {
        let (crashed, id) = (results::counted(summary.crashed, "run"), summary.study);
        let way = match of_campaign {
            Some(_) => ". Only --resume --again tries them again".to_owned(),
            None => format!(
                " (netassay show {id} --runs shows how). Only {again} --resume {id} --again tries them again"
            ),
        };
        say(&format!("netassay: {crashed} left out: their conditions crashed a machine in these boots{way}"));
    }
    if let Some((kernel, why)) = &summary.kernel_stays {
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        say(&format!(
            "netassay: the machines run kernel {kernel} until their next restart, which boots their default kernels{why}"
        ));
    }
    let code = match summary.ending {
        StudyStatus::Complete if summary.recorded == 0 || summary.crashed > 0 => exit::SOME_FAILED,
        StudyStatus::Complete => exit::OK,
        StudyStatus::Failed | StudyStatus::Running => {
            let failed = results::counted(summary.failed, "run");
            say(&format!("netassay: {failed} failed; `{again} --resume` tries again"));
            exit::SOME_FAILED
        }
        StudyStatus::Interrupted => {
            let kept = results::counted(summary.recorded, "recorded run");
            say(&format!("netassay: interrupted; {kept} kept in {db}; `{again} --resume` continues"));
            exit::INTERRUPTED
        }
    };
    let campaign = &flags.campaign;
    if campaign.push.is_some() && summary.ending == StudyStatus::Complete {
        let store = Store::open_read_only(&campaign.database.db).map_err(Failure::from);
        if let Err(failure) = store.and_then(|store| push_measured(&store, &[summary.study], campaign)) {
            return failure.report();
        }
    }
    ExitCode::from(code)
}

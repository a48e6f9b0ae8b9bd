//! One study on every pair of a file of hosts. Each pair is measured by a process of its own, into
//! a file of its own: a pair that fails costs itself alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use agent::Interrupt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use report::views;
use results::{ComparisonRequest, FleetResults};
use store::{FleetPair, Store, StudyStatus, now_unix_ms};
use study::{Plan, Study};

use crate::again::again_without;
use crate::cli::{Formatted, OverPairs, RunFlags};
use crate::commands::hosts::PairOfHosts;
use crate::commands::report::fleet_report_path;
use crate::commands::run::asked;
use crate::commands::stored::study_of;
use crate::exit;
use crate::failure::{Failure, bail, say};
use crate::machine::PROGRAM;
use crate::output::{self, MayReplace, named};
use crate::signals;

const GLANCE: Duration = Duration::from_millis(200);

/// Measures the study on all pairs that its campaign has not measured yet, and shows what was found
/// over all of them.
pub(crate) fn measure_pairs(
    name: &str,
    flags: &RunFlags,
    pairs: &[PairOfHosts],
) -> Result<ExitCode, Failure> {
    if flags.campaign.dry_run {
        bail!(Usage, "--dry-run shows the plan of one pair: choose it with --pair {}", pairs[0].name);
    }
    let study = asked(name, flags)?;
    let interrupt = signals::interrupt()?;
    let db = &flags.campaign.database.db;
    let mut store = Store::open(db)?;
    let campaign = match &flags.campaign.resume {
        None => format!("{}@{:x}", study.name, now_unix_ms()),
        Some(word) => to_resume(&store, &study, word.as_deref())?,
    };
    let files = db.with_extension("pairs");
    let missing = missing(&mut store, &study, &campaign, pairs, &files)?;
    let at_once = usize::from(flags.at_once.unwrap_or(1));
    let to_measure = results::counted(missing.len(), "pair");
    say(&format!("netassay: campaign {campaign}: {to_measure} to measure, {at_once} at once"));
    measure(&mut store, missing, &files, at_once, &interrupt)?;
    let found = results_of(&store, &campaign, None)?;
    show_fleet(&found, &flags.output)?;
    if !(flags.no_report || found.pairs.is_empty()) {
        let page = fleet_report_path(db, &found, "html");
        output::write(&page, &report::fleet_page(&found).to_string(), MayReplace::OwnFile)?;
        say(&format!("wrote {}", named(&page)));
    }
    Ok(ExitCode::from(match found.not_measured.is_empty() {
        true => exit::OK,
        false if interrupt.is_tripped() => exit::INTERRUPTED,
        false => exit::SOME_FAILED,
    }))
}

/// The results of a campaign; `by`: in groups by this label too.
pub(crate) fn results_of(store: &Store, campaign: &str, by: Option<&str>) -> Result<FleetResults, Failure> {
    let rows = store.pairs(campaign)?;
    if let Some(label) = by.filter(|label| !rows.iter().any(|row| row.pair.labels.contains_key(*label))) {
        bail!(Usage, "--by {label}: no pair of this campaign has this label; the file of hosts names labels");
    }
    let metrics = |plan: &Plan| results::metrics_to_compare(plan, &ComparisonRequest::default());
    FleetResults::new(&rows, by, |study| Ok(store.outline(study, metrics)?.sanitised()))
}

/// In the JSON it is one field: the output of one study has other fields.
pub(crate) fn show_fleet(found: &FleetResults, output: &Formatted) -> Result<(), Failure> {
    output::show_view(&BTreeMap::from([("fleet", found)]), output, |_, wide| views::fleet(found, wide))
}

/// The results of the campaign that measured this study, or the newest one.
pub(crate) fn fleet_of(store: &Store, word: Option<&str>, over: &OverPairs) -> Result<FleetResults, Failure> {
    let study = study_of(store, word)?;
    let row = store.studies()?.into_iter().find(|row| row.id == study);
    let Some(pair) = row.and_then(|row| row.pair) else {
        bail!(Nothing, "study {study} was not measured on a pair of a fleet: leave --fleet out");
    };
    results_of(store, &pair.campaign, over.by.as_deref())
}

/// The campaign of a stored study, or the newest one of this study.
fn to_resume(store: &Store, study: &Study, word: Option<&str>) -> Result<String, Failure> {
    let campaigns = match word {
        Some(word) => {
            let called = store.called(word)?;
            let rows = store.studies()?.into_iter().filter(|row| called.contains(&row.id));
            rows.filter_map(|row| Some(row.pair?.campaign)).collect()
        }
        None => store.campaigns(&study.name)?,
    };
    campaigns.into_iter().next_back().ok_or_else(|| {
        Failure::Nothing(format!("no campaign of {:?} over pairs is stored: leave --resume out", study.name))
    })
}

struct PairToMeasure {
    pair: FleetPair,
    machines: [String; 2],
    file: PathBuf,
}

/// A process that has ended, and the reason if it measured nothing.
type Ended = (u32, String);

/// Stores the pairs, and returns those without a study in an order drawn from the seed. `files`:
/// the directory of the file of each pair, until its study is in the database.
fn missing(
    store: &mut Store,
    study: &Study,
    campaign: &str,
    pairs: &[PairOfHosts],
    files: &Path,
) -> Result<Vec<PairToMeasure>, Failure> {
    let named = |pair: &PairOfHosts| FleetPair {
        campaign: campaign.to_owned(),
        name: pair.name.clone(),
        labels: pair.labels.clone(),
    };
    let known: Vec<FleetPair> = pairs.iter().map(named).collect();
    store.begin_fleet(&known)?;
    let rows = store.pairs(campaign)?;
    let is_measured =
        |pair: &FleetPair| rows.iter().any(|row| row.pair.name == pair.name && row.study.is_some());
    let of_campaign = words::fnv1a(campaign.as_bytes());
    let mut missing: Vec<PairToMeasure> = known
        .into_iter()
        .zip(pairs)
        .filter(|(pair, _)| !is_measured(pair))
        .map(|(pair, hosts)| PairToMeasure {
            // An earlier campaign may have left a file of this pair, to be resumed.
            file: files.join(format!("{}-{of_campaign:016x}.db", pair.name)),
            machines: hosts.machines(),
            pair,
        })
        .collect();
    let seed = study.protocol.seed;
    missing.sort_by_cached_key(|one| words::fnv1a(format!("{seed} {}", one.pair.name).as_bytes()));
    Ok(missing)
}

/// Side by side where pairs share no machine.
fn measure(
    store: &mut Store,
    mut missing: Vec<PairToMeasure>,
    files: &Path,
    at_once: usize,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    fs::create_dir_all(files).map_err(|source| Failure::Write { path: files.to_owned(), source })?;
    let (ended, all_ended) = channel::<Ended>();
    let mut running: BTreeMap<u32, PairToMeasure> = BTreeMap::new();
    let mut is_told = false;
    while !(running.is_empty() && (missing.is_empty() || interrupt.is_tripped())) {
        if interrupt.is_tripped() && !is_told {
            is_told = true;
            for process in running.keys() {
                // A process that has just ended is no error.
                let _ = kill(Pid::from_raw(process.cast_signed()), Signal::SIGTERM);
            }
        }
        let is_free = |one: &PairToMeasure| {
            let mut busy = running.values().flat_map(|one| &one.machines);
            !busy.any(|machine| one.machines.contains(machine))
        };
        let next = missing.iter().position(is_free);
        if let Some(next) = next.filter(|_| running.len() < at_once && !interrupt.is_tripped()) {
            let of = missing.remove(next);
            match start(&of, &ended) {
                Ok(process) => drop(running.insert(process, of)),
                Err(failure) => store.set_failure(&of.pair, Some(&failure.to_string()))?,
            }
            continue;
        }
        if let Ok((process, why)) = all_ended.recv_timeout(GLANCE) {
            conclude(store, &running.remove(&process).expect("each process ends once"), why)?;
        }
    }
    // It stays while it holds the file of a pair that is to be resumed.
    let _ = fs::remove_dir(files);
    Ok(())
}

/// Adds the study of a pair that is complete. The file of another one stays, to be resumed.
fn conclude(store: &mut Store, of: &PairToMeasure, why: String) -> Result<(), Failure> {
    let failure = match add(store, of) {
        Ok(true) => None,
        Ok(false) => Some(why),
        Err(failure) => Some(failure.to_string()),
    };
    let words = if failure.is_none() { "complete" } else { "not complete; --resume continues it" };
    say(&format!("netassay: pair {}: {words}", of.pair.name));
    Ok(store.set_failure(&of.pair, failure.as_deref())?)
}

/// Whether the pair's study is complete, and now in the database.
fn add(store: &mut Store, of: &PairToMeasure) -> Result<bool, Failure> {
    if !of.file.exists() {
        return Ok(false);
    }
    let measured = Store::open_read_only(&of.file)?;
    let is_complete = measured.studies()?.iter().any(|row| {
        row.status == StudyStatus::Complete && row.pair.as_ref().is_some_and(|pair| *pair == of.pair)
    });
    if !is_complete {
        return Ok(false);
    }
    store.unpack(&measured)?;
    drop(measured);
    for ending in ["", "-wal", "-shm", "-lock"] {
        let mut file = of.file.clone().into_os_string();
        file.push(ending);
        // A file that cannot be removed holds a known study, which is not added again.
        let _ = fs::remove_file(file);
    }
    Ok(true)
}

/// Starts the process of a pair. Its messages are shown with the pair's name.
fn start(of: &PairToMeasure, ended: &Sender<Ended>) -> Result<u32, Failure> {
    let mut child = Command::new(PROGRAM)
        .args(again_without(&["--at-once", "--db", "--progress", "--format"], &["--wide", "--no-report"]))
        .args(["--no-report", "--progress", "plain", "--pair", &of.pair.name])
        .args(["--campaign", &of.pair.campaign, "--parent", &std::process::id().to_string(), "--db"])
        .arg(&of.file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::Environment(format!("netassay cannot be started: {error}")))?;
    let process = child.id();
    let (ended, name) = (ended.clone(), of.pair.name.clone());
    thread::spawn(move || {
        let last_words = forward(&mut child, &name);
        let why = match child.wait() {
            Ok(_) if !last_words.is_empty() => last_words,
            Ok(status) => format!("its process ended: {status}"),
            Err(error) => format!("its process cannot be waited for: {error}"),
        };
        // Nobody listens any more if the campaign failed.
        let _ = ended.send((process, why));
    });
    Ok(process)
}

/// Shows each line of the process, and returns the last error that it told.
fn forward(child: &mut Child, name: &str) -> String {
    let mut last_words = String::new();
    let lines = child.stderr.take().into_iter().flat_map(|stderr| BufReader::new(stderr).lines());
    for line in lines.map_while(Result::ok) {
        say(&format!("{name}: {line}"));
        if let Some(words) = line.strip_prefix("netassay: ") {
            last_words = words.to_owned();
        }
    }
    last_words
}

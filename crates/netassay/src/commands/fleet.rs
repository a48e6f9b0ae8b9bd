//! One study on every pair of a file of hosts. Each pair is measured by a process of its own, into
//! a file of its own: a pair that fails costs itself alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent::Interrupt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use report::views;
use results::FleetResults;
use store::{FleetPair, Store, StudyStatus};
use study::Study;

use crate::again::again_without;
use crate::cli::{Formatted, Measured, OverPairs};
use crate::commands::hosts::PairOfHosts;
use crate::commands::report::fleet_beside;
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
    measured: &Measured,
    pairs: &[PairOfHosts],
) -> Result<ExitCode, Failure> {
    let flags = &measured.flags;
    if flags.campaign.dry_run {
        bail!(Usage, "--dry-run shows the plan of one pair: choose it with --pair {}", pairs[0].name);
    }
    let study = asked(name, flags)?;
    let interrupt = signals::interrupt()?;
    let db = &flags.campaign.database.db;
    let mut store = Store::open(db)?;
    let campaign = match &flags.campaign.resume {
        None => format!("{}@{:x}", study.name, now_ms()),
        Some(word) => to_resume(&store, &study, word.as_deref())?,
    };
    let mut fleet = Fleet { store: &mut store, campaign, files: db.with_extension("pairs") };
    let missing = fleet.missing(&study, pairs)?;
    let at_once = usize::from(flags.pairs.at_once.unwrap_or(1));
    say(&format!(
        "netassay: campaign {}: {} to measure, {} at once",
        fleet.campaign,
        results::counted(missing.len(), "pair"),
        at_once
    ));
    fleet.measure(missing, at_once, &interrupt)?;
    let campaign = fleet.campaign;
    let found = results_of(&store, &campaign, None)?;
    show_fleet(&found, &flags.output)?;
    if !(measured.no_report || found.pairs.is_empty()) {
        let page = fleet_beside(db, &found, "html");
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
    FleetResults::new(&rows, by, |study| Ok(store.outline(study, results::fleet_metrics)?.sanitised()))
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

fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis())
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

struct Fleet<'s> {
    store: &'s mut Store,
    campaign: String,
    /// Holds the file of each pair until its study is in the database.
    files: PathBuf,
}

struct PairToMeasure {
    pair: FleetPair,
    machines: [String; 2],
    file: PathBuf,
}

struct Running {
    of: PairToMeasure,
    process: Pid,
}

struct Ended {
    process: Pid,
    status: std::io::Result<std::process::ExitStatus>,
    last_words: String,
}

impl Fleet<'_> {
    /// Stores the pairs, and returns those without a study in an order drawn from the seed.
    fn missing(&mut self, study: &Study, pairs: &[PairOfHosts]) -> Result<Vec<PairToMeasure>, Failure> {
        let named = |pair: &PairOfHosts| FleetPair {
            campaign: self.campaign.clone(),
            name: pair.name.clone(),
            labels: pair.labels.clone(),
        };
        let known: Vec<FleetPair> = pairs.iter().map(named).collect();
        self.store.begin_fleet(&known)?;
        let rows = self.store.pairs(&self.campaign)?;
        let is_measured =
            |pair: &FleetPair| rows.iter().any(|row| row.pair.name == pair.name && row.study.is_some());
        let mut missing: Vec<PairToMeasure> = known
            .into_iter()
            .zip(pairs)
            .filter(|(pair, _)| !is_measured(pair))
            .map(|(pair, hosts)| PairToMeasure {
                // An earlier campaign may have left a file of this pair, to be resumed.
                file: self.files.join(format!(
                    "{}-{:016x}.db",
                    pair.name,
                    words::fnv1a(self.campaign.as_bytes())
                )),
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
        &mut self,
        mut missing: Vec<PairToMeasure>,
        at_once: usize,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        fs::create_dir_all(&self.files)
            .map_err(|source| Failure::Write { path: self.files.clone(), source })?;
        let (ended, all_ended): (Sender<Ended>, Receiver<Ended>) = channel();
        let mut running: Vec<Running> = Vec::new();
        let mut is_told = false;
        while !(running.is_empty() && (missing.is_empty() || interrupt.is_tripped())) {
            if interrupt.is_tripped() && !is_told {
                is_told = true;
                for one in &running {
                    // A process that has just ended is no error.
                    let _ = kill(one.process, Signal::SIGTERM);
                }
            }
            let is_free = |one: &PairToMeasure| {
                let busy = running.iter().flat_map(|one| &one.of.machines);
                !busy.into_iter().any(|machine| one.machines.contains(machine))
            };
            let next = missing.iter().position(is_free);
            if let Some(next) = next.filter(|_| running.len() < at_once && !interrupt.is_tripped()) {
                let of = missing.remove(next);
                match start(&of, &ended) {
                    Ok(process) => running.push(Running { of, process }),
                    Err(failure) => self.store.set_failure(&of.pair, Some(&failure.to_string()))?,
                }
                continue;
            }
            match all_ended.recv_timeout(GLANCE) {
                Ok(end) => {
                    let at = running.iter().position(|one| one.process == end.process);
                    let of = running.swap_remove(at.expect("each process ends once")).of;
                    self.conclude(&of, &end)?;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        // It stays while it holds the file of a pair that is to be resumed.
        let _ = fs::remove_dir(&self.files);
        Ok(())
    }

    /// Adds the study of a pair that is complete. The file of another one stays, to be resumed.
    fn conclude(&mut self, of: &PairToMeasure, end: &Ended) -> Result<(), Failure> {
        let added = add(self.store, of);
        let failure = match (added, &end.status) {
            (Ok(true), _) => None,
            (Ok(false), Ok(_)) if !end.last_words.is_empty() => Some(end.last_words.clone()),
            (Ok(false), Ok(status)) => Some(format!("its process ended: {status}")),
            (Ok(false), Err(error)) => Some(format!("its process cannot be waited for: {error}")),
            (Err(failure), _) => Some(failure.to_string()),
        };
        let words = if failure.is_none() { "complete" } else { "not complete; --resume continues it" };
        say(&format!("netassay: pair {}: {words}", of.pair.name));
        Ok(self.store.set_failure(&of.pair, failure.as_deref())?)
    }
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
fn start(of: &PairToMeasure, ended: &Sender<Ended>) -> Result<Pid, Failure> {
    let not_started = |source| Failure::Environment(format!("netassay cannot be started: {source}"));
    let file = of.file.as_os_str();
    let mut child = Command::new(PROGRAM)
        .args(again_without(&["--at-once", "--db", "--progress", "--format"], &["--wide", "--no-report"]))
        .args(["--no-report", "--progress", "plain", "--pair", &of.pair.name])
        .args(["--campaign", &of.pair.campaign, "--parent", &std::process::id().to_string(), "--db"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(not_started)?;
    let process = Pid::from_raw(child.id().cast_signed());
    let (ended, name) = (ended.clone(), of.pair.name.clone());
    thread::spawn(move || {
        let last_words = forward(&mut child, &name);
        let status = child.wait();
        // Nobody listens any more if the campaign failed.
        let _ = ended.send(Ended { process, status, last_words });
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

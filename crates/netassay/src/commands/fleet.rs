//! One study on every pair of a file of hosts. Each pair is measured by a process of its own, into
//! a file of its own: a pair that fails costs itself alone.

mod order;
mod script;
mod status;

pub(crate) use script::script;
pub(crate) use status::status;

use std::collections::{BTreeMap, BTreeSet};
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
use results::{ComparisonRequest, FleetResults, PairStudies};
use store::{FleetPair, Outline, Store, StoreError, StoredStudy, StudyId, StudyStatus, now_unix_ms};
use study::metric::Metric;
use study::{Plan, Study};

use crate::again::again_without;
use crate::cli::{Formatted, OverPairs, RunFlags};
use crate::commands::db::{check_push, push_measured};
use crate::commands::hosts::{PairOfHosts, texts_on_pairs};
use crate::commands::report::fleet_report_path;
use crate::commands::run::{asked, begun};
use crate::commands::stored::study_of;
use crate::exit;
use crate::failure::{Failure, bail, say};
use crate::machine::PROGRAM;
use crate::output::{self, MayReplace, named};
use crate::signals;
use order::in_order;

const GLANCE: Duration = Duration::from_millis(200);

/// The largest number of machines in several pairs that are named.
const TOLD: usize = 8;

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
    check_push(&flags.campaign)?;
    let campaign = match &flags.campaign.resume {
        None => format!("{}@{:x}", study.name, now_unix_ms()),
        Some(word) => to_resume(&store, &study, word.as_deref())?,
    };
    refuse_another_study(&store, &campaign, &study)?;
    let files = db.with_extension("pairs");
    let missing = missing(&mut store, &study, (campaign.as_str(), flags.again), pairs, &files)?;
    let at_once = usize::from(flags.at_once.unwrap_or(1));
    if at_once > 1 {
        say_shared(&missing);
    }
    let repeats = missing.iter().filter(|one| one.pair.repeat > 1).count();
    let to_measure = results::counted(missing.len() - repeats, "pair");
    let again = match repeats {
        0 => String::new(),
        _ => format!(", the reference pair {repeats} times more"),
    };
    say(&format!("netassay: campaign {campaign}: {to_measure} to measure{again}, {at_once} at once"));
    measure(&mut store, missing, &files, at_once, &interrupt)?;
    let found = results_of(&store, &campaign, None)?;
    show_fleet(&found, &flags.output)?;
    if !(flags.no_report || found.pairs.is_empty()) {
        let page = fleet_report_path(db, &found, "html");
        output::write(&page, &report::fleet_page(&found).to_string(), MayReplace::OwnFile)?;
        say(&format!("wrote {}", named(&page)));
    }
    let complete: Vec<StudyId> = store.pairs(&campaign)?.iter().filter_map(|row| row.study).collect();
    push_measured(&store, &complete, &flags.campaign)?;
    Ok(ExitCode::from(match found.is_complete() {
        true => exit::OK,
        false if interrupt.is_tripped() => exit::INTERRUPTED,
        false => exit::SOME_FAILED,
    }))
}

/// The results of a campaign; `by`: in groups by this label or recorded setting too.
pub(crate) fn results_of(store: &Store, campaign: &str, by: Option<&str>) -> Result<FleetResults, Failure> {
    FleetResults::new(&store.pairs(campaign)?, by, &StoredPairs(store))
}

struct StoredPairs<'s>(&'s Store);

fn compared_metrics(plan: &Plan) -> Vec<Metric> {
    results::metrics_to_compare(plan, &ComparisonRequest::default())
}

impl PairStudies for StoredPairs<'_> {
    type Error = Failure;

    fn means(&self, study: StudyId) -> Result<Result<Outline, String>, Failure> {
        match self.0.boot_means(study, compared_metrics) {
            Err(why @ (StoreError::NoSuchStudy { .. } | StoreError::Json { .. })) => Ok(Err(why.to_string())),
            means => Ok(Ok(means?.sanitised())),
        }
    }

    fn environments(&self, study: StudyId) -> Result<Outline, Failure> {
        Ok(self.0.environments(study)?.sanitised())
    }

    fn outline(&self, study: StudyId) -> Result<Outline, Failure> {
        Ok(self.0.outline_without_disturbed(study, compared_metrics)?.sanitised())
    }

    fn stored_study(&self, study: StudyId) -> Result<StoredStudy, Failure> {
        Ok(self.0.load(study)?.sanitised())
    }
}

/// In the JSON it is one field: the output of one study has other fields.
pub(crate) fn show_fleet(found: &FleetResults, output: &Formatted) -> Result<(), Failure> {
    output::show_view(&BTreeMap::from([("fleet", found)]), output, |_, wide| views::fleet(found, wide))
}

/// The results of the campaign that a word means ([`campaign_of`]).
pub(crate) fn fleet_of(store: &Store, word: Option<&str>, over: &OverPairs) -> Result<FleetResults, Failure> {
    results_of(store, &campaign_of(store, word)?, over.by.as_deref())
}

/// The campaign of this name, or the one that measured this study; without a word the newest study.
pub(crate) fn campaign_of(store: &Store, word: Option<&str>) -> Result<String, Failure> {
    // No study and no tag has such a name.
    if let Some(campaign) = word.filter(|word| word.contains('@'))
        && !store.pairs(campaign)?.is_empty()
    {
        return Ok(campaign.to_owned());
    }
    let study = study_of(store, word)?;
    let Some(pair) = store.pair_of(study)? else {
        bail!(Nothing, "study {study} was not measured on a pair of a fleet: leave --fleet out");
    };
    Ok(pair.campaign)
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

/// # Errors
/// A pair that the campaign measured by another study.
fn refuse_another_study(store: &Store, campaign: &str, study: &Study) -> Result<(), Failure> {
    let texts = texts_on_pairs(study)?;
    for row in store.studies()? {
        let Some(pair) = row.pair.filter(|pair| pair.campaign == campaign) else { continue };
        if !texts.contains(&row.toml) {
            let (id, ways) = (row.id, "restore its file and what --set changed, or leave --resume out");
            bail!(
                Usage,
                "campaign {campaign} measured pair {pair} by another study, stored as study {id}: {ways}"
            );
        }
    }
    Ok(())
}

/// Says which machines are in several pairs.
fn say_shared(missing: &[PairToMeasure]) {
    let mut pairs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in missing {
        for machine in &one.machines {
            pairs.entry(machine).or_default().insert(&one.pair.name);
        }
    }
    for (machine, pairs) in pairs.into_iter().filter(|(_, pairs)| pairs.len() > 1).take(TOLD) {
        let names = results::first_of(&pairs.into_iter().collect::<Vec<_>>(), TOLD);
        say(&format!(
            "netassay: {machine} is in the pairs {names}, which wait for each other: give each pair machines of its own"
        ));
    }
}

struct PairToMeasure {
    pair: FleetPair,
    machines: [String; 2],
    file: PathBuf,
    /// Its study, which lacks runs that crashed a machine, and is measured again for them.
    again: Option<StudyId>,
}

/// A process that has ended, and the reason if it measured nothing.
type Ended = (u32, String);

/// Stores the pairs, and returns those without a study in an order drawn from the seed; with
/// `again` also those in which a machine crashed. `files`: the directory of the file of each pair,
/// until its study is in the database.
fn missing(
    store: &mut Store,
    study: &Study,
    (campaign, again): (&str, bool),
    pairs: &[PairOfHosts],
    files: &Path,
) -> Result<Vec<PairToMeasure>, Failure> {
    let order = in_order(pairs, study.protocol.seed);
    let named = |(pair, repeat): &(&PairOfHosts, u32)| FleetPair {
        campaign: campaign.to_owned(),
        name: pair.name.clone(),
        labels: pair.labels.clone(),
        repeat: *repeat,
    };
    let known: Vec<FleetPair> = order.iter().map(named).collect();
    store.begin_fleet(&known)?;
    let mut missing = Vec::new();
    for (pair, (hosts, _)) in known.into_iter().zip(order) {
        let study = store.study_of(&pair)?;
        if study.is_some() && !(again && crash_of(store, &pair)?.is_some()) {
            continue;
        }
        // An earlier campaign may have left a file of this pair, to be resumed.
        let file = files.join(format!("{pair}-{:016x}.db", words::fnv1a(campaign.as_bytes())));
        missing.push(PairToMeasure { pair, machines: hosts.machines(), file, again: study });
    }
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
        // A repeat of the reference pair waits for the pairs in front of it.
        let mut waiting = missing.iter().enumerate();
        let next = waiting.position(|(place, one)| (place == 0 || one.pair.repeat == 1) && is_free(one));
        if let Some(next) = next.filter(|_| running.len() < at_once && !interrupt.is_tripped()) {
            let of = missing.remove(next);
            match pack_again(store, &of).and_then(|()| start(&of, &ended)) {
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

/// Copies the study of a pair that is measured again into the file of the pair.
fn pack_again(store: &Store, of: &PairToMeasure) -> Result<(), Failure> {
    let study = of.again.filter(|_| !of.file.exists());
    Ok(study.map_or(Ok(()), |study| store.pack(&[study], &of.file).map(drop))?)
}

/// Adds the study of a pair that is complete. The file of another one stays, to be resumed.
fn conclude(store: &mut Store, of: &PairToMeasure, why: String) -> Result<(), Failure> {
    let (is_complete, failure) = match add(store, of) {
        // A study that was to be measured again is stored also without that.
        Ok(is_complete) if is_complete || of.again.is_some() => (is_complete, crash_of(store, &of.pair)?),
        Ok(_) => (false, Some(why)),
        Err(failure) => (false, Some(failure.to_string())),
    };
    let words = match of.again {
        _ if is_complete => "complete",
        None => "not complete; --resume continues it",
        Some(_) => "not complete; --resume --again continues it",
    };
    say(&format!("netassay: pair {}: {words}", of.pair));
    Ok(store.set_failure(&of.pair, failure.as_deref())?)
}

/// The runs that a pair lacks since they crashed a machine.
fn crash_of(store: &Store, pair: &FleetPair) -> Result<Option<String>, Failure> {
    let Some(study) = store.study_of(pair)? else { return Ok(None) };
    let stored = store.load_with(study, &[])?;
    let crashes = stored.crashes();
    let words = |why: &&str| {
        let left_out = results::counted(crashes.len(), "condition");
        format!("{left_out} left out of a boot (--resume {study} --again tries again): {why}")
    };
    Ok(crashes.values().next_back().map(words))
}

/// Whether the pair's study is complete, and now in the database with what was measured.
fn add(store: &mut Store, of: &PairToMeasure) -> Result<bool, Failure> {
    if !of.file.exists() {
        return Ok(false);
    }
    let measured = Store::open_read_only(&of.file)?;
    if begun(&measured, &of.pair)?.is_none_or(|row| row.status != StudyStatus::Complete) {
        return Ok(false);
    }
    let is_new = match store.unpack(&measured) {
        // The file has the runs of the stored study too.
        Err(StoreError::PairTaken { holder, .. }) if of.again == Some(holder) => {
            store.remove(holder)?;
            store.unpack(&measured)?;
            true
        }
        // A known study has no run more.
        added => added?.1.is_empty() || of.again.is_none(),
    };
    drop(measured);
    for ending in ["", "-wal", "-shm", "-lock"] {
        let mut file = of.file.clone().into_os_string();
        file.push(ending);
        // A file that cannot be removed holds a known study, which is not added again.
        let _ = fs::remove_file(file);
    }
    Ok(is_new)
}

/// Starts the process of a pair. Its messages are shown with the pair's name.
fn start(of: &PairToMeasure, ended: &Sender<Ended>) -> Result<u32, Failure> {
    let given =
        again_without(&["--at-once", "--db", "--push", "--progress", "--format"], &["--wide", "--no-report"]);
    // It goes with --resume, which was taken away: the process finds the study of its pair.
    let resume = given.iter().any(|word| word == "--again").then_some("--resume");
    let mut child = Command::new(PROGRAM)
        .args(given)
        .args(resume)
        .args(["--no-report", "--progress", "plain", "--pair", &of.pair.name])
        .args(["--repeat", &of.pair.repeat.to_string()])
        .args(["--campaign", &of.pair.campaign, "--parent", &std::process::id().to_string(), "--db"])
        .arg(&of.file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::Environment(format!("netassay cannot be started: {error}")))?;
    let process = child.id();
    let (ended, name) = (ended.clone(), of.pair.to_string());
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

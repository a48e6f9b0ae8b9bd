//! How the cost of a fleet grows with its pairs: studies of made-up pairs are imported, and the
//! fleet is reported.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use store::{FleetPair, Store};
use study::{Plan, Study};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::figures::summary;
use crate::goal::{Bound, Goal};
use crate::made_up::{MadeUp, Place, directory, environment, failed};
use crate::normal::normal;
use crate::process::{Timed, own_peak_mib, timed};
use crate::report::Report;

/// Fifty conditions.
const STUDY: &str = "name = \"fleet\"\nquestion = \"?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\nmtu = [1500, 3000, 4500, 6000, 9000]\nmessage = [1024, 4096, 16384, 65536, 131072]\n[protocol]\nboots = 5\nruns = 10\n";
const BOOTS: u32 = 5;

/// The pair that stands apart, by its kernel.
const ODD: u32 = 7;

const GOAL_IMPORT: f64 = 20_000.0; // runs/s
const GOAL_TIME: f64 = 10.0; // s
const GOAL_MEMORY: f64 = 1000.0; // MB

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The numbers of pairs: the fleet grows from one to the next
    #[arg(long, value_delimiter = ',', default_values_t = [10, 100, 1000, 2000])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pairs: Vec<u32>,
    /// The runs of each condition in a boot. With 10, 2,000 pairs have five million runs, in 60 GB
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// The directory of the database; left out: one in memory, if there is such a place
    #[arg(long, value_name = "PATH")]
    directory: Option<PathBuf>,
    /// A database without studies, such as a server's (postgres://USER@HOST/NAME, if this program
    /// is built with --features store/postgres); left out: a file in the directory
    #[arg(long, value_name = "DATABASE")]
    db: Option<String>,
}

/// Commands on the whole fleet, and one on a study of it.
const COMMANDS: [&[&str]; 3] =
    [&["report", "--fleet", "--output", "report.html"], &["show", "--fleet"], &["show", "1"]];

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let heading = [
        "pairs",
        "runs",
        "import, runs/s",
        "MB so far",
        "report --fleet, s",
        "MB",
        "show --fleet, s",
        "MB",
        "show 1, s",
        "database, GB",
    ];
    let mut report = Report::begin("fleet", &heading);
    let mut sizes = bench.or_smoke(options.pairs.clone(), vec![2, 3]);
    sizes.sort_unstable();
    let directory = match &options.directory {
        Some(path) => tempfile::tempdir_in(path).map_err(Failure::io("cannot make a directory"))?,
        None => directory()?,
    };
    let mut fleet = Fleet::begin(bench, options, directory.path())?;
    let mut rows = Vec::new();
    for pairs in sizes {
        let rate = fleet.grow(pairs)?;
        let import_mb = mb(own_peak_mib());
        let rounds = (1, bench.rounds(3, 1));
        let took: [Vec<Timed>; 3] = bench.in_turn(&format!("fleet of {pairs}"), rounds, |which| {
            let words = [COMMANDS[which], &["--db", &fleet.database]].concat();
            Ok(timed(&bench.netassay, &words, directory.path())?.0)
        })?;
        let seconds = took
            .each_ref()
            .map(|all| summary(all.iter().map(|one| one.wall_ms / 1e3)).map_or(f64::NAN, |all| all.median));
        let memory = took.each_ref().map(|all| mb(all.iter().map(|one| one.peak_mib).fold(0.0, f64::max)));
        // A server does not tell the length of its files.
        let bytes = fs::metadata(&fleet.database).ok().map(|file| file.len());
        let gb = bytes.map_or("-".to_owned(), |bytes| format!("{:.2}", bytes as f64 / 1e9));
        report.row([
            pairs.to_string(),
            fleet.recorded.to_string(),
            format!("{rate:.0}"),
            format!("{import_mb:.0}"),
            format!("{:.2}", seconds[0]),
            format!("{:.0}", memory[0]),
            format!("{:.2}", seconds[1]),
            format!("{:.0}", memory[1]),
            format!("{:.3}", seconds[2]),
            gb,
        ]);
        rows.push(json!({
            "pairs": pairs,
            "runs": fleet.recorded,
            "import_runs_per_s": rate,
            "import_mb": import_mb,
            "took": took,
            "database_bytes": bytes,
        }));
        if fleet.is_largest(options, pairs) {
            let of = |what: &str| format!("{what}, {pairs} pairs");
            report.goals.extend([
                Goal::new(of("import"), rate, Bound::AtLeast(GOAL_IMPORT), "runs/s"),
                Goal::new(of("report --fleet, median"), seconds[0], Bound::Under(GOAL_TIME), "s"),
                Goal::new(of("report --fleet, memory"), memory[0], Bound::Under(GOAL_MEMORY), "MB"),
            ]);
        }
    }
    report.result("fleet", rows);
    report.note(format!(
        "made-up pairs of 50 conditions x {BOOTS} boots x {} runs, with {} metrics and an account each; the import opens and adds one file for each pair, and its memory is that of the bench",
        options.runs, fleet.metrics
    ));
    Ok(report.finish())
}

fn mb(mib: f64) -> f64 {
    mib * 1.048_576
}

struct Fleet<'a> {
    bench: &'a Bench,
    directory: &'a Path,
    plan: Plan,
    runs: u32,
    /// A path or an address.
    database: String,
    store: Store,
    random: ChaCha8Rng,
    pairs: u32,
    recorded: usize,
    metrics: usize,
}

impl<'a> Fleet<'a> {
    fn begin(bench: &'a Bench, options: &Options, directory: &'a Path) -> Result<Self, Failure> {
        let in_directory = || directory.join("netassay.db").display().to_string();
        let database = options.db.clone().unwrap_or_else(in_directory);
        Ok(Self {
            bench,
            directory,
            plan: Study::parse("fleet.toml", STUDY).map_err(failed)?.plan(),
            runs: options.runs,
            store: Store::open(&database).map_err(failed)?,
            database,
            random: ChaCha8Rng::seed_from_u64(1),
            pairs: 0,
            recorded: 0,
            metrics: 0,
        })
    }

    fn is_largest(&self, options: &Options, pairs: u32) -> bool {
        self.bench.smoke || options.pairs.iter().all(|other| *other <= pairs)
    }

    /// Adds pairs up to this number. Returns the runs that were imported in a second.
    fn grow(&mut self, pairs: u32) -> Result<f64, Failure> {
        let (before, mut seconds) = (self.recorded, 0.0);
        self.bench.say(&format!("fleet: growing to {pairs} pairs"));
        for pair in self.pairs + 1..=pairs {
            self.bench.check()?;
            let file = self.directory.join("pair.db");
            let (runs, metrics) = self.record(pair, &file)?;
            let start = Instant::now();
            let packed = Store::open_read_only(&file).map_err(failed)?;
            self.store.unpack(&packed).map_err(failed)?;
            drop(packed);
            seconds += start.elapsed().as_secs_f64();
            for ending in ["", "-wal", "-shm", "-lock"] {
                // Most of these are gone already.
                let _ = fs::remove_file(self.directory.join(format!("pair.db{ending}")));
            }
            (self.recorded, self.metrics) = (self.recorded + runs, metrics);
        }
        self.pairs = self.pairs.max(pairs);
        Ok((self.recorded - before) as f64 / seconds)
    }

    /// Records the study of a pair: its machines have their own level, and effects that differ a
    /// little from those of the others.
    fn record(&mut self, pair: u32, file: &Path) -> Result<(usize, usize), Failure> {
        let is_odd = pair == ODD;
        let environment = |boot: u32| {
            let mut environment = environment(100 * pair + boot);
            if is_odd {
                environment.transmitter.kernel.release = Some("6.19".to_owned());
            }
            environment
        };
        let made_up = MadeUp {
            name: "fleet",
            toml: STUDY,
            plan: &self.plan,
            boots: BOOTS,
            runs: self.runs,
            environment: &environment,
            series: None,
            pair: Some(FleetPair {
                campaign: "fleet@1".to_owned(),
                name: format!("pair{pair}"),
                labels: BTreeMap::from([("model".to_owned(), format!("R{}", pair % 3))]),
                repeat: 1,
            }),
        };
        let random = &mut self.random;
        let machine = 1000.0 * (1.0 + 0.05 * normal(random));
        let gain =
            |condition: usize| 0.02 * condition as f64 + if is_odd && condition > 0 { 0.5 } else { 0.0 };
        let levels: Vec<f64> = (0..self.plan.conditions.len())
            .map(|condition| machine * (1.0 + gain(condition) + 0.02 * normal(random)))
            .collect();
        let (mut boot, mut share) = (0, 1.0);
        let value = |place: Place| {
            if place.boot != boot {
                (boot, share) = (place.boot, 1.0 + 0.01 * normal(random));
            }
            levels[place.condition] * share * (1.0 + 0.01 * normal(random))
        };
        let mut store = Store::open(file).map_err(failed)?;
        made_up.record(self.bench, &mut store, value)
    }
}

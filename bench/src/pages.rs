//! How long `netassay report` takes for a large study, and how much memory.

use std::path::Path;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use record::{Detail, sample};
use store::{NewRun, NewStudy, Outcome, Store, StudyStatus};
use study::metric::{METRICS, Metric, Needs};
use study::{Plan, bundled};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::process::timed;
use crate::report::{Report, heading};

/// The runs of the study.
const RUNS: usize = 10_000;
const SMOKE_RUNS: usize = 48;
/// The bundled study whose plan it has.
const STUDY: &str = "quick";
/// The runs of each condition in a boot.
const REPEATS: u32 = 10;
/// The whole command, in ms.
const TIME: f64 = 1000.0;
/// Its largest resident size, in MiB.
const MEMORY: f64 = 200.0;

pub(crate) fn run(bench: &Bench) -> Result<Report, Failure> {
    let mut report = Report::begin("report", &heading("format", "ms"));
    let runs = bench.or_smoke(RUNS, SMOKE_RUNS);
    // In memory, where there is such a place: every run is synced to disk.
    let place = Path::new("/dev/shm");
    let directory = if place.is_dir() { tempfile::tempdir_in(place) } else { tempfile::tempdir() };
    let directory = directory.map_err(Failure::io("cannot make a directory"))?;
    bench.say(&format!("report: recording {runs} made-up runs"));
    let metrics = record_runs(bench, &directory.path().join("netassay.db"), runs)?;
    report.note(format!(
        "{runs} runs of {metrics} metrics each, with their accounts, from the database to the file"
    ));
    const FORMATS: [&str; 2] = ["html", "md"];
    let [html, md] = bench.in_turn("report", (1, bench.rounds(5, 1)), |which| {
        let arguments = ["report", "--format", FORMATS[which], "--output", "report"];
        Ok(timed(&bench.netassay, &arguments, directory.path())?.0)
    })?;
    for (format, timed) in FORMATS.into_iter().zip([html, md]) {
        let wall: Vec<f64> = timed.iter().map(|one| one.wall_ms).collect();
        let peak = timed.iter().map(|one| one.peak_mib).fold(0.0, f64::max);
        let all = report.figures(format, &wall, 0);
        report.note(format!("{format}: at most {peak:.0} MiB, {:.2} of the goal", peak / MEMORY));
        report.goals.extend(
            all.map(|all| Goal::new(format!("{format}, median"), all.median, Bound::Under(TIME), "ms")),
        );
        report.goals.push(Goal::new(format!("{format}, memory"), peak, Bound::Under(MEMORY), "MiB"));
    }
    Ok(report.finish())
}

/// Records a study; how many metrics each of its runs has.
fn record_runs(bench: &Bench, database: &Path, runs: usize) -> Result<usize, Failure> {
    let Some(bundled) = bundled::find(STUDY) else {
        return Err(Failure::failed("the study is not bundled any more"));
    };
    let plan = bundled.study().plan();
    let metrics = metrics(&plan);
    let conditions = plan.conditions.len();
    let failed = |error: store::StoreError| Failure::failed(error.to_string());
    let mut store = Store::open(database).map_err(failed)?;
    let study = NewStudy {
        name: STUDY.to_owned(),
        toml: bundled.text.to_owned(),
        plan,
        seed: 1,
        scenario: "veth".to_owned(),
        version: "0.1.0".to_owned(),
    };
    let id = store.begin_study(&study).map_err(failed)?;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let detail = Detail::Measured(Box::new(sample::account()));
    let (mut recorded, mut number) = (0, 0);
    while recorded < runs {
        bench.check()?;
        number += 1;
        let boot = store.begin_boot(id, number, &sample::environment()).map_err(failed)?;
        let base = 1000.0 + 20.0 * random.random::<f64>();
        for repeat in 1..=REPEATS {
            for condition in 0..conditions {
                let mut value = |metric: &&Metric| {
                    let value = base * (1.0 + 0.01 * random.random::<f64>()) * (1.0 + condition as f64);
                    (metric.key.to_owned(), value)
                };
                let run = NewRun {
                    block: repeat,
                    repeat,
                    position: repeat * conditions as u32 + condition as u32,
                    warmup: false,
                    condition,
                    started_unix_ms: 1_795_181_965_000 + recorded as i64 * 1000,
                    outcome: Outcome::Ok(metrics.iter().map(&mut value).collect()),
                    limited_by: None,
                    series: study::BySide::default(),
                    detail: detail.clone(),
                };
                store.record_run(boot, &run).map_err(failed)?;
                recorded += 1;
            }
        }
    }
    store.finish_study(id, StudyStatus::Complete).map_err(failed)?;
    Ok(metrics.len())
}

/// What every run of the plan's traffic has.
fn metrics(plan: &Plan) -> Vec<&'static Metric> {
    let kinds: Vec<_> = plan.conditions.iter().map(|one| one.workload.traffic.kind).collect();
    let is_had =
        |metric: &&Metric| metric.needs == Needs::Nothing && kinds.iter().all(|kind| kind.produces(metric));
    METRICS.iter().filter(is_had).collect()
}

//! How long `netassay report` takes for a large study, and how much memory.

use std::path::Path;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use record::sample;
use store::Store;
use study::bundled;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::made_up::{MadeUp, Place, directory, failed};
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
    let directory = directory()?;
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

/// Records a study of at least so many runs; how many metrics each has.
fn record_runs(bench: &Bench, database: &Path, runs: usize) -> Result<usize, Failure> {
    let Some(bundled) = bundled::find(STUDY) else {
        return Err(Failure::failed("the study is not bundled any more"));
    };
    let plan = bundled.study().plan();
    let of_boot = REPEATS as usize * plan.conditions.len();
    let made_up = MadeUp {
        name: STUDY,
        toml: bundled.text,
        plan: &plan,
        boots: u32::try_from(runs.div_ceil(of_boot)).unwrap_or(u32::MAX),
        runs: REPEATS,
        environment: &|_| sample::environment(),
        series: None,
        pair: None,
    };
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut boot, mut base) = (0, 0.0);
    let value = |place: Place| {
        if place.boot != boot {
            (boot, base) = (place.boot, 1000.0 + 20.0 * random.random::<f64>());
        }
        base * (1.0 + 0.01 * random.random::<f64>()) * (1.0 + place.condition as f64)
    };
    let mut store = Store::open(database).map_err(failed)?;
    Ok(made_up.record(bench, &mut store, value)?.1)
}

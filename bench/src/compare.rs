//! How long `netassay compare` and `netassay gate` take for two stored studies of 1,000 runs.

use std::path::Path;

use store::Store;
use study::Study;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::made_up::{MadeUp, Place, directory, environment, failed, series};
use crate::process::timed;
use crate::report::{Report, heading};

/// `netassay compare` of two stored studies, in ms.
const GOAL: f64 = 50.0;

/// Four conditions of ten runs in 25 boots.
const STUDY: &str = "name = \"compared\"\nquestion = \"?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\nmtu = [1500, 9000]\n[protocol]\nboots = 25\nruns = 10\n";
const BOOTS: u32 = 25;
const RUNS: u32 = 10;

pub(crate) fn run(bench: &Bench) -> Result<Report, Failure> {
    let boots = bench.or_smoke(BOOTS, 2);
    let directory = directory()?;
    let path = directory.path().join("netassay.db");
    bench.say("compare: recording two studies");
    let runs = fill(bench, &path, boots)?;
    let bytes = std::fs::metadata(&path).map_err(Failure::io("cannot look at the database"))?.len();
    let mut report = Report::begin("compare", &heading("command", "ms"));
    report.note(format!(
        "two made-up studies of {runs} runs each with every metric of their traffic, accounts and counters over time, in a database of {:.1} MB; from before the fork until the process is reaped; the commands take turns",
        bytes as f64 / 1e6
    ));
    let bound = "throughput < -2%";
    let commands: [&[&str]; 3] = [
        &["compare", "1", "2"],
        &["gate", "2", "--baseline", "1", "--fail-if", bound],
        &["gate", "2", "--baseline-condition", "family=ipv4", "--fail-if", bound],
    ];
    let found: [Vec<f64>; 3] = bench.in_turn("compare", (1, bench.rounds(50, 2)), |which| {
        Ok(timed(&bench.netassay, commands[which], directory.path())?.0.wall_ms)
    })?;
    for (command, times) in commands.iter().zip(&found) {
        let name = format!("netassay {}", command.join(" "));
        let all = report.figures(&name, times, 2);
        if let Some(all) = all.filter(|_| command[0] == "compare") {
            report.goals.push(Goal::new(format!("{name}, median"), all.median, Bound::Under(GOAL), "ms"));
            report.goals.push(Goal::new("the same by the goal", all.median / GOAL, Bound::Under(1.0), ""));
        }
    }
    Ok(report.finish())
}

/// Records two studies that differ by 0.5 %; how many runs each has.
fn fill(bench: &Bench, path: &Path, boots: u32) -> Result<usize, Failure> {
    let plan = Study::parse("compared.toml", STUDY).map_err(failed)?.plan();
    let made_up = MadeUp {
        name: "compared",
        toml: STUDY,
        plan: &plan,
        boots,
        runs: RUNS,
        environment: &environment,
        series: Some(series()),
        pair: None,
    };
    let mut store = Store::open(path).map_err(failed)?;
    let mut runs = 0;
    for factor in [1.0, 0.995] {
        let value = |Place { boot, repeat, condition }| {
            let wobble = f64::from((boot * 7 + repeat * 3 + condition as u32 * 5) % 11) - 5.0;
            factor * (1000.0 + wobble)
        };
        runs = made_up.record(bench, &mut store, value)?.0;
    }
    Ok(runs)
}

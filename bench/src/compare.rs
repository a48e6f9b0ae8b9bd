//! How long `netassay compare` and `netassay gate` take for two stored studies of 1,000 runs.

use std::path::Path;

use record::{Detail, Environment, Series, sample};
use store::{NewRun, NewStudy, Outcome, Store, StudyStatus};
use study::{BySide, Study};

use crate::bench::{Bench, temporary_directory};
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::process::timed;
use crate::report::{Report, heading};

/// `netassay compare` of two stored studies, in ms.
const GOAL: f64 = 50.0;

/// Four conditions of ten runs in 25 boots.
const STUDY: &str = "name = \"compared\"\nquestion = \"?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\nmtu = [1500, 9000]\n[protocol]\nboots = 25\nruns = 10\n";
const BOOTS: u32 = 25;
const RUNS: u32 = 10;

/// Rows of a run's counters over time: those of a window of a second.
const STEPS: u64 = 100;

pub(crate) fn run(bench: &Bench) -> Result<Report, Failure> {
    let boots = bench.or_smoke(BOOTS, 2);
    let directory = temporary_directory()?;
    let path = directory.path().join("netassay.db");
    bench.say("compare: recording two studies");
    let runs = fill(&path, boots)?;
    let bytes = std::fs::metadata(&path).map_err(Failure::io("cannot look at the database"))?.len();
    let mut report = Report::begin("compare", &heading("command", "ms"));
    report.note(format!(
        "two made-up studies of {runs} runs each with every metric, accounts and counters over time, in a database of {:.1} MB; from before the fork until the process is reaped; the commands take turns",
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
fn fill(path: &Path, boots: u32) -> Result<usize, Failure> {
    let failed = |what: &dyn std::fmt::Display| Failure::failed(format!("cannot fill a database: {what}"));
    let study = Study::parse("compared.toml", STUDY).map_err(|problems| failed(&problems))?;
    let plan = study.plan();
    let traffic = plan.conditions[0].workload.traffic.clone();
    let keys: Vec<&str> =
        study::metric::METRICS.iter().filter(|one| traffic.produces(one)).map(|one| one.key).collect();
    let mut runs = 0;
    let mut store = Store::open(path).map_err(|error| failed(&error))?;
    for factor in [1.0, 0.995] {
        let new = NewStudy {
            name: "compared".to_owned(),
            toml: STUDY.to_owned(),
            plan: plan.clone(),
            seed: 1,
            scenario: "veth".to_owned(),
            version: "0.1.0".to_owned(),
        };
        let id = store.begin_study(&new).map_err(|error| failed(&error))?;
        runs = 0;
        for number in 1..=boots {
            let environment = environment(number);
            let boot = store.begin_boot(id, number, &environment).map_err(|error| failed(&error))?;
            for (repeat, condition) in
                (1..=RUNS).flat_map(|run| (0..plan.conditions.len()).map(move |one| (run, one)))
            {
                let wobble = f64::from((number * 7 + repeat * 3 + condition as u32 * 5) % 11) - 5.0;
                let value = factor * (1000.0 + wobble);
                let run = NewRun {
                    block: repeat,
                    repeat,
                    position: 0,
                    warmup: false,
                    condition,
                    started_unix_ms: 1_700_000_000_000,
                    outcome: Outcome::Ok(keys.iter().map(|key| ((*key).to_owned(), value)).collect()),
                    limited_by: None,
                    series: BySide { transmitter: Some(series()), receiver: Some(series()) },
                    detail: Detail::Measured(Box::new(sample::account())),
                };
                store.record_run(boot, &run).map_err(|error| failed(&error))?;
                runs += 1;
            }
            store.end_boot(boot, Some(&environment)).map_err(|error| failed(&error))?;
        }
        store.finish_study(id, StudyStatus::Complete).map_err(|error| failed(&error))?;
    }
    Ok(runs)
}

/// The environment of a boot: as many settings as a real one has, and an id of its own.
fn environment(boot: u32) -> Environment {
    let mut environment = sample::environment();
    for host in [Some(&mut environment.transmitter), environment.receiver.as_mut()].into_iter().flatten() {
        host.kernel.boot_id = Some(format!("00000000-0000-4000-8000-{boot:012}"));
        host.sysctls
            .extend((0..200).map(|number| (format!("net.core.setting_{number}"), number.to_string())));
    }
    environment
}

/// Counters over time as a run of a second has them.
fn series() -> Series {
    let rising = |step: u64| (1..=STEPS).map(|row| row * step).collect::<Vec<u64>>();
    Series {
        step_ns: 10_000_000,
        at_ns: rising(10_000_000),
        bytes_sent: rising(12_345_678),
        bytes_received: rising(12_345_678),
        messages_sent: rising(1234),
        messages_received: rising(1234),
        transactions: rising(0),
        socket_drops: rising(0),
        queue_drops: rising(0),
        cpu_busy_ns: rising(9_876_543),
    }
}

//! `kill -9` of the controller at any instant: nothing stays behind, nothing recorded is lost,
//! `--resume` completes.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use common::{Bench, code, expect, expect_no_agents_of, links, stderr};

/// 2 conditions x 2 boots x (1 warm-up + 2 recorded runs). On a busy machine a thread may have no
/// turn in a window of 30 ms.
const STUDY: &str = r#"
name = "kill"
question = "Does it survive?"
scenario = "veth"
[[workload]]
kind = "udp_stream"
duration = "100ms"
ramp = "5ms"
[factors]
offloads = ["default", "none"]
[protocol]
boots = 2
warmup = 1
runs = 2
"#;

const SEED: u64 = 20261120;

#[test]
fn campaign_survives_4_kills_at_different_runs() {
    let study = STUDY.replace("warmup = 1", "warmup = 0").replace("runs = 2", "runs = 1");
    // Before the first of four runs is over, the second, the third, the fourth.
    survives(4, &study, 4, |bench, kill, part, _| {
        wait_for_runs(bench, kill);
        std::thread::sleep(Duration::from_millis(100).mul_f64(part));
    });
}

#[test]
#[ignore = "the gate proves this with 4 kills"]
fn campaign_survives_6_kills_at_random_instants() {
    // One in each sixth of a session.
    survives(6, &STUDY.replace("runs = 2", "runs = 1"), 4, |_, kill, part, whole| {
        std::thread::sleep(whole.mul_f64((f64::from(kill) + part) / 6.0));
    });
}

/// A study of `runs` measured runs. `wait` waits for the instant of each kill, by the number of the
/// kill, a random part of one, and the time that an undisturbed session takes here and now.
fn survives(kills: u32, study: &str, runs: usize, wait: impl Fn(&Bench, u32, f64, Duration)) {
    let links_before = links();
    let bench = Bench::new();
    let study = bench.write("kill.toml", study);
    let study = study.to_str().unwrap();
    let begun = Instant::now();
    expect(&bench.run(&["run", study]), 0);
    let whole = begun.elapsed();
    let planned = recorded(&bench);
    assert_eq!(planned.len(), runs);

    let mut random = SEED;
    let mut cut_short = 0;
    for kill in 0..kills {
        std::fs::remove_file(bench.path("netassay.db")).unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let part = (random >> 11) as f64 / (1u64 << 53) as f64;
        let mut controller = bench.netassay(&["run", study]).spawn().unwrap();
        wait(&bench, kill, part, whole);
        let finished = controller.try_wait().unwrap().is_some();
        controller.kill().unwrap();
        controller.wait().unwrap();
        expect_no_agents_of(controller.id());

        // The database opens, and what it holds is whole. There may be none yet, or no study in it.
        let listed = bench.run(&["db", "list", "--format", "json"]);
        assert!([0, 4].contains(&code(&listed)), "kill {kill}, {part}: {}", stderr(&listed));
        let resumed = bench.run(&["run", study, "--resume"]);
        match code(&resumed) {
            // Killed before the study was stored, or after it was complete.
            4 if finished || recorded(&bench) == planned => {}
            4 => expect(&bench.run(&["run", study]), 0),
            _ => {
                cut_short += 1;
                expect(&resumed, 0);
            }
        }
        assert_eq!(recorded(&bench), planned, "kill {kill}, {part}: no run missing, none doubled");
        let check: String =
            bench.database().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok", "kill {kill}");
    }
    assert!(cut_short >= kills / 2, "only {cut_short} of {kills} kills came in the middle of a campaign");
    assert_eq!(links(), links_before);
}

#[test]
fn campaign_interrupted_once_keeps_its_runs_and_resumes() {
    let bench = Bench::new();
    let study = bench.write("kill.toml", &STUDY.replace("warmup = 1", "warmup = 0"));
    let study = study.to_str().unwrap();
    let controller = bench.netassay(&["run", study]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    wait_for_runs(&bench, 1);
    signal(controller.id(), libc::SIGINT);
    let pid = controller.id();
    let output = controller.wait_with_output().unwrap();
    expect(&output, 130);
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));
    expect_no_agents_of(pid);
    let kept = recorded(&bench).len();
    assert!((1..8).contains(&kept), "{kept} runs were kept");
    let listed = bench.run(&["db", "list"]);
    assert!(common::stdout(&listed).contains("interrupted"), "{}", common::stdout(&listed));
    expect(&bench.run(&["run", study, "--resume"]), 0);
    assert_eq!(recorded(&bench).len(), 8);
    // Nothing is left to do, and that is said.
    expect(&bench.run(&["run", study, "--resume"]), 4);
}

#[test]
fn campaign_interrupted_twice_stops_at_once() {
    let bench = Bench::new();
    let study = bench.write("long.toml", &STUDY.replace("100ms", "600s"));
    let mut controller = bench.netassay(&["run", study.to_str().unwrap()]).spawn().unwrap();
    wait_for_boot(&bench);
    let begun = Instant::now();
    signal(controller.id(), libc::SIGINT);
    signal(controller.id(), libc::SIGINT);
    assert_eq!(controller.wait().unwrap().code(), Some(130));
    // The run is not waited for.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    expect_no_agents_of(controller.id());
}

/// Each measured run, by (boot, repeat, condition): none counts twice, and on a busy machine some
/// do not count at all.
fn recorded(bench: &Bench) -> BTreeSet<(u32, u32, u32)> {
    let database = bench.database();
    let mut measured = BTreeSet::new();
    let mut counted = BTreeSet::new();
    let Ok(mut query) = database
        .prepare("SELECT number, repeat, condition, status FROM run WHERE warmup = 0 AND status <> 'failed'")
    else {
        return measured;
    };
    let runs = query
        .query_map([], |row| Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get::<_, String>(3)?)))
        .unwrap();
    for (run, status) in runs.map(Result::unwrap) {
        measured.insert(run);
        assert!(status != "ok" || counted.insert(run), "{run:?} is recorded twice");
    }
    measured
}

fn signal(pid: u32, signal: i32) {
    // SAFETY: a signal to a child of ours that has not been waited for.
    unsafe { libc::kill(i32::try_from(pid).unwrap(), signal) };
}

/// Waits until the database holds this many runs, warm-ups included.
fn wait_for_runs(bench: &Bench, runs: u32) {
    wait_for(bench, "SELECT count(*) FROM run", runs);
}

fn wait_for_boot(bench: &Bench) {
    wait_for(bench, "SELECT count(*) FROM boot", 1);
}

fn wait_for(bench: &Bench, query: &str, least: u32) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        let count = bench
            .path("netassay.db")
            .exists()
            .then(|| bench.database().query_row(query, [], |row| row.get::<_, u32>(0)));
        if let Some(Ok(count)) = count
            && count >= least
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{query} did not reach {least} in 120 s");
}

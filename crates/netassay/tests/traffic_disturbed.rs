//! A CPU hog beside real traffic: the run that it disturbs is kept, marked and repeated, and does
//! not count.
//!
//! What else this machine does is not the test's to say: only the run beside the test's own hog
//! must be found disturbed, and whatever is found disturbed later must have a reason.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use common::{Bench, Watched, expect, inside, skip, stdout};

const STUDY: &str = r#"
name = "hogged"
question = "Who is beside me?"
scenario = "veth"
[[workload]]
kind = "tcp_stream"
duration = "500ms"
ramp = "20ms"
[protocol]
boots = 1
warmup = 0
runs = 2
"#;

/// Threads that take whatever each CPU gives, until they are dropped.
struct Hog {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Beside a thread that never sleeps, three more take three quarters of its CPU.
const HOGS_PER_CPU: usize = 3;

impl Hog {
    fn on(cpus: &[u32]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = cpus
            .iter()
            .flat_map(|cpu| std::iter::repeat_n(*cpu, HOGS_PER_CPU))
            .map(|cpu| {
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || {
                    host::affinity::pin_current_thread(&[cpu]).unwrap();
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                })
            })
            .collect();
        Self { stop, threads }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Processes that take whatever each CPU gives, nearly all of it in the kernel, until they are
/// dropped.
struct KernelHog {
    processes: Vec<Child>,
}

impl KernelHog {
    fn on(cpus: &[u32]) -> Self {
        // They get the CPUs of the thread that starts them.
        let start = |cpu: u32| {
            std::thread::spawn(move || {
                host::affinity::pin_current_thread(&[cpu]).unwrap();
                let arguments = ["if=/dev/zero", "of=/dev/null", "bs=1M"];
                let start = || Command::new("dd").args(arguments).stderr(Stdio::null()).spawn().unwrap();
                std::iter::repeat_with(start).take(HOGS_PER_CPU).collect::<Vec<Child>>()
            })
            .join()
            .unwrap()
        };
        Self { processes: cpus.iter().flat_map(|cpu| start(*cpu)).collect() }
    }
}

impl Drop for KernelHog {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[test]
#[ignore = "says what limited a run: needs a quiet machine"]
fn traffic_beside_work_in_the_kernel_is_marked_with_the_name_of_who_did_it() {
    let bench = Bench::new();
    let hog = KernelHog::on(&host::affinity::allowed_cpus());
    let arguments = ["load", "tcp_stream", "duration=1s", "ramp=100ms", "--format", "json"];
    let output = bench.run(&arguments);
    expect(&output, 0);
    drop(hog);
    let text = stdout(&output);
    let found: Vec<&str> = text.lines().filter(|line| line.contains("other processes used")).collect();
    assert!(found.iter().any(|line| line.contains("dd, ")), "{text}");
    // What others had is in no CPU time per byte.
    assert!(!text.contains("service_demand"), "{text}");
    assert!(text.contains("\"limited_by\": \"contended\""), "{text}");
}

#[test]
#[ignore = "says what limited a run: needs a quiet machine, and cgroups that can be made"]
fn a_quota_of_cpu_time_explains_a_run() {
    let of_version_1 = Path::new("/sys/fs/cgroup/cpu");
    let (above, file, quota) = match of_version_1.is_dir() {
        true => (of_version_1, "cpu.cfs_quota_us", "20000"),
        false => (Path::new("/sys/fs/cgroup"), "cpu.max", "20000 100000"),
    };
    let group = above.join(format!("netassay-test-{}", std::process::id()));
    if let Err(error) = fs::create_dir(&group).and_then(|()| fs::write(group.join(file), quota)) {
        let _ = fs::remove_dir(&group);
        return skip("a_quota_of_cpu_time_explains_a_run", &error.to_string());
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&group);
    let bench = Bench::new();
    let arguments = ["load", "tcp_stream", "duration=1s", "ramp=100ms", "--format", "json"];
    let output = inside(shell, &bench.netassay(&arguments)).output().unwrap();
    fs::remove_dir(&group).unwrap();
    expect(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("a quota of 0.2 CPUs in each 100 ms throttled "), "{text}");
    assert!(text.contains("\"limited_by\": \"contended\""), "{text}");
}

#[test]
fn traffic_beside_a_hog_is_marked_and_repeated_and_the_study_goes_on() {
    let bench = Bench::new();
    bench.write("hogged.toml", STUDY);
    let hog = Hog::on(&host::affinity::allowed_cpus());
    let mut command = bench.netassay(&[]);
    command.args(["run", "hogged.toml", "--progress", "plain"]);
    let mut controller = Watched::start(command);
    controller.wait_for("disturbed, repeated");
    drop(hog);
    let (code, talk) = controller.finish();
    // 5: this machine is so busy that no run at all was undisturbed.
    assert!(code == Some(0) || code == Some(5), "{talk}");

    let database = bench.database();
    let mut query =
        database.prepare("SELECT repeat, status, coalesce(reason, ''), id FROM run ORDER BY id").unwrap();
    let runs: Vec<(u32, String, String, u32)> = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let (repeat, status, reason, id) = &runs[0];
    assert_eq!((*repeat, status.as_str()), (1, "invalid"), "{runs:?}");
    assert!(reason.contains("other processes used"), "{reason}");
    assert_eq!(runs[1].0, 1, "it was repeated at once: {runs:?}");
    assert!(runs.iter().any(|run| run.0 == 2), "the study went on: {runs:?}");
    assert!(runs.iter().all(|(_, status, reason, _)| (status == "invalid") != reason.is_empty()), "{runs:?}");
    let measured: u32 = database
        .query_row("SELECT count(*) FROM metric WHERE run = ?1 AND key = 'throughput'", [id], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(measured, 1, "what was measured is kept");
    let state: String = database.query_row("SELECT status FROM study", [], |row| row.get(0)).unwrap();
    assert_eq!(state, "complete");

    // The marked run is listed with its reason, and has its counters over time.
    let shown = bench.run(&["show", "--runs"]);
    expect(&shown, 0);
    assert!(stdout(&shown).contains("Disturbed runs, which do not count:"), "{}", stdout(&shown));
    let series = bench.run(&["db", "export", "--format", "series"]);
    expect(&series, 0);
    let rows = stdout(&series).lines().filter(|line| line.contains(",invalid,receiver,")).count();
    assert!(rows > 1, "{}", stdout(&series));
}

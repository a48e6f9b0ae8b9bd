//! Fleets by a scheduler: a real Slurm, and the task of an index of a Kubernetes job.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

#[path = "../common/mod.rs"]
mod common;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Bench, children_of, expect, is_root, json, skip, stderr, stdout};

/// 16 runs.
const STUDY: &str = "name = \"tso\"\nquestion = \"Does TSO make TCP faster?\"\nscenario = \"veth\"\n\
    [[workload]]\nkind = \"tcp_stream\"\nduration = \"400ms\"\nramp = \"50ms\"\nflows = 1\n\
    [factors]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 4\nruns = 2\nwarmup = 0\n";

const PLANNED: u32 = 16;

const HOSTS: &str = "[[pair]]\nname = \"one\"\ntransmitter = { ssh = \"root@n1:data0\" }\nreceiver = { ssh = \"root@n2:data0\" }\n\
    [[pair]]\nname = \"two\"\ntransmitter = { ssh = \"root@n3:data0\" }\nreceiver = { launch = [\"srun\", \"-w\", \"n4\"], interface = \"data0\" }\n";

/// What Slurm and its kills may take.
const PATIENCE: Duration = Duration::from_secs(120);

fn has(program: &str) -> bool {
    ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].iter().any(|place| PathBuf::from(place).join(program).exists())
}

/// The path of a script of these tests.
fn own(script: &str) -> String {
    format!("{}/tests/traffic_scheduler/{script}", env!("CARGO_MANIFEST_DIR"))
}

/// A Slurm in namespaces of its own, which ends with the value.
struct Cluster<'b> {
    bench: &'b Bench,
    outer: Child,
    init: u32,
}

impl<'b> Cluster<'b> {
    fn start(bench: &'b Bench) -> Self {
        let top = bench.path("log").parent().unwrap().to_owned();
        let log = File::create(bench.path("log")).unwrap();
        let outer = Command::new("unshare")
            .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--", "sh"])
            .arg(own("cluster.sh"))
            .arg(&top)
            .current_dir(&top)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut cluster = Self { bench, outer, init: 0 };
        let deadline = Instant::now() + PATIENCE;
        while !bench.path("ready").exists() {
            let told = || fs::read_to_string(bench.path("log")).unwrap_or_default();
            assert!(cluster.outer.try_wait().unwrap().is_none() && Instant::now() < deadline, "{}", told());
            std::thread::sleep(Duration::from_millis(50));
        }
        cluster.init = children_of(cluster.outer.id())[0];
        cluster
    }

    /// The output of a script in the cluster, where all its processes can be seen.
    #[track_caller]
    fn sh(&self, script: &str) -> String {
        let done = Command::new("nsenter")
            .args(["-t", &self.init.to_string(), "--net", "--mount", "--pid", "--", "timeout"])
            .args([&PATIENCE.as_secs().to_string(), "sh", "-ec", &format!("cd \"$TOP\"; {script}")])
            .env("TOP", self.bench.path("log").parent().unwrap())
            .env("SLURM_CONF", self.bench.path("slurm/slurm.conf"))
            .env("NETASSAY", self.bench.path("netassay"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let logs = || {
            let log = |pair: &str| fs::read_to_string(self.bench.path(&format!("netassay.pairs/{pair}.log")));
            ["one", "two"].map(|pair| log(pair).unwrap_or_default()).join("\n")
        };
        assert!(done.status.success(), "{script}: {}{}\n{}", stdout(&done), stderr(&done), logs());
        stdout(&done)
    }

    /// Waits until a pair's log has these words.
    #[track_caller]
    fn wait_for(&self, pair: &str, words: &str) {
        self.sh(&format!("until grep -qF '{words}' netassay.pairs/{pair}.log; do sleep 0.1; done"));
    }

    /// Waits until no job is left; one that a killed controller has lost is cancelled.
    #[track_caller]
    fn wait_for_jobs(&self) {
        self.sh(
            "none() { jobs=$(squeue -h) && [ -z \"$jobs\" ]; }; for i in $(seq 300); do none && exit 0; sleep 0.2; done; \
             scancel --user root; until none; do sleep 0.2; done",
        );
    }

    /// All that a study may change on the nodes.
    fn state(&self) -> String {
        self.sh(
            "for n in n1 n2 n3 n4; do ./node $n sh -c 'ip -d link; ip addr | grep -v valid_lft; ethtool -k data0; \
             sysctl net.ipv4.tcp_congestion_control'; done",
        )
    }

    /// What netassay left on the nodes.
    fn left(&self) -> String {
        self.sh("ls -d /tmp/netassay* 2>/dev/null || :; pgrep -af 'netassay (agent|hold|run)|^srun' || :; \
             for n in n1 n2 n3 n4; do ./node $n find /var/lib /run/netassay -name '*.journal'; done")
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        // Every process of its namespace ends with the first one.
        let _ = self.outer.kill();
        let _ = self.outer.wait();
    }
}

fn status(bench: &Bench) -> Output {
    bench.run(&["fleet", "status", "--hosts", "fleet.toml"])
}

#[test]
#[ignore = "a Slurm of four nodes, whose tasks and daemons are killed: 120 s"]
fn slurm_measures_a_fleet_whatever_is_killed() {
    let test = "slurm_measures_a_fleet_whatever_is_killed";
    if !is_root() || !["slurmctld", "slurmd", "srun", "munged"].into_iter().all(has) {
        return skip(
            test,
            "it needs root, and the Debian packages munge, slurm-client, slurmctld and slurmd",
        );
    }
    let bench = Bench::to_be_sent();
    bench.write("tso.toml", STUDY);
    bench.write("fleet.toml", HOSTS);
    let printed = bench.run(&[
        "fleet",
        "script",
        "tso.toml",
        "--hosts",
        "fleet.toml",
        "--slurm",
        "--",
        "--keep-disturbed",
    ]);
    expect(&printed, 0);
    bench.write("fleet.sh", &stdout(&printed));
    let cluster = Cluster::start(&bench);
    let before = cluster.state();

    // A task is killed, and one is put back into the queue, where Slurm lets it wait for minutes:
    // its first process has ended by then.
    cluster.sh("sh fleet.sh");
    cluster.wait_for("one", "[2/");
    cluster.sh("kill -9 $(pgrep -f -- '[-]-pair one ')");
    cluster.wait_for("two", "[2/");
    cluster.sh("scontrol requeue $(squeue -h -w n3 -o %A)");
    cluster.sh(
        "until id=$(squeue -h -t PD -o %A) && [ -n \"$id\" ] && ! pgrep -f -- '[-]-pair two '; do sleep 0.2; done; \
         scontrol update JobId=$id StartTime=now",
    );
    cluster.wait_for_jobs();
    let done = status(&bench);
    expect(&done, 5);
    assert!(stdout(&done).contains("2 pairs: 1 complete, 1 partly"), "{}", stdout(&done));

    // Daemons are killed under the task that goes on with its file.
    cluster.sh("rm netassay.pairs/one.log; sh fleet.sh");
    cluster.wait_for("one", "testbed built");
    cluster.sh("kill -9 $(cat slurm/n1/pid) $(cat slurm/ctl/pid); sleep 1; ./daemon ctl; ./daemon n1");
    cluster.wait_for_jobs();
    for _ in 0..3 {
        if status(&bench).status.success() {
            break;
        }
        cluster.sh("sh fleet.sh");
        cluster.wait_for_jobs();
    }
    expect(&status(&bench), 0);
    let deadline = Instant::now() + Duration::from_secs(30);
    while cluster.state() != before || !cluster.left().is_empty() {
        assert!(Instant::now() < deadline, "{}{}\n\nbefore: {before}", cluster.left(), cluster.state());
        std::thread::sleep(Duration::from_millis(500));
    }

    // No run is lost, and none is there twice.
    for file in ["one", "two", "one"] {
        expect(&bench.run(&["db", "unpack", &format!("netassay.pairs/{file}.db")]), 0);
    }
    let database = bench.database();
    let count = |query: &str| database.query_row(query, [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM study WHERE status = 'complete'"), 2);
    assert_eq!(count("SELECT count(*) FROM run WHERE status = 'ok' AND warmup = 0"), 2 * PLANNED);
    assert_eq!(
        count(
            "SELECT count(*) FROM (SELECT DISTINCT study, number, repeat, condition FROM run WHERE status = 'ok')"
        ),
        2 * PLANNED
    );
    let found = json(&bench, &["show", "--fleet"]);
    assert_eq!(found["fleet"]["pairs"].as_array().unwrap().len(), 2);
}

/// The lines of a file in the manifest's ConfigMap.
fn file_of(manifest: &str, name: &str) -> String {
    let (_, behind) = manifest.split_once(&format!("  {name}: |2\n")).unwrap();
    let lines = behind.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or_default())).collect()
}

#[test]
#[ignore = "the gate checks the manifest: a pair of namespaces, 20 s"]
fn the_task_of_an_index_continues_its_file_and_measures_nothing_twice() {
    let test = "the_task_of_an_index_continues_its_file_and_measures_nothing_twice";
    if !is_root() {
        return skip(test, "it needs root");
    }
    let bench = Bench::to_be_sent();
    bench.write("tso.toml", STUDY);
    bench.write("fleet.toml", &HOSTS.replace("launch = [\"srun\", \"-w\", \"n4\"]", "ssh = \"root@n4\""));
    let printed = bench.run(&[
        "fleet",
        "script",
        "tso.toml",
        "--hosts",
        "fleet.toml",
        "--kubernetes",
        "--",
        "--keep-disturbed",
    ]);
    expect(&printed, 0);
    fs::create_dir(bench.path("fleet")).unwrap();
    for name in ["hosts.toml", "study.toml", "task.sh", "tasks"] {
        let mut text = file_of(&stdout(&printed), name);
        for (pod, namespace) in [("host-0-transmitter", "a"), ("host-0-receiver", "b")] {
            let launch = |words: &[&str]| format!("launch = {words:?}");
            let of_pod = launch(&["kubectl", "exec", "-i", pod, "--"]);
            text = text.replace(&of_pod, &launch(&["ip", "netns", "exec", namespace]));
        }
        bench.write(&format!("fleet/{name}"), &text);
    }
    let done = Command::new("unshare")
        .args(["--net", "--mount", "--", "sh", &own("namespaces.sh")])
        .current_dir(bench.path("fleet").parent().unwrap())
        .env("NETASSAY", bench.path("netassay"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    expect(&done, 0);
    assert!(stderr(&done).contains("netassay: pair one is measured already: study 1"), "{}", stderr(&done));
    let shown = bench.run(&["fleet", "status", "--hosts", "fleet/hosts.toml", "pairs"]);
    expect(&shown, 5);
    assert!(stdout(&shown).contains("2 pairs: 1 complete, 1 never came"), "{}", stdout(&shown));
    assert!(stdout(&shown).contains(&format!("{PLANNED} of {PLANNED}")), "{}", stdout(&shown));
}

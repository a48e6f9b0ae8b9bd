//! What the tests of the built binary share: a directory of their own, the binary in it, and the
//! database read back.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]
#![allow(clippy::print_stderr, reason = "where a skip is announced")]

pub(crate) mod output_schema;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use rusqlite::Connection;
use serde_json::Value;

/// A directory that any user may enter, with a copy of the binary that any user may run.
pub(crate) struct Bench {
    directory: tempfile::TempDir,
}

/// The user that tests without privileges run as.
const NOBODY: &str = "65534";

impl Bench {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let program = directory.path().join("netassay");
        // By a process of its own: were the copy open for writing here, a child that another thread
        // starts just then would hold it open too, and the kernel refuses to run a file that
        // somebody may write.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_netassay")).arg(&program).status().unwrap();
        assert!(copied.success(), "cannot copy the binary: {copied}");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { directory }
    }

    /// As [`Bench::new`], with a binary that is sent to other machines: without what debuggers read
    /// it is a third smaller.
    pub(crate) fn to_be_sent() -> Self {
        let bench = Self::new();
        let stripped = Command::new("strip").arg(bench.path("netassay")).status().unwrap();
        assert!(stripped.success(), "cannot strip the binary: {stripped}");
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The binary as the user who runs the tests. Where it measures, every run counts: a machine
    /// that builds and tests at once disturbs them all, and a test that wants otherwise gives its
    /// arguments itself.
    pub(crate) fn netassay(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("netassay"));
        command.args(counting(arguments));
        self.prepare(command)
    }

    /// The binary as an ordinary user, even if root runs the tests.
    pub(crate) fn netassay_as_nobody(&self, arguments: &[&str]) -> Command {
        if !is_root() {
            return self.netassay(arguments);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]);
        command.arg(self.path("netassay")).args(counting(arguments));
        self.prepare(command)
    }

    fn prepare(&self, mut command: Command) -> Command {
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let output = self.netassay(arguments).output().unwrap();
        if output_schema::is_updating() && arguments.contains(&"json") && output.stdout.starts_with(b"{") {
            output_schema::expect(arguments, &stdout(&output));
        }
        output
    }

    pub(crate) fn database(&self) -> Connection {
        Connection::open(self.path("netassay.db")).unwrap()
    }

    /// The value of a metric in each measured run of a condition, by its short name. A run that
    /// something disturbed, as on a machine that builds and tests at once, was measured all the
    /// same.
    pub(crate) fn values(&self, slug: &str, metric: &str) -> Vec<f64> {
        let database = self.database();
        let mut query = database
            .prepare(
                "SELECT metric.value FROM metric JOIN run ON run.id = metric.run JOIN study ON study.id = run.study
                 WHERE run.warmup = 0 AND run.status <> 'failed' AND metric.key = ?2
                 AND json_extract(study.plan, '$.conditions[' || run.condition || '].slug') = ?1",
            )
            .unwrap();
        query.query_map([slug, metric], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// In how many measured runs of a condition others had so much of a side's CPUs that its CPU
    /// time per unit of work is left out.
    pub(crate) fn left_out(&self, slug: &str, side: &str) -> usize {
        let database = self.database();
        let mut query = database
            .prepare(
                "SELECT count(*) FROM run JOIN study ON study.id = run.study
                 WHERE run.warmup = 0 AND run.status <> 'failed'
                 AND json_extract(study.plan, '$.conditions[' || run.condition || '].slug') = ?1
                 AND EXISTS (SELECT 1 FROM json_each(run.detail, '$.disturbed')
                             WHERE value ->> 'at' IN (?2, 'both ends') AND value -> 'cause' ->> 'others' IS NOT NULL)",
            )
            .unwrap();
        let runs: u32 = query.query_row([slug, side], |row| row.get(0)).unwrap();
        usize::try_from(runs).unwrap()
    }

    pub(crate) fn mean(&self, slug: &str, metric: &str) -> f64 {
        let values = self.values(slug, metric);
        assert!(!values.is_empty(), "no value of {metric} for {slug}");
        values.iter().sum::<f64>() / values.len() as f64
    }
}

fn counting<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut all = arguments.to_vec();
    if matches!(arguments.first(), Some(&("run" | "quick"))) {
        all.insert(1, "--keep-disturbed");
    }
    all
}

pub(crate) fn is_root() -> bool {
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Says that a test cannot run here, and fails it where that may not be.
pub(crate) fn skip(test: &str, reason: &str) {
    eprintln!("SKIPPED: {test}: {reason}");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test} was skipped in CI: {reason}");
}

/// Whether there are two CPUs for work to be placed on; if not, says that a test cannot run here.
/// A machine of CI may have one too.
pub(crate) fn has_two_cpus(test: &str) -> bool {
    let has_two = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
    if !has_two {
        eprintln!("SKIPPED: {test}: it needs two CPUs");
    }
    has_two
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Asserts an exit code, and shows everything if it is another.
#[track_caller]
pub(crate) fn expect(output: &Output, expected: u8) {
    assert_eq!(
        code(output),
        i32::from(expected),
        "\nstdout:\n{}\nstderr:\n{}",
        stdout(output),
        stderr(output)
    );
}

/// The JSON of a command that ends well; its fields are those of the schema.
#[track_caller]
pub(crate) fn json(bench: &Bench, arguments: &[&str]) -> Value {
    let output = bench.run(&[arguments, &["--format", "json"]].concat());
    expect(&output, 0);
    output_schema::expect(arguments, &stdout(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// A controller whose talk is read while it runs, so that a test can act at the right moment
/// however slow the machine is.
pub(crate) struct Watched {
    child: Child,
    talk: BufReader<ChildStderr>,
    heard: String,
}

impl Watched {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let talk = BufReader::new(child.stderr.take().unwrap());
        Self { child, talk, heard: String::new() }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Reads until a line holds this; panics if the controller ends before.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) {
        loop {
            let mut line = String::new();
            assert!(self.talk.read_line(&mut line).unwrap() > 0, "no {words:?} in:\n{}", self.heard);
            self.heard.push_str(&line);
            if line.contains(words) {
                return;
            }
        }
    }

    /// Panics with all that the controller said if it has ended.
    #[track_caller]
    pub(crate) fn expect_alive(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            self.talk.read_to_string(&mut self.heard).unwrap();
            panic!("the controller has ended by itself, {status}:\n{}", self.heard);
        }
    }

    /// The two agents of the boot that has just begun, the transmitter's first.
    #[track_caller]
    pub(crate) fn agents(&self) -> [u32; 2] {
        let mut agents = agents_of(self.id());
        agents.sort_unstable();
        agents.try_into().unwrap_or_else(|found| panic!("two agents, not {found:?}"))
    }

    /// Waits for its end, and gives its exit code and all that it said.
    pub(crate) fn finish(mut self) -> (Option<i32>, String) {
        self.talk.read_to_string(&mut self.heard).unwrap();
        (self.child.wait().unwrap().code(), self.heard)
    }
}

/// The agents, by process number, that a controller started: its children that are called so.
pub(crate) fn agents_of(controller: u32) -> Vec<u32> {
    let is_agent = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"agent")
    };
    children_of(controller).into_iter().filter(is_agent).collect()
}

/// The processes that a process started and that live.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let mine = format!("PPid:\t{parent}\n");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let status = |pid: u32| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    pids.filter(|pid| status(*pid).contains(&mine)).collect()
}

/// Waits until a controller's agents are gone; panics if they stay.
#[track_caller]
pub(crate) fn expect_no_agents_of(controller: u32) {
    for _ in 0..3000 {
        if agents_of(controller).is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("agents {:?} of controller {controller} are still there", agents_of(controller));
}

/// The interfaces of the network namespace that the tests run in.
pub(crate) fn links() -> Vec<String> {
    let text = fs::read_to_string("/proc/self/net/dev").unwrap();
    text.lines()
        .skip(2)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim().to_owned())
        .collect()
}

/// The command, started by another one that runs its last arguments.
pub(crate) fn inside(mut outer: Command, command: &Command) -> Command {
    outer.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    outer.current_dir(command.get_current_dir().unwrap_or(Path::new("/")));
    outer.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    outer
}

/// The command in a network namespace of its own, where it need not wait until other sessions have
/// ended: for what only counts, so that they cannot disturb it.
pub(crate) fn apart(command: &Command) -> Command {
    let mut outer = Command::new("unshare");
    outer.args(if is_root() { &["--net", "--"][..] } else { &["--user", "--net", "--"] });
    inside(outer, command)
}

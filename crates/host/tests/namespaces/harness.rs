//! Runs each case in a child process: as root, or as an ordinary user who enters a user namespace.
//!
//! It speaks enough of the usual harness's language (`--list`, `--ignored`, `--include-ignored`,
//! `--exact`, filters) for `cargo test` and `cargo nextest`.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use netassay_host::{Links, Privileges, namespace};
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};

use crate::peer::{self, Peer};
use crate::walls;

#[derive(Clone, Copy)]
pub(crate) struct Case {
    name: &'static str,
    identities: Identities,
    run: fn(&mut Stage),
}

/// The identities of a case in the gate, and those in `cargo xtask test --all`, where the harness
/// calls the case ignored.
#[derive(Clone, Copy)]
pub(crate) struct Identities {
    gate: &'static [Identity],
    ignored: &'static [Identity],
}

pub(crate) const AS_BOTH: Identities = Identities { gate: &[Identity::Root, Identity::User], ignored: &[] };
pub(crate) const AS_ROOT: Identities = Identities { gate: &[Identity::Root], ignored: &[] };
/// As root in the gate; an ordinary user sees the same.
pub(crate) const ROOT_FIRST: Identities = Identities { gate: &[Identity::Root], ignored: &[Identity::User] };
/// Not in the gate: it takes long, or tells times.
pub(crate) const LATER: Identities = Identities { gate: &[], ignored: &[Identity::Root, Identity::User] };

impl Case {
    pub(crate) const fn new(name: &'static str, identities: Identities, run: fn(&mut Stage)) -> Self {
        Self { name, identities, run }
    }
}

/// A case as one of its identities.
#[derive(Clone, Copy)]
struct Trial {
    case: Case,
    identity: Identity,
    is_ignored: bool,
}

impl Trial {
    fn all(cases: &[Case]) -> impl Iterator<Item = Self> {
        cases.iter().flat_map(|case| {
            let of = |identities: &'static [Identity], is_ignored| {
                identities.iter().map(move |identity| Self { case: *case, identity: *identity, is_ignored })
            };
            of(case.identities.gate, false).chain(of(case.identities.ignored, true))
        })
    }

    fn name(&self) -> String {
        let identity = if self.identity == Identity::Root { "root" } else { "user" };
        format!("{}_as_{identity}", self.case.name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Root,
    User,
}

/// The environment of a case: a network namespace of its own.
pub(crate) struct Stage {
    pub(crate) identity: Identity,
    /// A second process; see [`Peer`].
    pub(crate) peer: Peer,
    /// Names for the two ends of a wire, different in every process.
    pub(crate) here: String,
    pub(crate) there: String,
}

/// `nobody` on every distribution.
const ORDINARY_USER: u32 = 65534;
/// Tells a child what it is: `probe`, `peer` or `case`.
pub(crate) const ROLE: &str = "NETASSAY_TEST_ROLE";
/// Marks every process of a case, so that those left over are found.
const FAMILY: &str = "NETASSAY_TEST_FAMILY";
const TIMEOUT: Duration = Duration::from_secs(180);

pub(crate) fn main(cases: &[Case]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match std::env::var(ROLE).as_deref() {
        Ok("probe") => match namespace::enter_user().and_then(|()| namespace::new_net()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                println!("{error}");
                ExitCode::FAILURE
            }
        },
        Ok("peer") => peer::serve(),
        Ok("middle") => walls::middle(),
        Ok(role) if role.starts_with("sleeper ") => walls::sleeper(role["sleeper ".len()..].parse().unwrap()),
        Ok("case") => run_here(cases, &arguments),
        _ => run_all(cases, &arguments),
    }
}

/// Gives root up without an `exec`.
pub(crate) fn become_ordinary() {
    let (user, group) = (Uid::from_raw(ORDINARY_USER), Gid::from_raw(ORDINARY_USER));
    setgroups(&[]).unwrap();
    setresgid(group, group, group).unwrap();
    setresuid(user, user, user).unwrap();
}

/// Prints why a case, or a part of it, was not run. It is seen even though the case is green.
pub(crate) fn skipped(what: &str, reason: &str) {
    eprintln!("SKIPPED: {what}: {reason}");
}

fn run_all(cases: &[Case], arguments: &[String]) -> ExitCode {
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let filters: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with('-') && *argument != "terse").collect();
    let chosen = |name: &str| {
        filters.is_empty()
            || filters
                .iter()
                .any(|filter| if flag("--exact") { name == *filter } else { name.contains(*filter) })
    };
    // The usual harness lists ignored tests among all, and runs them where it is told to.
    let runs = |trial: &Trial| {
        let every = flag("--include-ignored") || flag("--list") && !flag("--ignored");
        every || trial.is_ignored == flag("--ignored")
    };
    let chosen: Vec<_> = Trial::all(cases)
        .filter(runs)
        .map(|trial| (trial.name(), trial.identity))
        .filter(|(name, _)| chosen(name))
        .collect();
    if flag("--list") {
        chosen.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", chosen.len());
    let (mut failed, mut left_out) = (Vec::new(), 0);
    for (name, identity) in chosen {
        match missing(identity) {
            Some(reason) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
                println!("test {name} ... FAILED\nmust not be skipped with CI=true: {reason}");
                failed.push(name);
            }
            Some(reason) => {
                skipped(&name, &reason);
                println!("test {name} ... ignored");
                left_out += 1;
            }
            None => match run_in_child(&name, identity) {
                Ok(notes) => {
                    println!("test {name} ... ok");
                    notes.iter().for_each(|line| eprintln!("{line}"));
                }
                Err(output) => {
                    println!("test {name} ... FAILED\n---- {name}\n{output}\n----");
                    failed.push(name);
                }
            },
        }
    }
    let verdict = if failed.is_empty() { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {} failed; {left_out} ignored\n", failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The reason why cases cannot run as `identity`; `None` if they can.
fn missing(identity: Identity) -> Option<String> {
    let privileges = Privileges::read();
    match identity {
        Identity::Root if !privileges.privileged() => Some("needs root".to_owned()),
        Identity::Root => None,
        Identity::User => {
            let mut probe = child(identity);
            let output = probe.env(ROLE, "probe").output().unwrap();
            (!output.status.success()).then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
    }
}

/// This program again, as a process of that identity. Started by the link in `/proc`, because the
/// path to it may lead through directories that are closed to an ordinary user.
fn child(identity: Identity) -> Command {
    let mut command = Command::new("/proc/self/exe");
    if identity == Identity::User && nix::unistd::geteuid().is_root() {
        command.uid(ORDINARY_USER).gid(ORDINARY_USER).current_dir("/");
    }
    command
}

/// Notes to show, or the output of a case that failed.
fn run_in_child(name: &str, identity: Identity) -> Result<Vec<String>, String> {
    let family = format!("{}-{name}", std::process::id());
    let mut command = child(identity);
    command.arg(name).env(ROLE, "case").env(FAMILY, &family).stdin(Stdio::null());
    let mut case = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
    let (mut stdout, mut stderr) = (case.stdout.take().unwrap(), case.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        text
    });
    let in_time = std::thread::scope(|scope| {
        let watchdog = scope.spawn(|| wait(&mut case));
        let mut text = String::new();
        let _ = stdout.read_to_string(&mut text);
        (watchdog.join().unwrap(), text)
    });
    let (status, stdout) = in_time;
    let stderr = reader.join().unwrap();
    let left = left_over(&family);
    match status {
        Some(true) if left.is_empty() => {
            let lines = stderr.lines().chain(stdout.lines());
            Ok(lines
                .filter(|line| line.starts_with("SKIPPED") || line.starts_with("note:"))
                .map(str::to_owned)
                .collect())
        }
        Some(true) => Err(format!("processes left over: {left:?}")),
        Some(false) => Err(format!("{stdout}{stderr}")),
        None => Err(format!("not done after {TIMEOUT:?}\n{stdout}{stderr}")),
    }
}

/// Whether it succeeded; `None` if it had to be killed.
fn wait(case: &mut Child) -> Option<bool> {
    let start = Instant::now();
    while start.elapsed() < TIMEOUT {
        if let Some(status) = case.try_wait().unwrap() {
            return Some(status.success());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    case.kill().unwrap();
    case.wait().unwrap();
    None
}

/// Processes of the case that are still there; they get a moment to go.
fn left_over(family: &str) -> Vec<String> {
    let mark = format!("{FAMILY}={family}");
    let marked = |process: &std::path::Path| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let left: Vec<String> = processes
            .filter(|process| marked(process))
            .map(|process| process.display().to_string())
            .collect();
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn run_here(cases: &[Case], arguments: &[String]) -> ExitCode {
    let Trial { case, identity, .. } =
        Trial::all(cases).find(|trial| arguments.contains(&trial.name())).unwrap();
    let outside: Vec<_> = Links::open().unwrap().list().unwrap().into_iter().map(|link| link.name).collect();

    let mut peer = Peer::start();
    if identity == Identity::User {
        namespace::enter_user().unwrap();
    }
    namespace::new_net().unwrap();
    peer.follow(identity);

    let (here, there) = (format!("na{}a", std::process::id()), format!("na{}b", std::process::id()));
    assert!(!outside.contains(&here));
    (case.run)(&mut Stage { identity, peer, here, there });
    ExitCode::SUCCESS
}

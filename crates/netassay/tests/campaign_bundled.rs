//! Every study that comes with netassay runs to its last run, shortened, as root and as an ordinary
//! user; those with guests as one of them. One runs in another test. The gate runs two.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "where the time of each study is told")]

mod common;
#[path = "common/kept_report.rs"]
mod kept_report;
#[path = "common/kernel.rs"]
mod kernel;

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use common::{Bench, apart, expect, inside, is_root, skip};
use kept_report::keep_report;
use serde_json::Value;

/// What shortens any study. Two boots, because a fault may lie in the first or in all others; one
/// where a study below has another boot of the same kind.
/// In 60 ms a thread sometimes got no CPU beside two emulated guests, and the run failed.
const SHORT: &[&str] = &["duration=150ms", "ramp=20ms", "boots=2", "stop=", "runs=1", "warmup=0"];

/// What a study needs besides: its name and the changes.
///
/// The image of the kernel that runs is not on every machine, so that guests have the fetched one,
/// which is two kernels by two names. Of a design's combinations, which take minutes, the published
/// ladder stands for all.
const BESIDES: &[(&str, &[&str])] = &[
    // Each boot of a study boots guests with each of its kernels.
    ("kernel-ab", &["kernel=KERNEL,KERNEL-again", "boots=1"]),
    ("kernel-ab-exact", &["kernel=KERNEL,KERNEL-again", "boots=1"]),
    // What traces say is tested in `traffic_guests`; here each is made, in one boot.
    ("path-offload", &["kernel=KERNEL", "boots=1", "trace.batch=64", "trace.rounds=1", "trace.paths=tcp-rx"]),
    // Two kernels would be two boots.
    (
        "path-kernel",
        &[
            "kernel=KERNEL",
            "message=1,1400",
            "boots=1",
            "trace.batch=64",
            "trace.rounds=1",
            "trace.paths=udp-tx",
        ],
    ),
    // Traces of two guests take half a minute each.
    (
        "udp-path",
        &["guest.kernel=KERNEL", "guest.memory=256MiB", "boots=1", "vcpus=1", "message=1", "trace="],
    ),
    // Of its scenarios one of namespaces and one of guests: these studies have all four.
    (
        "offload-gain",
        &[
            "scenario=vxlan,vm-vxlan",
            "design.kind=ladder",
            "guest.kernel=KERNEL",
            "guest.memory=256MiB",
            "boots=1",
        ],
    ),
    ("offload-gain-veth", &["design.kind=ladder"]),
    ("offload-gain-vxlan", &["design.kind=ladder"]),
    ("offload-gain-vm", &["design.kind=ladder", "guest.kernel=KERNEL", "guest.memory=256MiB"]),
    (
        "offload-gain-vm-vxlan",
        &["design.kind=ladder", "guest.kernel=KERNEL", "guest.memory=256MiB", "boots=1"],
    ),
];

/// The studies that count instructions, or do so here: whatever else the machine does, they count
/// the same.
const EXACT: &[&str] = &["kernel-ab-exact", "path-offload", "path-kernel"];

/// What runs whole elsewhere, in `traffic_guests`: as an ordinary user too, and its figures are
/// checked there.
const ELSEWHERE: &[&str] = &["path-checksum"];

/// The studies with guests that run as root; the others run as an ordinary user. Privileges change
/// how a scenario is built, and both scenarios of guests are on either side.
const AS_ROOT: &[&str] = &["kernel-ab", "udp-path", "offload-gain-vm-vxlan"];

/// What studies stand in. Those with guests have the machine to themselves
/// (`.config/nextest.toml`), unless they only count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Namespaces,
    Guests,
    ExactGuest,
}

impl Place {
    /// The command there.
    fn of(self, command: Command) -> Command {
        if self == Self::ExactGuest { apart(&command) } else { command }
    }
}

/// Conditions that take turns, and a study of latencies; in windows longer than a busy machine
/// keeps a thread from its CPU. Dry runs of all studies are in `cli`.
#[test]
fn two_bundled_studies_run_to_their_end() {
    let bench = Bench::new();
    for name in ["quick", "rr-latency"] {
        run(name, "", &["boots=1", "duration=300ms"], |arguments| bench.netassay_as_nobody(arguments));
    }
}

#[test]
#[ignore = "runs every bundled study: the gate plans them all, and runs two"]
fn every_bundled_study_as_root() {
    every_study_as_root("every_bundled_study_as_root", Place::Namespaces);
}

#[test]
#[ignore = "runs every bundled study: the gate plans them all, and runs two"]
fn every_bundled_study_with_guests_as_root() {
    every_study_as_root("every_bundled_study_with_guests_as_root", Place::Guests);
}

#[test]
#[ignore = "runs every bundled study: the gate plans them all, and runs two"]
fn every_bundled_study_as_an_ordinary_user() {
    every_study_as_an_ordinary_user("every_bundled_study_as_an_ordinary_user", Place::Namespaces);
}

#[test]
#[ignore = "runs every bundled study: the gate plans them all, and runs two"]
fn every_bundled_study_with_guests_as_an_ordinary_user() {
    every_study_as_an_ordinary_user("every_bundled_study_with_guests_as_an_ordinary_user", Place::Guests);
}

#[test]
#[ignore = "runs every bundled study: the gate plans them all, and runs two"]
fn every_bundled_study_in_exact_mode_as_an_ordinary_user() {
    every_study_as_an_ordinary_user(
        "every_bundled_study_in_exact_mode_as_an_ordinary_user",
        Place::ExactGuest,
    );
}

fn every_study_as_root(test: &str, place: Place) {
    if !is_root() {
        return skip(test, "not root");
    }
    let bench = Bench::new();
    let kernel = if place == Place::Namespaces { String::new() } else { kernel(&bench) };
    let here = |name: &str| place == Place::Namespaces || AS_ROOT.contains(&name);
    for (name, _) in studies(&bench, place).into_iter().filter(|(name, _)| here(name)) {
        run(&name, &kernel, &[], |arguments| bench.netassay(arguments));
        keep_report(&bench, &name);
    }
}

fn every_study_as_an_ordinary_user(test: &str, place: Place) {
    let bench = Bench::new();
    let kernel = if place == Place::Namespaces { String::new() } else { kernel(&bench) };
    let taps = if place == Place::Guests { Taps::of(&bench) } else { None };
    // What ran twice as root.
    let once: &[&str] = if place == Place::Namespaces { &["boots=1"] } else { &[] };
    let here = |name: &str| !AS_ROOT.contains(&name);
    for (name, scenario) in studies(&bench, place).into_iter().filter(|(name, _)| here(name)) {
        if !scenario.starts_with("vm") {
            run(&name, &kernel, once, |arguments| place.of(bench.netassay_as_nobody(arguments)));
        } else if let Some(taps) = &taps {
            run(&name, &kernel, once, |arguments| taps.with(&bench.netassay_as_nobody(arguments)));
        } else {
            skip(test, &format!("{name}: only root can open /dev/net/tun"));
            continue;
        }
        keep_report(&bench, &name);
    }
}

/// The changes that a study needs besides.
fn besides(name: &str) -> impl Iterator<Item = &'static str> {
    BESIDES.iter().filter(move |(of, _)| *of == name).flat_map(|(_, changes)| changes.iter().copied())
}

/// The name and the scenario of every study that `netassay study list` lists and that stands there.
fn studies(bench: &Bench, place: Place) -> Vec<(String, String)> {
    let output = bench.run(&["study", "list", "--format", "json"]);
    expect(&output, 0);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let studies = list["studies"].as_array().unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    // Of several scenarios the last: those with guests come after those without.
    let last = |study: &Value| word(study["scenarios"].as_array().unwrap().last().unwrap());
    let studies: Vec<_> = studies.iter().map(|study| (word(&study["name"]), last(study))).collect();
    for of in BESIDES.iter().map(|(of, _)| of).chain(EXACT).chain(AS_ROOT).chain(ELSEWHERE) {
        assert!(studies.iter().any(|(name, _)| name == of), "{of} is no bundled study");
    }
    let place_of = |name: &str| match besides(name).any(|change| change.contains("KERNEL")) {
        false => Place::Namespaces,
        true if EXACT.contains(&name) => Place::ExactGuest,
        true => Place::Guests,
    };
    let is_here = |name: &str| !ELSEWHERE.contains(&name) && place_of(name) == place;
    studies.into_iter().filter(|(name, _)| is_here(name)).collect()
}

/// Runs a study, and expects every planned run on its page.
fn run(name: &str, kernel: &str, further: &[&'static str], netassay: impl Fn(&[&str]) -> Command) {
    let changes = SHORT.iter().copied().chain(besides(name)).chain(further.iter().copied());
    let changes: Vec<String> = changes.map(|change| change.replace("KERNEL", kernel)).collect();
    let mut arguments = vec!["run", name, "--format", "json"];
    arguments.extend(changes.iter().flat_map(|change| ["--set", change]));
    let begun = Instant::now();
    let output = netassay(&arguments).output().unwrap();
    expect(&output, 0);
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results.get("missing"), None, "{name}");
    assert_eq!(results["status"], "complete", "{name}");
    let conditions = results["conditions"].as_array().unwrap();
    assert!(conditions.len() >= 2, "{name}: {conditions:?}");
    let planned = changes.iter().rev().find_map(|change| change.strip_prefix("boots=")?.parse::<u32>().ok());
    for condition in conditions {
        // One run in each boot.
        for count in ["boots", "runs"] {
            assert_eq!(condition[count], planned.unwrap(), "{name}: {}", condition["label"]);
        }
    }
    println!("note: {name}: {} conditions in {:.1} s", conditions.len(), begun.elapsed().as_secs_f64());
}

/// A kernel where any user may read it, by its name and, with `-again` behind it, by another.
fn kernel(bench: &Bench) -> String {
    let kernel = bench.path("kernel");
    kernel::copy_to(&kernel);
    symlink(&kernel, bench.path("kernel-again")).unwrap();
    kernel.display().to_string()
}

/// How an ordinary user comes to taps, for which most distributions let every user open
/// `/dev/net/tun`.
enum Taps {
    /// This machine lets them.
    Allowed,
    /// A device of the test's own takes its place, in a mount namespace.
    Instead(PathBuf),
}

impl Taps {
    /// None if an ordinary user cannot come to them here.
    fn of(bench: &Bench) -> Option<Self> {
        let may = |taps: &Self| {
            let mut open = Command::new("setpriv");
            open.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
            let mut open = if is_root() { open } else { Command::new("env") };
            open.args(["sh", "-c", ": <> /dev/net/tun"]);
            taps.with(&open).output().is_ok_and(|output| output.status.success())
        };
        let device = bench.path("tun");
        let made =
            || Command::new("mknod").args(["-m", "0666"]).arg(&device).args(["c", "10", "200"]).status();
        if may(&Self::Allowed) {
            return Some(Self::Allowed);
        }
        made().is_ok_and(|status| status.success()).then(|| Self::Instead(device.clone())).filter(may)
    }

    /// The command, with taps.
    fn with(&self, command: &Command) -> Command {
        let outer = match self {
            Self::Allowed => Command::new("env"),
            Self::Instead(device) => {
                let mut outer = Command::new("unshare");
                let bind = "mount --bind \"$0\" /dev/net/tun && exec \"$@\"";
                outer.args(["--mount", "--propagation", "private", "sh", "-c", bind]).arg(device);
                outer
            }
        };
        inside(outer, command)
    }
}

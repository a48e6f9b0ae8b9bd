//! Changes of the machine itself: allowed or refused, undone at the end, after a kill, and by `restore`. The machine is a network
//! namespace of the test's own, so that nothing of this one is touched.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Bench, Watched, expect, expect_no_agents_of, is_root, stderr, stdout};

const STUDY: &str = r#"
name = "machine"
question = "Is it undone?"
scenario = "veth"
[[workload]]
kind = "udp_stream"
duration = "20ms"
ramp = "5ms"
[protocol]
boots = 1
warmup = 0
runs = 1
[machine]
sysctl = { "net.ipv4.ip_default_ttl" = 77, "net.ipv4.tcp_rmem" = "4096 131072 4194304" }
features = { lo = { tso = false, gro = false } }
"#;

/// A network namespace that plays the machine, and a directory for journals.
struct World {
    bench: Bench,
    holder: Child,
}

impl World {
    fn new() -> Self {
        let bench = Bench::new();
        let mut unshare = Command::new("unshare");
        let own_user: &[&str] = if is_root() { &[] } else { &["--map-root-user"] };
        let holder =
            unshare.args(own_user).args(["--net", "sleep", "1000"]).stdin(Stdio::null()).spawn().unwrap();
        let world = Self { bench, holder };
        let own = std::fs::read_link("/proc/self/ns/net").unwrap();
        let there = format!("/proc/{}/ns/net", world.holder.id());
        let begun = Instant::now();
        while std::fs::read_link(&there).is_ok_and(|link| link == own) {
            assert!(begun.elapsed() < Duration::from_secs(30), "unshare made no namespace");
            std::thread::sleep(Duration::from_millis(5));
        }
        world
    }

    fn inside(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--net"]);
        if !is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg(program).args(arguments).current_dir(self.bench.path(".")).stdin(Stdio::null());
        command.env("NO_COLOR", "1").env("XDG_STATE_HOME", self.bench.path("state"));
        command
    }

    fn netassay(&self, arguments: &[&str]) -> Command {
        self.inside(self.bench.path("netassay").to_str().unwrap(), arguments)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.netassay(arguments).output().unwrap()
    }

    fn sysctl(&self, name: &str) -> String {
        let path = format!("/proc/sys/net/ipv4/{name}");
        stdout(&self.inside("cat", &[&path]).output().unwrap()).trim().replace('\t', " ")
    }

    fn set_ttl(&self, value: u32) {
        let script = format!("echo {value} > /proc/sys/net/ipv4/ip_default_ttl");
        expect(&self.inside("sh", &["-c", &script]).output().unwrap(), 0);
    }

    /// What the study changes.
    fn state(&self) -> (String, String) {
        (self.sysctl("ip_default_ttl"), self.sysctl("tcp_rmem"))
    }

    fn journals(&self) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(self.bench.path("state/netassay/undo"));
        entries.map_or(Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// What it comes to.
fn changed() -> (String, String) {
    ("77".to_owned(), "4096 131072 4194304".to_owned())
}

/// A session that is killed while its study runs.
fn killed(world: &World) {
    let study = world.bench.write("long.toml", &STUDY.replace("20ms", "60s"));
    let mut session = Watched::start(world.netassay(&["run", "--change-machine", study.to_str().unwrap()]));
    session.wait_for("boot 1");
    assert_eq!(world.state(), changed());
    let pid = session.id();
    // SAFETY: a signal to a child of ours that has not been waited for.
    unsafe { libc::kill(i32::try_from(pid).unwrap(), libc::SIGKILL) };
    session.finish();
    expect_no_agents_of(pid);
    assert_eq!(world.state(), changed(), "nobody was left to undo it");
    assert_eq!(world.journals().len(), 1);
}

#[test]
fn a_study_that_changes_the_machine_is_refused_unless_allowed() {
    let world = World::new();
    let before = world.state();
    world.bench.write("machine.toml", STUDY);
    let refused = world.run(&["run", "machine.toml"]);
    expect(&refused, 2);
    let said = stderr(&refused);
    assert!(said.contains("--change-machine") && said.contains("net.ipv4.ip_default_ttl = 77"), "{said}");
    assert_eq!(world.state(), before);
    expect(&world.run(&["run", "machine.toml", "--dry-run"]), 0);
    assert_eq!(world.journals().len(), 0);
}

#[test]
fn what_a_study_changes_is_undone_at_its_end_and_on_record() {
    let world = World::new();
    let before = world.state();
    world.bench.write("machine.toml", STUDY);
    let done = world.run(&["run", "--keep-disturbed", "--change-machine", "machine.toml"]);
    expect(&done, 0);
    assert!(
        stderr(&done).contains("changed until the end: net.ipv4.ip_default_ttl: 64 -> 77"),
        "{}",
        stderr(&done)
    );
    assert_eq!(world.state(), before);
    assert_eq!(world.journals().len(), 0);
    let shown = stdout(&world.run(&["show", "--environment"]));
    assert!(shown.contains("changed: ") && shown.contains("rx-gro of lo: on -> off"), "{shown}");
}

#[test]
fn after_a_kill_the_next_measuring_command_undoes_it() {
    let world = World::new();
    let before = world.state();
    killed(&world);
    let next =
        world.run(&["load", "udp_stream", "--scenario", "loopback", "--seconds", "20ms", "--ramp", "5ms"]);
    expect(&next, 0);
    assert!(stderr(&next).contains("net.ipv4.ip_default_ttl: 77 -> 64, undone"), "{}", stderr(&next));
    assert_eq!(world.state(), before);
    assert_eq!(world.journals().len(), 0);
}

#[test]
fn after_a_kill_restore_undoes_it_but_for_what_somebody_else_changed() {
    let world = World::new();
    let before = world.state();
    killed(&world);
    world.set_ttl(99);
    let told = world.run(&["restore", "--dry-run"]);
    expect(&told, 3);
    assert!(stdout(&told).contains("ip_default_ttl: is 99, not the 77"), "{}", stdout(&told));
    assert_eq!(world.sysctl("tcp_rmem"), changed().1);
    let left = world.run(&["restore"]);
    expect(&left, 3);
    assert_eq!(world.state(), ("99".to_owned(), before.1.clone()));
    let forced = world.run(&["restore", "--force", "--format", "json"]);
    expect(&forced, 0);
    assert!(stdout(&forced).contains("\"outcome\": \"undone\""), "{}", stdout(&forced));
    assert_eq!(world.state(), before);
    let nothing = world.run(&["restore"]);
    expect(&nothing, 0);
    assert_eq!(stdout(&nothing), "nothing to undo\n");
}

#[test]
fn a_damaged_journal_stops_measuring_until_it_is_set_aside() {
    let world = World::new();
    let before = world.state();
    killed(&world);
    let journal = world.journals().remove(0);
    let text = std::fs::read(&journal).unwrap();
    let second = text.iter().position(|byte| *byte == b'\n').unwrap() + 40;
    let mut damaged = text;
    damaged[second] ^= 1;
    std::fs::write(&journal, damaged).unwrap();
    let load = ["load", "udp_stream", "--scenario", "loopback", "--seconds", "20ms", "--ramp", "5ms"];
    let refused = world.run(&load);
    expect(&refused, 3);
    let said = stderr(&refused);
    assert!(said.contains("line 2: its sum does not fit") && said.contains("--forget"), "{said}");
    // The other lines are undone all the same.
    assert_eq!(world.state(), ("77".to_owned(), before.1));
    expect(&world.run(&["restore"]), 3);
    expect(&world.run(&["restore", "--forget"]), 0);
    expect(&world.run(&load), 0);
    assert!(journal.with_extension("set-aside").exists(), "nothing is lost");
}

#[test]
fn another_network_namespace_is_no_place_to_undo_it() {
    let world = World::new();
    killed(&world);
    let mut here = Command::new(world.bench.path("netassay"));
    here.arg("restore").env("XDG_STATE_HOME", world.bench.path("state")).stdin(Stdio::null());
    let elsewhere = here.output().unwrap();
    expect(&elsewhere, 3);
    assert!(stdout(&elsewhere).contains("belong to the network namespace net:["), "{}", stdout(&elsewhere));
    expect(&world.run(&["restore"]), 0);
}

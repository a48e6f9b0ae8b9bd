//! What can go wrong around a campaign: each a clear error that names the thing and the way out, and no recorded run lost.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Bench, agents_of, expect, is_root, skip, stderr};

const STUDY: &str = r#"
name = "faults"
question = "What if?"
scenario = "veth"
[[workload]]
kind = "tcp_stream"
duration = "300ms"
ramp = "10ms"
[factors]
family = ["ipv4", "ipv6"]
[protocol]
boots = 1
warmup = 0
runs = 3
"#;

#[test]
fn campaign_goes_on_when_an_agent_dies() {
    for victim in ["transmitter", "receiver"] {
        let bench = Bench::new();
        let controller = start(&bench);
        let agents = wait_for_agents(&controller);
        let pid = if victim == "transmitter" { agents[0] } else { agents[1] };
        std::thread::sleep(Duration::from_millis(100));
        // SAFETY: a signal to a process that the controller holds, so its number is not reused.
        unsafe { libc::kill(i32::try_from(pid).unwrap(), libc::SIGKILL) };
        let output = controller.wait_with_output().unwrap();
        expect(&output, 0);
        let talk = stderr(&output);
        assert!(
            talk.contains(&format!("the {victim}'s agent (process {pid}) ended unasked: signal: 9")),
            "{talk}"
        );
        assert!(talk.contains("trying the rest of it on a new testbed"), "{talk}");
        assert_eq!((count(&bench, "ok"), count(&bench, "failed")), (6, 1));
    }
}

#[test]
fn campaign_names_an_interface_that_vanished() {
    if !is_root() {
        return skip("campaign_names_an_interface_that_vanished", "entering an agent's namespace needs root");
    }
    let bench = Bench::new();
    let controller = start(&bench);
    let agents = wait_for_agents(&controller);
    std::thread::sleep(Duration::from_millis(100));
    let deleted = Command::new("nsenter")
        .args(["-t", &agents[0].to_string(), "-n", "ip", "link", "delete", "transmit0"])
        .status()
        .unwrap();
    assert!(deleted.success());
    let output = controller.wait_with_output().unwrap();
    expect(&output, 0);
    let talk = stderr(&output);
    assert!(
        talk.contains("no interface \"receive0\"") || talk.contains("no interface \"transmit0\""),
        "{talk}"
    );
    assert!(talk.contains("trying the rest of it on a new testbed"), "{talk}");
    assert_eq!(count(&bench, "ok"), 6);
}

#[test]
fn campaign_names_a_port_in_use() {
    if !is_root() {
        return skip("campaign_names_a_port_in_use", "entering an agent's namespace needs root");
    }
    let bench = Bench::new();
    let study = STUDY.replace("\"veth\"", "\"loopback\"").replace("ramp =", "port = 5201\nramp =");
    bench.write("faults.toml", &study.replace("tcp_stream", "udp_stream").replace("runs = 3", "runs = 2"));
    let controller = run(&bench);
    let agents = wait_for_agents(&controller);
    // Another agent in the same namespace holds the port over IPv6 as soon as no run does, until it is let go.
    let mut squatter = Command::new("nsenter")
        .args(["-t", &agents[0].to_string(), "-n"])
        .arg(bench.path("netassay"))
        .args(["agent", "--isolation", "none"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let listen = r#"{"ask":"listen","interface":"lo","spec":{"kind":"udp_stream","local":"::1","message":1,"response":0,"flows":1,"socket_buffer":null,"udp_checksum":true,"port":5201,"cpus":[]}}"#;
    let mut orders = squatter.stdin.take().unwrap();
    for _ in 0..400 {
        // Once it has the port, asking again lets go and takes it again at once.
        if writeln!(orders, "{listen}").is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = controller.wait_with_output().unwrap();
    drop(orders);
    squatter.wait().unwrap();
    expect(&output, 5);
    let talk = stderr(&output);
    assert!(talk.contains("port 5201 of ::1 is in use: leave `port` out"), "{talk}");
    assert!(count(&bench, "ok") >= 2, "the runs over IPv4 went on");
    expect(&bench.netassay(&["run", "faults.toml", "--resume"]).output().unwrap(), 0);
    assert_eq!(count(&bench, "ok"), 4);
}

#[test]
fn campaign_needs_a_directory_that_can_be_written() {
    let bench = Bench::new();
    bench.write("faults.toml", STUDY);
    let closed = bench.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let output =
        bench.netassay_as_nobody(&["run", "faults.toml", "--db", "closed/results.db"]).output().unwrap();
    expect(&output, 3);
    assert!(
        stderr(&output).contains("closed/results.db") && stderr(&output).contains("--db"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn campaign_refuses_a_database_from_a_newer_version() {
    let bench = Bench::new();
    bench.write("faults.toml", &STUDY.replace("runs = 3", "runs = 1"));
    expect(&bench.run(&["run", "faults.toml"]), 0);
    bench.database().pragma_update(None, "user_version", 999).unwrap();
    for arguments in [vec!["run", "faults.toml"], vec!["list"], vec!["compare"]] {
        let output = bench.run(&arguments);
        expect(&output, 3);
        assert!(stderr(&output).contains("newer netassay"), "{}", stderr(&output));
    }
}

#[test]
fn campaign_on_a_full_disk_keeps_what_it_recorded() {
    let bench = Bench::new();
    bench.write("faults.toml", &STUDY.replace("300ms", "20ms").replace("runs = 3", "runs = 60"));
    fs::create_dir(bench.path("small")).unwrap();
    // A file system of our own, in a mount namespace of our own, that ends with the shell.
    let script = "mount -t tmpfs -o size=600k none small || exit 77
        ./netassay run faults.toml --db small/netassay.db; code=$?
        cp small/netassay.db* . ; exit $code";
    let mut command = Command::new("unshare");
    command.args(if is_root() { &["-m"][..] } else { &["-rm"][..] }).args(["sh", "-c", script]);
    let output = command.current_dir(bench.path("")).output().unwrap();
    if output.status.code() == Some(77) {
        return skip("campaign_on_a_full_disk_keeps_what_it_recorded", "no tmpfs can be mounted here");
    }
    expect(&output, 3);
    assert!(stderr(&output).contains("the disk is full"), "{}", stderr(&output));
    let told = stderr(&output).lines().filter(|line| line.starts_with('[')).count();
    assert!(told > 3, "it ran a while: {}", stderr(&output));
    assert_eq!(count(&bench, "ok"), told, "every run that was told is recorded");
    // With room again, it goes on.
    let script = "./netassay run faults.toml --resume";
    let resumed = bench.netassay(&["run", "faults.toml", "--resume"]).output().unwrap();
    expect(&resumed, 0);
    assert_eq!(count(&bench, "ok"), 120, "{script}");
}

fn start(bench: &Bench) -> Child {
    bench.write("faults.toml", STUDY);
    run(bench)
}

fn run(bench: &Bench) -> Child {
    bench.netassay(&["run", "faults.toml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The two agents of the first boot: the first testbed is only for trying the switches out.
fn wait_for_agents(controller: &Child) -> [u32; 2] {
    let begun = Instant::now();
    let mut last = Vec::new();
    while begun.elapsed() < Duration::from_secs(20) {
        let mut agents = agents_of(controller.id());
        agents.sort_unstable();
        // Both there, and the same two as a while ago.
        if agents.len() == 2 && agents == last {
            return [agents[0], agents[1]];
        }
        last = agents;
        std::thread::sleep(Duration::from_millis(60));
    }
    panic!("no two agents in 20 s");
}

fn count(bench: &Bench, status: &str) -> usize {
    let counted: u32 = bench
        .database()
        .query_row("SELECT count(*) FROM run WHERE status = ?1", [status], |row| row.get(0))
        .unwrap();
    counted as usize
}

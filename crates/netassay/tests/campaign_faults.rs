//! What can go wrong around a campaign: each a clear error that names the thing and the way out,
//! and no recorded run lost.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use common::{Bench, Watched, expect, is_root, skip, stderr};

const STUDY: &str = r#"
name = "faults"
question = "What if?"
scenario = "veth"
[[workload]]
kind = "tcp_stream"
duration = "400ms"
ramp = "10ms"
[factors]
family = ["ipv4", "ipv6"]
[protocol]
boots = 1
warmup = 0
runs = 2
"#;

#[test]
fn campaign_goes_on_when_an_agent_dies() {
    for (index, victim) in ["transmitter", "receiver"].iter().enumerate() {
        let bench = Bench::new();
        let mut controller = start(&bench, STUDY);
        controller.wait_for("boot 1 of 1");
        let pid = controller.agents()[index];
        // SAFETY: a signal to a process that the controller holds, so its number is not reused.
        unsafe { libc::kill(i32::try_from(pid).unwrap(), libc::SIGKILL) };
        let (code, talk) = controller.finish();
        assert_eq!(code, Some(0), "{talk}");
        assert!(
            talk.contains(&format!("the {victim}'s agent (process {pid}) exited unexpectedly: signal: 9")),
            "{talk}"
        );
        assert!(talk.contains("the rest of this boot runs on a new testbed"), "{talk}");
        assert_eq!((done(&bench), failed(&bench)), (4, 1));
    }
}

#[test]
#[ignore = "the gate proves with an agent that dies that a study goes on"]
fn campaign_names_an_interface_that_vanished() {
    if !is_root() {
        return skip("campaign_names_an_interface_that_vanished", "entering an agent's namespace needs root");
    }
    let bench = Bench::new();
    let mut controller = start(&bench, STUDY);
    controller.wait_for("boot 1 of 1");
    let transmitter = controller.agents()[0].to_string();
    let mut delete = Command::new("nsenter");
    delete.args(["-t", &transmitter, "-n", "ip", "link", "delete", "transmit0"]);
    assert!(delete.status().unwrap().success());
    let (code, talk) = controller.finish();
    assert_eq!(code, Some(0), "{talk}");
    assert!(
        talk.contains("no interface \"receive0\"") || talk.contains("no interface \"transmit0\""),
        "{talk}"
    );
    assert!(talk.contains("the rest of this boot runs on a new testbed"), "{talk}");
    assert_eq!(done(&bench), 4);
}

#[test]
#[ignore = "the gate proves with an agent that dies that a study goes on"]
fn campaign_names_a_port_in_use() {
    if !is_root() {
        return skip("campaign_names_a_port_in_use", "entering an agent's namespace needs root");
    }
    let bench = Bench::new();
    let study = STUDY.replace("\"veth\"", "\"loopback\"").replace("ramp =", "port = 5201\nramp =");
    let mut controller = start(&bench, &study.replace("tcp_stream", "udp_stream"));
    controller.wait_for("boot 1 of 1");
    // Another agent in the same namespace takes the port over IPv6 as soon as no run has it. The
    // order of runs is the seed's: IPv6, IPv4, IPv6, IPv4.
    let mut squatter = Command::new("nsenter")
        .args(["-t", &controller.agents()[0].to_string(), "-n"])
        .arg(bench.path("netassay"))
        .arg("agent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut orders = squatter.stdin.take().unwrap();
    let launch = agent::Launch::default();
    orders.write_all(&agent::encode(&launch).unwrap()).unwrap();
    let mut answers = BufReader::new(squatter.stdout.take().unwrap());
    let traffic = load::Traffic { port: Some(5201), message: 1, ..load::Traffic::new(load::Kind::UdpStream) };
    let spec = load::Spec {
        traffic,
        local: std::net::Ipv6Addr::LOCALHOST.into(),
        cpus: Vec::new(),
        interface: None,
    };
    let listen =
        agent::message::Request::Open { spec, endpoints: None, interface: "lo".to_owned(), underlay: None };
    let within = std::time::Duration::from_secs(60);
    let mut answer = String::new();
    for id in 1.. {
        if answer.contains("sockets") {
            break;
        }
        answer.clear();
        orders.write_all(&agent::RequestHeader { id, within }.line(&listen).unwrap()).unwrap();
        assert!(answers.read_line(&mut answer).unwrap() > 0, "the squatter died");
        assert!(answer.contains("sockets") || answer.contains("in use"), "{answer}");
    }
    let (code, talk) = controller.finish();
    drop(orders);
    squatter.wait().unwrap();
    assert_eq!(code, Some(5), "{talk}");
    assert!(talk.contains("port 5201 of ::1 is in use: leave `port` out"), "{talk}");
    assert!(done(&bench) >= 2, "the runs over IPv4 went on");
    expect(&bench.run(&["run", "faults.toml", "--resume"]), 0);
    assert_eq!(done(&bench), 4);
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
    bench.write("faults.toml", &STUDY.replace("runs = 2", "runs = 1"));
    expect(&bench.run(&["run", "faults.toml", "--set", "family=ipv4"]), 0);
    bench.database().pragma_update(None, "user_version", 999).unwrap();
    for arguments in [vec!["run", "faults.toml"], vec!["db", "list"], vec!["compare"]] {
        let output = bench.run(&arguments);
        expect(&output, 3);
        assert!(stderr(&output).contains("newer netassay"), "{}", stderr(&output));
    }
}

#[test]
#[ignore = "fills a disk with 240 runs: 60 s"]
fn campaign_on_a_full_disk_keeps_what_it_recorded() {
    let bench = Bench::new();
    bench.write("faults.toml", &STUDY.replace("400ms", "60ms").replace("runs = 2", "runs = 60"));
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
    assert_eq!(count(&bench, "SELECT count(*) FROM run"), told, "every run that was told is recorded");
    // With room again, it goes on.
    expect(&bench.run(&["run", "faults.toml", "--resume"]), 0);
    assert_eq!(done(&bench), 120);
}

fn start(bench: &Bench, study: &str) -> Watched {
    bench.write("faults.toml", study);
    Watched::start(bench.netassay(&["run", "faults.toml"]))
}

/// Planned runs that were measured; on a busy machine some of them only while something disturbed
/// them.
fn done(bench: &Bench) -> usize {
    let measured =
        "SELECT DISTINCT number, repeat, condition FROM run WHERE status <> 'failed' AND warmup = 0";
    count(bench, &format!("SELECT count(*) FROM ({measured})"))
}

fn failed(bench: &Bench) -> usize {
    count(bench, "SELECT count(*) FROM run WHERE status = 'failed'")
}

fn count(bench: &Bench, query: &str) -> usize {
    bench.database().query_row(query, [], |row| row.get::<_, u32>(0)).unwrap() as usize
}

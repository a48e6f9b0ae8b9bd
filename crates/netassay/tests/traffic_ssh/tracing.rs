//! Paths of packets inside one machine that is reached over ssh. The machines of these tests have
//! this machine's own kernel, so tracepoints only; `traffic_reboot` has functions.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::common::{Watched, expect, stderr, stdout};
use super::world::World;

const STUDY: &str = "name = \"twice\"\nquestion = \"Is a path the same as itself?\"\nscenario = \"loopback\"\n\
    [[workload]]\nkind = \"udp_rr\"\nduration = \"400ms\"\nramp = \"50ms\"\nflows = 1\n\
    [factors]\nmessage = [1, 1000]\n[protocol]\nboots = 2\nruns = 1\nwarmup = 0\n\
    [trace]\npaths = [\"udp-tx\"]\nbatch = 200\nrounds = 2\n";

impl World {
    /// `netassay trace` in the controller's namespace.
    fn trace(&self, more: &[&str]) -> Command {
        let program = self.bench.path("netassay").display().to_string();
        let config = self.machines.ssh_config();
        // In a machine's own namespaces the program never stays.
        let given = if more.contains(&"--host") { &[] } else { self.given };
        let words = [&[program.as_str(), "trace"], given, more, &["--ssh-config", &config]].concat();
        let mut command = self.machines.command(&words);
        command.current_dir(self.bench.path(".")).stdin(Stdio::null()).env("NO_COLOR", "1");
        command
    }

    fn traced(&self, more: &[&str]) -> Output {
        self.trace(more).output().unwrap()
    }
}

#[test]
#[ignore = "the gate proves traces on this machine (`traffic_trace`)"]
fn a_path_is_traced_inside_a_machine_and_leaves_nothing_there() {
    let Some(world) = World::make("a_path_is_traced_inside_a_machine_and_leaves_nothing_there") else {
        return;
    };
    let before = world.states();
    let release = world.machines.a.sh("uname -r");
    let batch = ["message=1", "trace.batch=300", "trace.rounds=2"];
    // Functions would be probed where the kernel is another one: here they must not be.
    let done = world.traced(&[&["udp-tx", "--host", "a", "--format=json"], &batch[..]].concat());
    expect(&done, 0);
    let document: Value = serde_json::from_str(&stdout(&done)).unwrap();
    assert_eq!((&document["host"], &document["scenario"]), (&"a".into(), &"veth".into()));
    assert_eq!(document["kernel"], release.trim());
    let note = "a runs this machine's own kernel: none of its functions is probed";
    assert!(document["notes"].as_array().unwrap().contains(&note.into()), "{document:#}");
    let traced = &document["traces"][0];
    let seen: Vec<&Value> = traced["account"]["stages"].as_array().unwrap().iter().collect();
    let means = seen.iter().filter_map(|stage| stage["seen"]["Ok"]["mean"].as_str());
    assert!(means.clone().count() >= 4 && means.clone().all(|mean| mean == "tracepoint"), "{document:#}");
    assert!(traced["journeys"]["arrived"].as_u64().unwrap() > 0, "{document:#}");
    world.expect_as_before(&before, Duration::ZERO);

    // The way in, to a reader in another namespace there; as people read it.
    let done = world.traced(&[&["tcp-rx", "--host", "root@b"], &batch[..]].concat());
    expect(&done, 0);
    let said = stdout(&done);
    let place = format!("over veth on root@b (kernel {})", release.trim());
    for words in [place.as_str(), "recvfrom return", "note: root@b runs this machine's own kernel"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(stderr(&done).contains("root@b, in namespaces of netassay's own"), "{}", stderr(&done));

    // What that kernel offers.
    let done = world.traced(&["--paths", "tcp-tx", "--host", "a"]);
    expect(&done, 0);
    let said = stdout(&done).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["probes at places of a (kernel ", "fentry, fexit: not tried", "tcp-tx: a TCP segment"] {
        assert!(said.contains(words), "{words}: {said}");
    }

    // A study of one host.
    world.bench.write("twice.toml", STUDY);
    let done = world.traced(&["twice.toml", "--host", "a", "--keep-disturbed"]);
    expect(&done, 0);
    assert!(stdout(&done).contains("udp-tx, readers awake: "), "{}", stdout(&done));
    world.expect_as_before(&before, Duration::ZERO);
}

#[test]
#[ignore = "the gate proves traces on this machine (`traffic_trace`)"]
fn a_path_between_two_machines_is_traced_in_the_one_that_asks() {
    let Some(world) = World::make("a_path_between_two_machines_is_traced_in_the_one_that_asks") else {
        return;
    };
    let before = world.states();
    let both = ["--transmitter=a:data0", "--receiver=b:data0"];
    let short = ["message=1", "trace.batch=300", "trace.rounds=2"];
    for (path, way) in [("tcp-rx", "trace.readers=asleep"), ("tcp-tx", "family=ipv6")] {
        let done = world.traced(&[&[path, way, "--format=json"], &both[..], &short].concat());
        expect(&done, 0);
        let document: Value = serde_json::from_str(&stdout(&done)).unwrap();
        assert_eq!((&document["host"], &document["scenario"]), (&"a".into(), &"ssh".into()));
        let traced = &document["traces"][0];
        assert!(traced["asked"]["kind"].as_str().unwrap().ends_with("_rr"), "{document:#}");
        assert!(traced["journeys"]["arrived"].as_u64().unwrap() >= 300, "{document:#}");
        assert!(traced["rows"].as_array().unwrap().len() >= 3, "{document:#}");
    }
    let done = world.traced(&[&["udp-tx"], &both[..], &short].concat());
    expect(&done, 0);
    let said = stdout(&done).split_whitespace().collect::<Vec<_>>().join(" ");
    let place = "over ssh on a (kernel ";
    for words in [place, "in the kernel of the transmitter; the receiver answers"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    world.bench.write("between.toml", &STUDY.replace("loopback", "ssh"));
    let done = world.traced(&[&["between.toml", "--keep-disturbed"], &both[..]].concat());
    expect(&done, 0);
    assert!(stdout(&done).contains("udp-tx, readers awake: "), "{}", stdout(&done));
    world.expect_as_before(&before, Duration::ZERO);
}

/// The agents on machine `a` that hold programs in the kernel, by number. They are in namespaces of
/// their own, so they are told by the directory that they were started from.
fn tracing(world: &World) -> Vec<String> {
    let said = world.machines.a.sh(
        "d=$(ls -d /tmp/netassay.* 2>/dev/null) || exit 0; for p in /proc/[0-9]*; do if tr '\\0' ' ' 2>/dev/null < $p/cmdline | grep -q \"^$d/netassay agent\" && \
         ls -l $p/fd 2>/dev/null | grep -q 'bpf[-_]prog'; then echo ${p#/proc/}; fi; done",
    );
    said.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "the gate proves this with a lost connection"]
fn a_trace_whose_controller_is_killed_is_detached() {
    let Some(world) = World::make("a_trace_whose_controller_is_killed_is_detached") else { return };
    let before = world.states();
    let long = ["udp-tx", "--host", "a", "message=1", "trace.rounds=64", "trace.batch=200000"];
    let mut controller = Watched::start(world.trace(&long));
    controller.wait_for("in namespaces of netassay's own");
    let deadline = Instant::now() + Duration::from_secs(30);
    let agents = loop {
        let agents = tracing(&world);
        if !agents.is_empty() {
            break agents;
        }
        assert!(Instant::now() < deadline, "nothing is attached");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(Command::new("kill").args(["-9", &controller.id().to_string()]).status().unwrap().success());
    drop(controller.finish());
    // What an agent holds ends with it.
    let deadline = Instant::now() + Duration::from_secs(10);
    while agents.iter().any(|agent| Path::new("/proc").join(agent).exists()) {
        assert!(Instant::now() < deadline, "{agents:?} live");
        std::thread::sleep(Duration::from_millis(20));
    }
    world.expect_as_before(&before, Duration::from_secs(10));
}

#[test]
#[ignore = "the gate proves refusals of traces on this machine (`traffic_trace`)"]
fn what_cannot_be_traced_there_is_refused_with_the_reason() {
    let Some(world) = World::make("what_cannot_be_traced_there_is_refused_with_the_reason") else { return };
    let refused = |more: &[&str], code: u8, words: &[&str]| {
        let done = world.traced(more);
        expect(&done, code);
        let said = stderr(&done);
        assert!(words.iter().all(|word| said.contains(word)), "{more:?}: {said}");
    };
    let plain = ["a-plain: the login there lacks root", "sudo"];
    refused(&["udp-tx", "--host", "a-plain"], 3, &plain);
    refused(&["--paths", "--host", "a-plain"], 3, &plain);
    refused(&["udp-tx", "--host", "a:data0"], 2, &["\"data0\"", "leave it out"]);
    refused(&["udp-tx", "--host", "a", "exact=true"], 2, &["--host", "exact=true"]);
    refused(&["udp-tx", "--host", "a", "inside=guest"], 2, &["one of --host and inside=guest"]);
    refused(&["udp-tx", "--host", "a", "scenario=ssh"], 2, &["use veth, vxlan or loopback"]);
    refused(&["path-checksum", "--host", "a"], 2, &["needs virtual machines", "the scenario `loopback`"]);
    world.bench.write("between.toml", &STUDY.replace("loopback", "ssh"));
    refused(&["between.toml", "--host", "a"], 2, &["--host is for a path, and for a study of the scenario"]);
    let stream = ["udp-tx", "--transmitter", "a:data0", "--receiver", "b:data0", "exact=true"];
    refused(&stream, 2, &["exact=true", "--transmitter"]);
    refused(&["udp-tx", "scenario=ssh"], 3, &["--transmitter", "--receiver"]);
}

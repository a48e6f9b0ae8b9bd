//! `[machine]` of a study between machines: set on each, or on that of one side, watched, undone.

use std::process::Command;
use std::time::{Duration, Instant};

use super::common::{Watched, expect, stderr, stdout};
use super::world::World;

/// The idle states that a wake-up time of 1 ms keeps CPUs from are none, so the machine of the
/// tests goes on as before.
const SETTINGS: &str = "[machine]\nsysctl = { \"net.ipv4.ip_default_ttl\" = 77 }\nplacement = { irq = 0, traffic = 1 }\n\
    [machine.receiver]\nsysctl.net.ipv4.tcp_rmem = \"4096 131072 4194304\"\nplacement = { irq = 1, traffic = 0 }\n";

/// How long a busy machine may take for what takes a moment.
const PATIENCE: Duration = Duration::from_secs(60);

const LATENCY: &str = "[machine]\ncpu_latency = 1000\n";

/// The settings of both machines that [`SETTINGS`] changes.
fn now(world: &World) -> [String; 2] {
    [&world.machines.a, &world.machines.b].map(|machine| {
        machine
            .sh("sysctl -n net.ipv4.ip_default_ttl net.ipv4.tcp_rmem; cat /sys/class/net/data0/queues/rx-0/rps_cpus")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    })
}

fn signal(controller: &Watched, signal: &str) {
    let pid = controller.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

#[test]
fn settings_of_each_machine_are_set_watched_and_undone() {
    let Some(world) = World::make("settings_of_each_machine_are_set_watched_and_undone") else { return };
    let (before, plain) = (world.states(), now(&world));
    let has_two_cpus = host::affinity::allowed_cpus().len() > 1;
    // With one CPU there is no other place for the work.
    let is_here = |line: &&str| has_two_cpus || !line.starts_with("placement");
    let settings = SETTINGS.lines().filter(is_here).collect::<Vec<_>>().join("\n");
    world.bench.write("tso.toml", &format!("{}{settings}\n", super::world::STUDY));
    let hosts = ["a:data0", "b:data0"];

    // It must be allowed, and a dry run changes nothing.
    let refused = world.netassay(hosts, &[]).output().unwrap();
    expect(&refused, 2);
    let said = stderr(&refused);
    assert!(said.contains("--change-machine") && said.contains("receiver: net.ipv4.tcp_rmem"), "{said}");
    world.expect_as_before(&before, Duration::ZERO);

    // Another program changes a setting of one machine while a run is under way.
    let more = ["--change-machine", "--set", "duration=2s", "--set", "runs=1"];
    let mut controller = Watched::start(world.netassay(hosts, &more));
    controller.wait_for("testbed built");
    let set = || now(&world)[1].starts_with("77 4096 131072 4194304");
    let deadline = Instant::now() + PATIENCE;
    while !set() {
        assert!(Instant::now() < deadline, "{:?}", now(&world));
        std::thread::sleep(Duration::from_millis(20));
    }
    let [a, b] = now(&world);
    assert!(a.starts_with("77 ") && !a.contains("4194304"), "{a}");
    if has_two_cpus {
        let mask = |state: &str| u32::from_str_radix(state.rsplit(' ').next().unwrap(), 16).unwrap();
        assert_eq!((mask(&a), mask(&b)), (1, 2), "{a}\n{b}");
    }
    world.machines.b.sh("sysctl -qw net.ipv4.ip_default_ttl=99");
    let (code, said) = controller.finish();
    assert_eq!(code, Some(0), "{said}");
    // What another program changed is left, and told; the rest is as before.
    for part in [
        "netassay: b: not everything is undone; `netassay undo --host b`",
        "ip_default_ttl: is 99, not the 77",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("netassay: a: not everything"), "{said}");
    let stored = stdout(&world.bench.run(&["show", "tso", "--format", "json"]));
    assert!(stored.contains("\"reads\": \"99") && stored.contains("\"at\": \"receiver\""), "{stored}");
    assert!(now(&world)[1].starts_with("99 "), "{:?}", now(&world));
    let restored = world.on("root@b", &["undo", "--force"]);
    assert!(restored.contains("ip_default_ttl"), "{restored}");
    world.expect_as_before(&before, Duration::ZERO);
    assert_eq!(now(&world), plain);
    let environment = stdout(&world.bench.run(&["show", "tso", "--environment"]));
    assert!(environment.contains("net.ipv4.ip_default_ttl: 64 -> 77"), "{environment}");
    if has_two_cpus {
        assert!(environment.contains("the CPUs of receive queue 0 of data0"), "{environment}");
        assert!(
            environment.contains("transmitter: 1") || environment.contains("transmitter: [1]"),
            "{environment}"
        );
    }

    // The controller is killed while they are changed.
    let mut controller =
        Watched::start(world.netassay(hosts, &["--change-machine", "--set", "duration=20s"]));
    controller.wait_for("testbed built");
    assert!(set());
    signal(&controller, "-9");
    world.expect_as_before(&before, PATIENCE);
    assert_eq!(now(&world), plain);
}

#[test]
#[ignore = "`host` proves which settings are refused"]
fn what_a_machine_does_not_have_is_refused_with_its_name() {
    let Some(world) = World::make("what_a_machine_does_not_have_is_refused_with_its_name") else { return };
    let before = world.states();
    let run = |settings: &str| {
        world.bench.write("tso.toml", &format!("{}{settings}", super::world::STUDY));
        world.netassay(["a:data0", "b:data0"], &["--change-machine", "--set", "runs=1"]).output().unwrap()
    };
    for (settings, why) in [
        (
            "[machine.receiver]\nplacement = { irq = 0, traffic = 999 }\n",
            "the receiver (b): the traffic cannot run on CPU 999",
        ),
        (
            "[machine]\nplacement = { irq = 999, traffic = 0 }\n",
            "the transmitter (a): CPU 999 cannot handle interrupts",
        ),
        (
            "[machine.receiver]\nirq_affinity = { data0 = [0] }\n",
            "the receiver (b): interface \"data0\" has no interrupts",
        ),
    ] {
        let done = run(settings);
        expect(&done, 3);
        assert!(stderr(&done).contains(why), "{}", stderr(&done));
        world.expect_as_before(&before, Duration::from_secs(5));
    }
    let has = |path: &str| std::path::Path::new(path).exists();
    if !has("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") {
        let done = run("[machine]\ngovernor = \"performance\"\n");
        expect(&done, 3);
        let said = stderr(&done);
        assert!(said.contains("the transmitter (a): no CPU here has a frequency governor"), "{said}");
    }
    // A wake-up time is held where the kernel puts CPUs into idle states.
    let driver = std::fs::read_to_string("/sys/devices/system/cpu/cpuidle/current_driver");
    let done = run(LATENCY);
    if driver.is_ok_and(|driver| driver.trim() != "none") {
        expect(&done, 0);
        let environment = stdout(&world.bench.run(&["show", "tso", "--environment"]));
        assert!(environment.contains("latency_bound: 1000"), "{environment}");
    } else {
        expect(&done, 3);
        assert!(
            stderr(&done).contains("the transmitter (a): cannot hold the wake-up time"),
            "{}",
            stderr(&done)
        );
    }
    world.expect_as_before(&before, Duration::from_secs(5));
}

//! What conditions set on the machines themselves, and switches that only real cards have all of:
//! set, read back, undone, or refused with the reason.

use std::time::Duration;

use serde_json::Value;

use super::common::{Watched, expect, has_two_cpus, stderr, stdout};
use super::world::World;

/// A wake-up time of 1 ms keeps CPUs from no idle state, so the machine of the tests goes on as
/// before.
const PLACED: &str = "name = \"placed\"\nquestion = \"Does it matter where the work runs?\"\nscenario = \"ssh\"\n\
    [[workload]]\nkind = \"tcp_stream\"\nduration = \"500ms\"\nramp = \"50ms\"\nflows = 1\n\
    [machine]\nsysctl = { \"net.ipv4.ip_default_ttl\" = 77 }\n\
    [factors]\ntransmitter.placement = [\"default\", { irq = 0, traffic = 1 }]\nreceiver.placement = [{ irq = 1, traffic = 0 }]\n\
    [[comparison]]\nbaseline = { transmitter.placement = { irq = 0, traffic = 1 } }\n\
    [protocol]\nboots = 1\nruns = 2\nwarmup = 0\n";

const OF_CARDS: &str = "name = \"cards\"\nquestion = \"Which offloads can be switched?\"\nscenario = \"veth\"\n\
    [[workload]]\nkind = \"udp_stream\"\nduration = \"500ms\"\nramp = \"50ms\"\nflows = 1\n\
    [factors]\nreceiver.rx-udp-gro-forwarding = [\"off\", \"on\"]\ntransmitter.tx-udp_tnl-segmentation = [\"off\"]\n\
    transmitter.tx-udp_tnl-csum-segmentation = [\"off\"]\nreceiver.lro = [\"off\", \"on\"]\nreceiver.rx-gro-hw = [\"on\"]\n\
    [protocol]\nboots = 1\nruns = 1\nwarmup = 0\n";

/// Without `tcp_autocorking` small segments are not held back for more.
const CORKED: &str = "name = \"corked\"\nquestion = \"What does corking give?\"\nscenario = \"ssh\"\n\
    [[workload]]\nkind = \"tcp_stream\"\nduration = \"200ms\"\nramp = \"50ms\"\nflows = 1\n\
    [factors]\ntransmitter.sysctl = [{ \"net.ipv4.tcp_autocorking\" = 0 }, \"net.ipv4.tcp_autocorking=1\"]\n\
    [protocol]\nboots = 1\nruns = 1\nwarmup = 0\nalternate = \"100ms\"\n";

/// The CPUs that receive for the first queue of each machine's interface.
fn receiving(world: &World) -> [u32; 2] {
    [&world.machines.a, &world.machines.b].map(|machine| {
        let mask = machine.sh("cat /sys/class/net/data0/queues/rx-0/rps_cpus");
        u32::from_str_radix(mask.trim(), 16).unwrap()
    })
}

/// The states that the conditions of the newest study read back.
fn effective(world: &World) -> Vec<Value> {
    let text = "SELECT plan FROM study ORDER BY id DESC LIMIT 1";
    let plan: String = world.bench.database().query_row(text, [], |row| row.get(0)).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    plan["effective"].as_array().unwrap().clone()
}

#[test]
#[ignore = "the gate proves this with settings that all conditions have"]
fn conditions_place_the_work_of_each_machine() {
    let test = "conditions_place_the_work_of_each_machine";
    if !has_two_cpus(test) {
        return;
    }
    let Some(world) = World::make(test) else { return };
    let before = (world.states(), receiving(&world));
    world.bench.write("placed.toml", PLACED);
    let run = |more: &[&str]| world.netassay_run("placed.toml", ["a:data0", "b:data0"], more);

    let refused = run(&[]).output().unwrap();
    expect(&refused, 2);
    let said = stderr(&refused);
    let both =
        "[machine]: net.ipv4.ip_default_ttl = 77; [factors]: transmitter.placement, receiver.placement";
    assert!(said.contains(both) && said.contains("--change-machine"), "{said}");

    // Each change and the commands that undo all, on the machine that it would be made on.
    let dry = run(&["--dry-run", "--set", "cpu_latency=1000"]).output().unwrap();
    expect(&dry, 0);
    let told = stdout(&dry);
    let (of_a, of_b) = told.split_once("On the receiver (b)").unwrap();
    let ttl = ["  sysctl -w net.ipv4.ip_default_ttl=77\n", "    sysctl -w net.ipv4.ip_default_ttl=64\n"];
    let steer = |mask| format!("  echo {mask} > /sys/class/net/data0/queues/rx-0/rps_cpus\n");
    let latency = "  /dev/cpu_dma_latency held open at 1000 µs by the agent\n";
    for (part, cpu) in [(of_a, "00000001"), (of_b, "00000002")] {
        for line in [ttl[0], ttl[1], &steer(cpu), latency] {
            assert!(part.contains(line), "{line}{told}");
        }
    }
    world.expect_as_before(&before.0, Duration::ZERO);

    let done = run(&["--change-machine"]).output().unwrap();
    expect(&done, 0);
    let read: Vec<String> = effective(&world)
        .iter()
        .flat_map(|state| {
            ["transmitter", "receiver"].map(|side| state[side]["tuning"]["placement"].to_string())
        })
        .collect();
    assert_eq!(&read[1..], ["\"irq 1 traffic 0\"", "\"irq 0 traffic 1\"", "\"irq 1 traffic 0\""], "{read:?}");
    assert!(read[0].starts_with("\"irq none traffic 0-"), "{read:?}");
    assert!(stdout(&done).contains("irq0-traffic1"), "{}", stdout(&done));
    world.expect_as_before(&before.0, Duration::ZERO);
    assert_eq!(receiving(&world), before.1);

    // The controller is killed in a condition that has placed the work.
    let long = ["--change-machine", "--set", "duration=1s", "--set", "runs=20"];
    let mut controller = Watched::start(run(&long));
    controller.wait_for("testbed built");
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while receiving(&world) != [1, 2] {
        assert!(std::time::Instant::now() < deadline, "{:?}", receiving(&world));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(
        std::process::Command::new("kill")
            .args(["-9", &controller.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    drop(controller.finish());
    world.expect_as_before(&before.0, Duration::from_secs(5));
    assert_eq!(receiving(&world), before.1);
}

#[test]
#[ignore = "the gate proves this with settings that all conditions have"]
fn conditions_have_sysctls_of_their_own() {
    let Some(world) = World::make("conditions_have_sysctls_of_their_own") else { return };
    let corking = || world.machines.a.sh("cat /proc/sys/net/ipv4/tcp_autocorking");
    let before = corking();
    world.bench.write("corked.toml", CORKED);
    let run =
        |more: &[&str]| world.netassay_run("corked.toml", ["a:data0", "b:data0"], more).output().unwrap();
    let refused = run(&[]);
    expect(&refused, 2);
    assert!(stderr(&refused).contains("[factors]: transmitter.sysctl"), "{}", stderr(&refused));

    // In turns: what is read back is of the transmitter's machine only.
    let done = run(&["--change-machine"]);
    expect(&done, 0);
    let read = |side: &str| -> Vec<Value> {
        effective(&world).iter().map(|state| state[side]["tuning"]["sysctl"].clone()).collect()
    };
    assert_eq!(read("transmitter"), ["net.ipv4.tcp_autocorking=0", "net.ipv4.tcp_autocorking=1"]);
    assert_eq!(read("receiver"), [Value::Null, Value::Null]);
    let turns = "SELECT count(*) FROM run WHERE json_array_length(detail, '$.turns.turns') > 0";
    let shared: u32 = world.bench.database().query_row(turns, [], |row| row.get(0)).unwrap();
    assert_eq!(shared, 2, "{}{}", stdout(&done), stderr(&done));
    assert_eq!(corking(), before);

    // What a socket's buffer has grown to stays: such conditions cannot take turns.
    let buffers =
        "transmitter.sysctl=net.ipv4.tcp_wmem=4096 16384 4194304,net.ipv4.tcp_wmem=4096 16384 65536";
    let refused = run(&["--change-machine", "--set", buffers]);
    expect(&refused, 2);
    assert!(stderr(&refused).contains("take turns"), "{}", stderr(&refused));
    let done = run(&["--change-machine", "--set", buffers, "--set", "alternate="]);
    expect(&done, 0);
    assert_eq!(read("transmitter")[1], "net.ipv4.tcp_wmem=4096 16384 65536");
    assert_eq!(corking(), before);
}

#[test]
#[ignore = "`host` proves which settings are refused"]
fn conditions_that_a_machine_cannot_have_are_refused_with_the_reason() {
    let Some(world) = World::make("conditions_that_a_machine_cannot_have_are_refused_with_the_reason") else {
        return;
    };
    let before = world.states();
    let run = |factors: &str| {
        let (head, tail) = super::world::STUDY.split_once("[factors]\ntso").unwrap();
        let text = format!("{head}[factors]\n{factors}\ntso{tail}").replace("\"veth\"", "\"ssh\"");
        world.bench.write("tso.toml", &text);
        world.netassay(["a:data0", "b:data0"], &["--change-machine", "--set", "runs=1"]).output().unwrap()
    };
    let mut cases = vec![
        ("receiver.irq_affinity = [0]", "receiver (b): interface \"data0\" has no interrupts"),
        (
            "receiver.placement = [{ irq = 0, traffic = 999 }]",
            "the receiver (b): the traffic cannot run on CPU 999",
        ),
        ("placement = [{ irq = 999, traffic = 0 }]", "CPU 999 cannot handle interrupts"),
        ("flow_hash_udp4 = [\"sdfn\"]", "has no `flow_hash_udp4`: its driver"),
    ];
    let has = |path: &str| std::path::Path::new(path).exists();
    if !has("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") {
        cases.push(("governor = [\"performance\"]", "no CPU here has a frequency governor"));
    }
    for (factors, why) in cases {
        let done = run(factors);
        assert_ne!(done.status.code(), Some(0), "{factors}");
        assert!(stderr(&done).contains(why), "{factors}: {}", stderr(&done));
        world.expect_as_before(&before, Duration::from_secs(5));
    }
    // A wake-up time is held where the kernel puts CPUs into idle states, in the conditions that
    // ask for it.
    let driver = std::fs::read_to_string("/sys/devices/system/cpu/cpuidle/current_driver");
    let done = run("cpu_latency = [\"default\", 1000]");
    if driver.is_ok_and(|driver| driver.trim() != "none") {
        expect(&done, 0);
        let read: Vec<String> = effective(&world)
            .iter()
            .map(|state| state["receiver"]["tuning"]["cpu_latency"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(read, ["none", "none", "1000 µs", "1000 µs"]);
    } else {
        assert!(stderr(&done).contains("cannot hold the wake-up time"), "{}", stderr(&done));
    }
    world.expect_as_before(&before, Duration::from_secs(5));
}

#[test]
#[ignore = "the gate proves this with segmentation"]
fn offloads_of_real_cards_are_read_back_and_undone_or_refused() {
    let Some(world) = World::make("offloads_of_real_cards_are_read_back_and_undone_or_refused") else {
        return;
    };
    let before = world.states();
    world.bench.write("cards.toml", OF_CARDS);
    let done = world.netassay_run("cards.toml", ["a:data0", "b:data0"], &[]).output().unwrap();
    expect(&done, 0);
    // LRO is none of veth's, so on and off are the same state.
    let states = effective(&world);
    assert_eq!(states.len(), 2, "{states:#?}");
    let is_on = |state: &Value, side: &str, name: &str| state[side]["active"][name].as_bool().unwrap();
    for (state, forwarding) in states.iter().zip([false, true]) {
        assert_eq!(is_on(state, "receiver", "rx-udp-gro-forwarding"), forwarding);
        for name in ["tx-udp_tnl-segmentation", "tx-udp_tnl-csum-segmentation"] {
            assert!(!is_on(state, "transmitter", name) && is_on(state, "receiver", name), "{name}");
        }
        let refused = &state["receiver"]["refused"];
        assert!(refused["rx-gro-hw"].as_str().unwrap().contains("driver"), "{refused}");
    }
    world.expect_as_before(&before, Duration::ZERO);
}

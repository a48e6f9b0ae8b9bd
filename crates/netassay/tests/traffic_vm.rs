//! Traffic between virtual machines: real boots of a distribution's kernel, switches inside and
//! under the tunnel, what the host spends on it, and nothing left behind.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "where the time that booting takes is told")]

mod common;
#[path = "common/kernel.rs"]
mod kernel;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agent::Interrupt;
use common::{Bench, Watched, children_of, expect, expect_no_agents_of, is_root, links, skip};
use record::{Cause, Disturbance, Note};
use serde_json::Value;
use study::{BootState, Family, Guest, Scenario};
use testbed::{RunOrder, Switches, Testbed, TestbedOptions};

/// One workload and one switch, over two boots.
fn small(scenario: &str, factor: &str) -> String {
    format!(
        r#"
        name = "small-{scenario}"
        question = "Does it act between virtual machines?"
        scenario = "{scenario}"
        [guest]
        kernel = "{}"
        memory = "256MiB"
        [[workload]]
        kind = "tcp_stream"
        message = 65536
        duration = "1500ms"
        ramp = "500ms"
        [factors]
        {factor}
        [protocol]
        boots = 2
        warmup = 0
        runs = 1
        "#,
        kernel::directory().display()
    )
}

/// The environments of a bench's boots.
fn boots(bench: &Bench) -> Vec<Value> {
    let database = bench.database();
    let mut query = database
        .prepare("SELECT json FROM document JOIN boot ON boot.environment = document.id ORDER BY boot.number")
        .unwrap();
    let texts = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    texts.map(|text| serde_json::from_str(&text.unwrap()).unwrap()).collect()
}

/// The plan's read-back states, whose first has everything on.
fn effective(bench: &Bench) -> Vec<Value> {
    let plan: String = bench.database().query_row("SELECT plan FROM study", [], |row| row.get(0)).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    plan["effective"].as_array().unwrap().clone()
}

/// Each boot has two machines of its own, and tells what they are.
fn expect_real_boots(bench: &Bench) {
    let boots = boots(bench);
    assert_eq!(boots.len(), 2);
    let mut ids = BTreeSet::new();
    for boot in &boots {
        let release = &boot["guests"]["transmitter"]["kernel_release"];
        for side in ["transmitter", "receiver"] {
            let (inside, outside) = (&boot[side], &boot["guests"][side]);
            ids.insert(inside["kernel"]["boot_id"].as_str().unwrap().to_owned());
            assert_eq!(&inside["kernel"]["release"], release);
            assert!(inside["kernel"]["command_line"].as_str().unwrap().contains("console="), "{inside}");
            assert_eq!((&outside["vcpus"], &outside["memory_mib"]), (&1.into(), &256.into()));
            assert_eq!(outside["nic"], "virtio-net");
            println!("note: {side} alive after {:.1} s", outside["boot_ms"].as_f64().unwrap() / 1e3);
        }
        let notes = boot["notes"].to_string();
        let accelerated = &boot["guests"]["receiver"]["acceleration"];
        let is_noted = boot["notes"].as_array().unwrap().contains(&"kvm".into());
        assert_eq!(*accelerated == "kvm", is_noted, "{notes}");
        let host = boot["nodes"][0]["kernel"]["boot_id"].as_str().unwrap();
        assert!(!ids.contains(host), "the nodes are namespaces of this machine");
    }
    assert_eq!(ids.len(), 4, "four boots of virtual machines");
}

/// Bytes flowed in so many runs of every condition, and guest and host were both counted.
fn expect_traffic(bench: &Bench, slugs: &[&str], runs: usize) {
    for slug in slugs {
        assert_eq!(bench.values(slug, "throughput").len(), runs, "{slug}");
        assert!(bench.mean(slug, "throughput") > 1.0, "{slug}");
        for side in ["transmitter", "receiver"] {
            let value = |metric: &str| bench.mean(slug, &format!("{side}.{metric}"));
            assert!(value("cpu") > 0.0 && value("host_service_demand_byte") > 0.0, "{slug} {side}");
            assert!((0.0..=100.0).contains(&value("host_vcpu_waiting")), "{slug} {side}");
            let parts = value("host_cpu_vcpu") + value("host_cpu_io");
            assert!((value("host_cpu") - parts).abs() < 0.01 && parts > 1.0, "{slug} {side}: {parts}");
        }
    }
}

#[test]
#[ignore = "boots four guests, and asserts rates: needs a quiet machine"]
fn traffic_vm_study_over_two_boots() {
    if !is_root() {
        return skip("traffic_vm_study_over_two_boots", "not root");
    }
    let before = links();
    let bench = Bench::new();
    let study = bench.write(
        "vm.toml",
        &small(
            "vm",
            "transmitter.tso = [\"on\", \"off\"]\nmtu = [1500]\nqueues = [1]\nrx_ring = [\"default\"]\nreceiver.rx-gro-hw = [\"off\"]",
        )
        .replace("1500ms", "640ms")
        .replace("runs = 1", "runs = 2\nalternate = \"100ms\"\napart = true"),
    );
    let output = bench.run(&["run", study.to_str().unwrap()]);
    expect(&output, 0);
    expect_real_boots(&bench);
    let states = effective(&bench);
    let slugs = slugs(&bench);
    assert_eq!((states.len(), slugs.len()), (2, 2));
    let tso = |state: &Value| state["transmitter"]["active"]["tx-tcp-segmentation"] == true;
    assert!(tso(&states[0]) && !tso(&states[1]), "{states:#?}");
    assert!(states.iter().all(|state| state["receiver"]["active"]["tx-tcp-segmentation"] == true));
    // The card's own batches are switched off at one end only.
    let batches = |state: &Value, side: &str| state[side]["active"]["rx-gro-hw"] == true;
    assert!(
        states.iter().all(|state| batches(state, "transmitter") && !batches(state, "receiver")),
        "{states:#?}"
    );
    // virtio-net has rings and queues of its own.
    for state in &states {
        for side in ["transmitter", "receiver"] {
            assert_eq!(state[side]["device"]["queues"], 1, "{state}");
            assert!(state[side]["device"]["rx_ring"].as_u64().unwrap() >= 64, "{state}");
        }
    }
    let environment = &boots(&bench)[0]["transmitter"]["interfaces"];
    let interface = environment.as_object().unwrap().values().next().unwrap();
    assert_eq!(interface["device"]["rx_ring"]["most"], interface["device"]["rx_ring"]["now"]);
    assert_eq!(interface["driver"], "virtio_net");
    assert!(interface["hardware"]["bus"].as_str().unwrap().contains(':'), "{interface}");
    expect_traffic(&bench, &[&slugs[0], &slugs[1]], 4);
    // Half of the runs were turns in a flow, of which the host counts the whole.
    let turns = "SELECT count(*) FROM run WHERE json_extract(detail, '$.turns') IS NOT NULL";
    assert_eq!(bench.database().query_row(turns, [], |row| row.get::<_, u32>(0)).unwrap(), 4);
    assert_eq!(bench.values(&slugs[0], "receiver.host_cpu").len(), 2);
    let segments = |slug: &str| bench.mean(slug, "transmitter.segments_per_wire_packet");
    assert!(segments(&slugs[0]) > 2.0, "{}", segments(&slugs[0]));
    assert!((segments(&slugs[1]) - 1.0).abs() < 0.2, "{}", segments(&slugs[1]));
    assert_eq!(links(), before);
}

#[test]
#[ignore = "boots six guests"]
fn traffic_vm_vxlan_study_over_two_boots_and_a_kill() {
    if !is_root() {
        return skip("traffic_vm_vxlan_study_over_two_boots_and_a_kill", "not root");
    }
    let before = links();
    let bench = Bench::new();
    let factor = "transmitter.underlay.tx-udp_tnl-segmentation = [\"on\", \"off\"]";
    let study = bench.write("vm-vxlan.toml", &small("vm-vxlan", factor));
    let study = study.to_str().unwrap();
    expect(&bench.run(&["run", study]), 0);
    expect_real_boots(&bench);
    let (states, slugs) = (effective(&bench), slugs(&bench));
    let on = |state: &Value, side: &str| {
        state["underlay"][side]["active"]["tx-udp_tnl-segmentation"].as_bool().unwrap()
    };
    assert_eq!([&states[0], &states[1]].map(|state| on(state, "transmitter")), [true, false]);
    assert_eq!([&states[0], &states[1]].map(|state| on(state, "receiver")), [true, true], "it was not asked");
    for state in &states {
        assert_eq!(
            (&state["transmitter"]["mtu"], &state["underlay"]["transmitter"]["mtu"]),
            (&1450.into(), &1500.into())
        );
    }
    expect_traffic(&bench, &[&slugs[0], &slugs[1]], 2);
    let bytes = |slug: &str| bench.mean(slug, "transmitter.bytes_per_underlay_packet");
    assert!(bytes(&slugs[0]) > 3000.0, "{}", bytes(&slugs[0]));
    assert!(bytes(&slugs[1]) < 1515.0, "{}", bytes(&slugs[1]));

    // Killed with its machines at work, the controller takes everything with it.
    std::fs::remove_file(bench.path("netassay.db")).unwrap();
    let controller = Watched::start(bench.netassay(&["run", study]));
    let id = controller.id();
    let mut controller = controller;
    controller.wait_for("boot 1");
    let alive = children_of(id);
    assert!(alive.len() >= 4, "two nodes and two machines: {alive:?}");
    // SAFETY: a signal to a process that this test started.
    unsafe { libc::kill(i32::try_from(id).unwrap(), libc::SIGKILL) };
    controller.finish();
    expect_no_agents_of(id);
    let begun = Instant::now();
    while alive.iter().any(|pid| std::path::Path::new(&format!("/proc/{pid}/exe")).exists()) {
        assert!(begun.elapsed() < Duration::from_secs(10), "{alive:?} are still there");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(links(), before);
}

/// A VXLAN tunnel inside one guest with so many virtual CPUs.
fn tunnel_in_a_guest(bench: &Bench, vcpus: u32) -> TestbedOptions {
    let guest = Guest { kernel: Some(kernel::directory().display().to_string()), vcpus, ..Guest::default() };
    let cpus = testbed::split_cpus(&host::affinity::usable());
    TestbedOptions {
        state: BootState { guest: Some(guest), ..Scenario::Vxlan.into() },
        inside_guest: true,
        ..TestbedOptions::new(BootState::default(), bench.path("netassay"), cpus, !is_root())
    }
}

/// A guest's kernel delays, loses and limits what is sent; the run after that has a whole path
/// again.
#[test]
#[ignore = "asserts a delay and a rate: needs a quiet machine"]
fn traffic_over_an_impaired_path_in_a_guest() {
    let bench = Bench::new();
    let options = tunnel_in_a_guest(&bench, 1);
    let mut testbed = Testbed::build(&options, &Interrupt::new().unwrap()).unwrap();
    let mut run = |traffic: load::Traffic| {
        let (ramp, window) = (Duration::from_millis(200), Duration::from_millis(800));
        let order = RunOrder { traffic, family: Family::Ipv4, ramp, window, step: RunOrder::step_of(window) };
        assert_eq!(testbed.lacking(&order.traffic, order.family).unwrap(), [] as [String; 0]);
        testbed.run(&order, &mut || {}).unwrap()
    };
    let trip = |account: &record::RunAccount| {
        let latency = account.transmitter.whole.outcome.latency.as_ref().unwrap();
        Duration::from_nanos(latency.min)
    };
    let rr = load::Traffic::new(load::Kind::UdpRr);
    let delay = Duration::from_millis(50);
    let delayed = run(load::Traffic { path_delay: Some(delay), ..rr.clone() });
    assert!(trip(&delayed) >= 2 * delay, "{:?}", trip(&delayed));

    let datagrams = load::Traffic {
        // One packet each inside the tunnel.
        message: 1_000,
        pacing: words::Pacing::parse("4Mbit").ok(),
        ..load::Traffic::new(load::Kind::UdpStream)
    };
    let lossy = run(load::Traffic { path_loss: words::Percent::parse("30%").ok(), ..datagrams.clone() });
    let (sent, dropped) = lost(&lossy);
    // Some 500 datagrams: 7 standard deviations of 2.1 percentage points about the share.
    assert!((0.15..0.45).contains(&(dropped as f64 / sent as f64)), "{dropped} of {sent}");

    // Some 50 datagrams: a busy machine leaves an emulated guest time for few.
    let rate = |text| words::Pacing::parse(text).ok();
    let limited = run(load::Traffic { pacing: rate("1Mbit"), path_rate: rate("500kbit"), ..datagrams });
    assert_eq!(limited.transmitter.window.link.rate_bits, Some(500_000));
    let window = &limited.receiver.as_ref().unwrap().window;
    let bits = window.load.received.bytes as f64 * 8e9 / window.elapsed_ns as f64;
    assert!((0.25e6..0.525e6).contains(&bits), "{bits} bits/s");

    let whole = run(rr);
    assert!(trip(&whole) < delay, "{:?}", trip(&whole));
}

/// Datagrams sent, and dropped by the sender's queue.
fn lost(account: &record::RunAccount) -> (u64, u64) {
    let whole = &account.transmitter.whole;
    (whole.outcome.sent.messages, whole.counters.queue.drops)
}

#[test]
#[ignore = "asserts how much a guest waits for a CPU: needs a quiet machine"]
fn traffic_inside_a_guest() {
    let bench = Bench::new();
    let options = tunnel_in_a_guest(&bench, 2);
    let mut testbed = Testbed::build(&options, &Interrupt::new().unwrap()).unwrap();
    assert!(
        testbed.notes.iter().any(|note| matches!(note, Note::Kvm | Note::Emulation { .. })),
        "{:?}",
        testbed.notes
    );
    assert_eq!(
        (testbed.transmitter.cpus.clone(), testbed.receiver.as_ref().unwrap().cpus.clone()),
        (vec![0], vec![1])
    );
    let plain = testbed.settle(&Switches::default()).unwrap();
    assert_eq!((plain.transmitter.mtu, plain.underlay.as_ref().unwrap().transmitter.mtu), (1450, 1500));
    let environment = serde_json::to_value(testbed.environment().unwrap()).unwrap();
    let own = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let boot = |side: &str| environment[side]["kernel"]["boot_id"].as_str().unwrap().to_owned();
    assert_eq!(boot("transmitter"), boot("receiver"), "one machine");
    assert_ne!(boot("transmitter"), own.trim());
    assert_eq!(environment["guests"]["guest"]["vcpus"], 2);
    // Long enough for TCP to get over a loss or two on a machine that is busy with other things.
    let (ramp, window) = (Duration::from_millis(500), Duration::from_millis(1500));
    let order = |ipv6| {
        let traffic = load::Traffic::new(load::Kind::TcpStream);
        RunOrder { traffic, family: Family::from_ipv6(ipv6), ramp, window, step: RunOrder::step_of(window) }
    };
    for ipv6 in [false, true] {
        let order = order(ipv6);
        let account = testbed.run(&order, &mut || {}).unwrap();
        let received = account.receiver.unwrap().whole.outcome.received.bytes;
        assert!(received > 100_000, "{received} bytes arrived");
        assert!(account.transmitter.window.underlay.unwrap().link.tx_packets > 0);
        let around = account.around.unwrap();
        assert!(around.vcpu.running_ns > 0 && !around.cpus.is_empty(), "{around:?}");
        assert!(around.vcpu_each.len() == 2 && around.pinned, "{around:?}");
    }
    // Threads of this test have the CPUs: no processes that the runner would see, but the virtual
    // CPUs wait for them.
    let order = order(false);
    let account = beside_busy_threads(|| testbed.run(&order, &mut || {})).unwrap();
    let disturbed = runner::disturbances(&account, &order);
    let waited = |what: &Disturbance| matches!(what.cause, Cause::Waited { .. });
    assert!(disturbed.iter().any(waited), "{disturbed:?}: {:?}", account.around);
    // A machine that goes is named with what it said last.
    let machine = children_of(std::process::id());
    let is_qemu =
        |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap().starts_with("qemu");
    let machine = machine.into_iter().find(is_qemu).unwrap();
    // SAFETY: a signal to a process that this test's testbed started.
    unsafe { libc::kill(i32::try_from(machine).unwrap(), libc::SIGKILL) };
    let error = testbed.settle(&Switches::default()).unwrap_err();
    assert!(matches!(error, testbed::Error::Guest { .. }) && !error.testbed_is_well(), "{error:?}");
    assert!(error.to_string().contains("guest") && error.to_string().contains("signal: 9"), "{error}");
    let nested =
        TestbedOptions { state: BootState { scenario: Scenario::Vm, ..options.state.clone() }, ..options };
    let error = Testbed::build(&nested, &Interrupt::new().unwrap()).unwrap_err().to_string();
    assert!(error.contains("scenario \"vm\" already has virtual machines"), "{error}");
}

/// The order says two virtual CPUs, and the kernel in the guest uses one of them.
#[test]
fn traffic_inside_a_guest_runs_on_the_cpus_that_the_guest_has() {
    let bench = Bench::new();
    let guest = Guest {
        kernel: Some(kernel::directory().display().to_string()),
        command_line: "maxcpus=1".to_owned(),
        vcpus: 2,
        ..Guest::default()
    };
    let state = BootState { guest: Some(guest), ..Scenario::Veth.into() };
    let cpus = testbed::split_cpus(&host::affinity::usable());
    let options = TestbedOptions {
        inside_guest: true,
        ..TestbedOptions::new(state, bench.path("netassay"), cpus, !is_root())
    };
    let mut testbed = Testbed::build(&options, &Interrupt::new().unwrap()).unwrap();
    for end in [&testbed.transmitter, testbed.receiver.as_ref().unwrap()] {
        assert_eq!(end.cpus, [0], "{}", end.side);
    }
    assert!(
        testbed.notes.iter().any(|note| note.to_string().starts_with("one core only")),
        "{:?}",
        testbed.notes
    );
    testbed.settle(&Switches::default()).unwrap();
    let (ramp, window) = (Duration::from_millis(500), Duration::from_millis(1500));
    let traffic = load::Traffic::new(load::Kind::TcpStream);
    let order = RunOrder { traffic, family: Family::Ipv4, ramp, window, step: RunOrder::step_of(window) };
    assert!(testbed.run(&order, &mut || {}).unwrap().receiver.unwrap().whole.outcome.received.bytes > 0);
}

/// Does something that does not panic while three threads for each CPU take whatever they get.
fn beside_busy_threads<T>(mut act: impl FnMut() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for cpu in host::affinity::allowed_cpus().into_iter().flat_map(|cpu| [cpu; 3]) {
            let stop = &stop;
            scope.spawn(move || {
                host::affinity::pin_current_thread(&[cpu]).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let came_of_it = act();
        stop.store(true, Ordering::Relaxed);
        came_of_it
    })
}

/// The slugs of the plan's conditions.
fn slugs(bench: &Bench) -> Vec<String> {
    let plan: String = bench.database().query_row("SELECT plan FROM study", [], |row| row.get(0)).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let conditions = plan["conditions"].as_array().unwrap().iter();
    conditions.map(|condition| condition["slug"].as_str().unwrap().to_owned()).collect()
}

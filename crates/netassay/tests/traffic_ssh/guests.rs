//! A guest on each of two machines, on a bridge with the machine's interface, or on a tunnel over
//! it.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::world::World;
use crate::common::{Watched, expect, stderr, stdout};
use crate::kernel;

/// Both scenarios, a boot of each. Emulated: a trial of KVM may take 5 s of each boot.
fn study() -> String {
    format!(
        r#"
        name = "guests"
        question = "Does TSO make TCP faster between guests on two machines?"
        [guest]
        kernel = "{}"
        memory = "256MiB"
        acceleration = "emulation"
        [[workload]]
        kind = "tcp_stream"
        message = 65536
        duration = "1500ms"
        ramp = "500ms"
        [factors]
        scenario = ["vm", "vm-vxlan"]
        transmitter.tso = ["on", "off"]
        [protocol]
        boots = 1
        warmup = 0
        runs = 1
        "#,
        kernel::directory().display()
    )
}

/// The environments of the boots, with their scenarios.
fn environments(world: &World) -> Vec<Value> {
    let database = world.bench.database();
    let mut query = database
        .prepare("SELECT json FROM document JOIN boot ON boot.environment = document.id ORDER BY boot.number")
        .unwrap();
    let texts = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    texts.map(|text| serde_json::from_str(&text.unwrap()).unwrap()).collect()
}

fn expect_guests(environment: &Value) {
    let own = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let tunnel = environment["scenario"] == "vm-vxlan";
    let nodes = environment["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 2);
    let sides = [("transmitter", "a", "tap-transmit"), ("receiver", "b", "tap-receive")];
    for ((side, host, tap), node) in sides.into_iter().zip(nodes) {
        assert_ne!(environment[side]["kernel"]["boot_id"], own.trim(), "a guest has a kernel of its own");
        assert_eq!(node["kernel"]["boot_id"], own.trim(), "its host is a namespace of this machine");
        let guest = &environment["guests"][side];
        assert_eq!(guest["kernel_release"], environment[side]["kernel"]["release"]);
        assert_eq!(guest["acceleration"]["emulation"]["why"], "requested");
        assert_eq!(environment["machines"][side]["host"], host);
        assert_eq!(environment["machines"][side]["interface"], "data0");
        // What the guest's host reads back: its tap, the machine's interface, and the bridge.
        let interfaces = &node["interfaces"];
        for name in [tap, "data0", "bridge0"] {
            assert!(interfaces[name]["features"]["tx-tcp-segmentation"].is_object(), "{name}: {interfaces}");
        }
        assert_eq!(interfaces["vxlan0"].is_object(), tunnel);
    }
}

#[test]
#[ignore = "boots seven guests"]
fn guests_on_two_machines_leave_them_as_they_were() {
    let Some(world) = World::make("guests_on_two_machines_leave_them_as_they_were") else { return };
    world.bench.write("guests.toml", &study());
    let before = world.states();
    let run = |more: &[&str]| world.netassay_run("guests.toml", ["a:data0", "b:data0"], more);

    // A machine without QEMU is named before anything is changed.
    world.machines.b.sh("mount --bind /dev/null /usr/bin/qemu-system-x86_64");
    let refused = run(&[]).output().unwrap();
    assert_ne!(refused.status.code(), Some(0), "{}", stdout(&refused));
    let said = stderr(&refused);
    assert!(
        said.contains("the receiver (b) cannot boot a guest: no qemu-system-x86_64 in the PATH"),
        "{said}"
    );
    assert!(said.contains("apt-get install --no-install-recommends qemu-system-x86"), "{said}");
    world.machines.b.sh("umount /usr/bin/qemu-system-x86_64");
    world.expect_as_before(&before, Duration::from_secs(5));
    // Nor does a bridge cut off the connection.
    let more = ["--set", "scenario=vm"];
    let refused = world.netassay_run("guests.toml", ["a:mgmt", "b:data0"], &more).output().unwrap();
    assert!(stderr(&refused).contains("the interface mgmt carries this connection"), "{}", stderr(&refused));
    world.expect_as_before(&before, Duration::from_secs(5));

    let done = run(&[]).output().unwrap();
    expect(&done, 0);
    world.expect_as_before(&before, Duration::ZERO);
    let environments = environments(&world);
    let mut scenarios: Vec<&Value> = environments.iter().map(|one| &one["scenario"]).collect();
    scenarios.sort_by_key(ToString::to_string);
    assert_eq!(scenarios, ["vm", "vm-vxlan"]);
    environments.iter().for_each(expect_guests);
    let slugs = slugs(&world);
    assert_eq!(slugs.len(), 4);
    for slug in &slugs {
        let mean = |metric: &str| world.bench.mean(slug, metric);
        assert!(mean("throughput") > 1.0, "{slug}");
        for side in ["transmitter", "receiver"] {
            let cpu = ["cpu", "host_cpu", "host_cpu_vcpu"].map(|part| mean(&format!("{side}.{part}")));
            assert!(cpu.iter().all(|percent| *percent > 1.0), "{slug} {side}: {cpu:?}");
        }
        let segments = mean("transmitter.segments_per_wire_packet");
        if slug.contains("tso-off") {
            assert!((segments - 1.0).abs() < 0.2, "{slug}: {segments}");
        } else {
            assert!(segments > 2.0, "{slug}: {segments}");
        }
    }

    // Killed in the middle of a run, the controller takes the guests with it.
    let more = ["--set", "duration=30s", "--set", "scenario=vm", "--set", "mtu=1600"];
    let mut controller = Watched::start(run(&more));
    controller.wait_for("testbed built");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !world.machines.b.left().contains("qemu-system")
        || !world.machines.a.sh("ip link show data0").contains("mtu 1600")
    {
        assert!(Instant::now() < deadline, "{}", world.machines.a.sh("ip link"));
        std::thread::sleep(Duration::from_millis(20));
    }
    // What started QEMU may end it, and nothing else: CAP_KILL.
    let status = world.machines.b.sh(
        r"own=$(readlink /proc/self/ns/net); for p in /proc/[0-9]*; do
            if [ $(readlink $p/ns/net) = $own ] && tr '\0' ' ' < $p/cmdline | grep -q '^[^ ]*netassay guest'; then
                grep -E '^(CapPrm|CapBnd|NoNewPrivs):' $p/status | cut -f 2; fi; done 2>/dev/null; true",
    );
    assert_eq!(status.split_whitespace().collect::<Vec<_>>(), ["0000000000000020", "0000000000000020", "1"]);
    let killed = Command::new("kill").args(["-9", &controller.id().to_string()]).status().unwrap();
    assert!(killed.success());
    world.expect_as_before(&before, Duration::from_secs(5));
}

/// The slugs of the plan's conditions.
fn slugs(world: &World) -> Vec<String> {
    let plan: String =
        world.bench.database().query_row("SELECT plan FROM study", [], |row| row.get(0)).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let conditions = plan["conditions"].as_array().unwrap().iter();
    conditions.map(|condition| condition["slug"].as_str().unwrap().to_owned()).collect()
}

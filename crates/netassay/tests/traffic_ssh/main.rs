//! Studies between two machines that are reached over ssh, or by any other command: network
//! namespaces with an sshd each.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod conditions;
mod containers;
mod fleet;
mod guests;
#[path = "../common/kernel.rs"]
mod kernel;
mod logins;
#[path = "../common/machines.rs"]
mod machines;
mod pair;
mod settings;
mod tracing;
mod trouble;
mod world;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Bench, Watched, expect, stderr, stdout};
use world::World;

#[test]
fn a_study_between_two_machines_leaves_them_as_they_were() {
    let Some(world) = World::bare("a_study_between_two_machines_leaves_them_as_they_were") else { return };
    let before = world.states();
    let done = world.netassay(["a:data0", "root@b:data0"], &[]).output().unwrap();
    expect(&done, 0);
    let said = stderr(&done);
    assert!(
        said.contains("transmitter: a, interface data0 (MTU 1500, 10.78.0.1/24, 2001:db8:78::1/64)"),
        "{said}"
    );
    assert!(said.contains("receiver: root@b, interface data0"), "{said}");
    // Segmentation by the card: a packet carries several segments.
    let segments = |slug| world.bench.mean(slug, "transmitter.segments_per_wire_packet");
    let [on, off] = ["tcp4_tso-on", "tcp4_tso-off"].map(segments);
    assert!(on > 2.0 && (off - 1.0).abs() < 0.1, "{on} and {off} segments\n{}", stdout(&done));
    let scenario: String = world
        .bench
        .database()
        .query_row("SELECT json_extract(plan, '$.conditions[0].boot.scenario') FROM study", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(scenario, "ssh");
    // It is stored and shown which machines they were.
    let shown = world.bench.run(&["show", "tso", "--wide"]);
    expect(&shown, 0);
    for line in [
        "Measured on the transmitter: a, interface data0 (driver veth, MTU 1500); kernel ",
        "Measured on the receiver: root@b, interface data0 (driver veth, MTU 1500); kernel ",
    ] {
        assert!(stdout(&shown).contains(line), "{line}\n{}", stdout(&shown));
    }
    world.expect_as_before(&before, Duration::ZERO);

    // A tunnel over the same interfaces, with addresses that are not there yet, and another MTU.
    let more = [
        "--set",
        "scenario=ssh-vxlan",
        "--set",
        "underlay.mtu=1600",
        "--set",
        "runs=1",
        "--addresses",
        "own",
    ];
    let done = world.netassay(["a:data0", "b:data0"], &more).output().unwrap();
    expect(&done, 0);
    world.expect_as_before(&before, Duration::ZERO);
}

#[test]
#[ignore = "tests of `host` prove which names, networks and ports are taken"]
fn a_tunnel_leaves_those_of_others() {
    let Some(world) = World::make("a_tunnel_leaves_those_of_others") else { return };
    world.machines.b.sh("ip link add vxlan0 type vxlan id 42 dstport 4789 dev mgmt; ip link set vxlan0 up");
    // The second name, and at the other machine the third port.
    world.machines.b.sh("ip link add bridge1 type bridge");
    world.machines.a.sh("ip link add odd type vxlan id 7 dstport 14791 dev mgmt");
    let before = world.states();
    let run = |more: &[&str]| {
        let more = [&["--set", "scenario=ssh-vxlan", "--set", "runs=1"], more].concat();
        let done = world.netassay(["a:data0", "b:data0"], &more).output().unwrap();
        expect(&done, 0);
        stdout(&done)
    };
    let made = "  ip link add vxlan3 group 1852142689 type vxlan id 45 dstport 14792 dev data0 …\n";
    let told = run(&["--dry-run"]);
    assert_eq!(told.matches(made).count(), 2, "{told}");
    assert_eq!(told.matches("    ip link del group 1852142689\n").count(), 2, "{told}");
    run(&[]);
    world.expect_as_before(&before, Duration::ZERO);
    let measured: String = world
        .bench
        .database()
        .query_row("SELECT json FROM document JOIN boot ON boot.environment = document.id", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert!(measured.contains("\"vxlan3\"") && !measured.contains("\"vxlan0\""), "{measured}");
    // What is undone by hand is netassay's alone.
    let b = &world.machines.b;
    b.sh(made.trim().trim_end_matches(" …"));
    assert_ne!(world.states(), before);
    b.sh("ip link del group 1852142689");
    world.expect_as_before(&before, Duration::ZERO);
}

#[test]
#[ignore = "unit tests prove which families and comparisons are left out"]
fn machines_without_ipv6_measure_ipv4() {
    let Some(world) = World::make("machines_without_ipv6_measure_ipv4") else { return };
    for machine in [&world.machines.a, &world.machines.b] {
        machine.sh("sysctl -qw net.ipv6.conf.data0.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
    }
    let before = world.states();
    let short = ["boots=1", "runs=1", "warmup=0", "duration=50ms", "ramp=10ms", "stop="];
    let short: Vec<&str> = short.iter().flat_map(|one| ["--set", *one]).collect();
    let (own, left_out) = (["--addresses", "own"], "without family=ipv6");
    for (study, more, code, said) in [
        ("tcp-offload", &[][..], 0, left_out),
        ("tcp-offload", &["--set", "family=ipv4"], 0, ""),
        ("tcp-offload", &own, 0, left_out),
        ("tcp-offload", &["--set", "scenario=ssh-vxlan"], 0, left_out),
        ("tcp-offload", &["--set", "scenario=ssh-vxlan", "--addresses", "own"], 0, left_out),
        ("tcp-offload", &["--set", "family=ipv6"], 3, "no ipv6 address"),
        ("tcp-offload", &["--set", "family=ipv6", "--addresses", "own"], 3, "IPv6 is off"),
    ] {
        let done = world.bundled(&world.bench, study, &[&short[..], more].concat());
        expect(&done, code);
        assert!(stderr(&done).contains(said), "{study} {more:?}\n{}", stderr(&done));
        world.expect_as_before(&before, Duration::ZERO);
    }
}

/// The largest value of a metric in the measured runs of all conditions whose short names hold
/// this part: that of the run which other work of the machine disturbed least.
fn best(bench: &Bench, part: &str, metric: &str) -> f64 {
    let database = bench.database();
    let mut query = database
        .prepare(
            "SELECT json_extract(study.plan, '$.conditions[' || run.condition || '].slug'), metric.value
             FROM metric JOIN run ON run.id = metric.run JOIN study ON study.id = run.study
             WHERE run.warmup = 0 AND run.status <> 'failed' AND metric.key = ?1",
        )
        .unwrap();
    let all = query.query_map([metric], |row| Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?))).unwrap();
    let all: Vec<(String, f64)> = all.map(Result::unwrap).collect();
    let own = all.iter().filter(|(slug, _)| slug.contains(part));
    let best = own.map(|(_, value)| *value).fold(f64::NAN, f64::max);
    assert!(!best.is_nan(), "no {metric} of {part:?}: {all:?}");
    best
}

#[test]
#[ignore = "compares rates: needs a quiet machine"]
fn bundled_studies_have_the_same_sign_over_ssh_as_over_veth() {
    let Some(world) = World::make("bundled_studies_have_the_same_sign_over_ssh_as_over_veth") else { return };
    let before = world.states();
    // Longer than TCP waits before it sends a lost packet once more (200 ms), twice.
    let short = ["boots=1", "stop=", "runs=2", "warmup=0", "duration=600ms", "ramp=200ms"];
    let short: Vec<&str> = short.iter().flat_map(|one| ["--set", *one]).collect();
    // Only effects that are larger than any noise of a busy machine: segments by the interface, or
    // six times fewer packets. One connection sends as much as it can in both.
    for (name, faster, slower) in
        [("tcp-offload", "_default", "_nooffload"), ("mtu", "nooffload_mtu9000", "nooffload_mtu1500")]
    {
        let (local, wired) = (Bench::new(), Bench::to_be_sent());
        expect(&local.run(&[&["run", name, "--no-report"], &short[..]].concat()), 0);
        expect(&world.bundled(&wired, name, &short), 0);
        for bench in [&local, &wired] {
            let [fast, slow] = [faster, slower].map(|levels| best(bench, levels, "throughput"));
            assert!(fast > slow, "{name}: {fast} of {faster:?} against {slow} of {slower:?}");
        }
    }
    // Its effect is small, so only that both kinds of traffic are measured.
    expect(&world.bundled(&world.bench, "rr-latency", &short), 0);
    for kind in ["tcprr4", "udprr4"] {
        assert!(best(&world.bench, kind, "transactions") > 0.0);
    }
    world.expect_as_before(&before, Duration::ZERO);
}

#[test]
#[ignore = "the gate proves studies over ssh between two machines"]
fn a_study_of_one_host_runs_in_namespaces_of_another_machine() {
    let Some(world) = World::make("a_study_of_one_host_runs_in_namespaces_of_another_machine") else {
        return;
    };
    let before = world.states();
    let one = |name: &str, host: &str, more: &[&str]| {
        let program = world.bench.path("netassay").display().to_string();
        let config = world.machines.ssh_config();
        let short = ["boots=1", "runs=1", "warmup=0", "duration=100ms", "ramp=20ms"];
        let mut words = vec![program.as_str(), "run", name, "--no-report", "--keep-disturbed"];
        words.extend(["--transmitter", host, "--ssh-config", &config]);
        words.extend(short.iter().flat_map(|one| ["--set", *one]));
        words.extend(more);
        world.machines.command(&words).current_dir(world.bench.path(".")).output().unwrap()
    };
    // As root, and as a user who may do no more than make namespaces.
    for host in ["a", "a-plain"] {
        let done = one("udp-send-discard", host, &[]);
        expect(&done, 0);
        let shown = world.bench.run(&["show", "udp-send-discard", "--wide"]);
        let line = format!("Measured on the transmitter: {host}, interface discard0 ");
        assert!(
            stdout(&shown).contains(&line) && !stdout(&shown).contains("the receiver:"),
            "{}",
            stdout(&shown)
        );
    }
    for levels in ["pps4", "pps6"] {
        assert!(best(&world.bench, levels, "packets") > 0.0);
    }
    // On a busy machine nothing may arrive within one of the short windows.
    let done = one("udp-loopback", "b", &[]);
    assert!(matches!(done.status.code(), Some(0 | 5)), "{}", stderr(&done));
    assert!(best(&world.bench, "udp", "throughput") > 0.0);
    let plan = one("udp-send-discard", "a", &["--dry-run"]);
    assert!(
        stdout(&plan).contains("On the transmitter (a) would be changed:\n  nothing"),
        "{}",
        stdout(&plan)
    );
    world.expect_as_before(&before, Duration::ZERO);
}

#[test]
#[ignore = "the gate proves studies over ssh as root"]
fn an_ordinary_user_measures_and_changes_nothing() {
    let Some(world) = World::bare("an_ordinary_user_measures_and_changes_nothing") else { return };
    let before = world.states();
    // A sudo that asks for a password.
    world.machines.a.sh(
        "printf '#!/bin/sh\\nexit 1\\n' > /var/tmp/sudo; chmod 755 /var/tmp/sudo; touch -a /usr/local/bin; \
         mount -t tmpfs -o mode=755 tmpfs /usr/local/bin; mv /var/tmp/sudo /usr/local/bin/sudo",
    );
    let run = |more: &[&str]| world.netassay(["a-plain:data0", "b-plain:data0"], more).output().unwrap();
    let done = run(&["--set", "tso="]);
    expect(&done, 0);
    let said = stderr(&done);
    assert!(said.contains("a-plain, interface data0") && said.contains("b-plain, interface data0"), "{said}");
    assert_eq!(said.matches("without root, so that nothing can be changed there").count(), 2, "{said}");
    assert!(best(&world.bench, "tcp4", "throughput") > 0.0);
    // What would change a machine is refused, with the reason and the way out.
    for change in [["--set", "mtu=1400"], ["--addresses", "own"]] {
        let refused = run(&change);
        assert_ne!(refused.status.code(), Some(0), "{}", stdout(&refused));
        assert!(stderr(&refused).contains("its login is not root: log in as root"), "{}", stderr(&refused));
    }
    world.expect_as_before(&before, Duration::from_secs(2));
}

#[test]
#[ignore = "waits for a lease to end: the gate proves this with settings and a lost connection"]
fn a_killed_controller_leaves_both_machines_as_they_were() {
    let Some(world) = World::bare("a_killed_controller_leaves_both_machines_as_they_were") else { return };
    let before = world.states();
    let more = ["--set", "duration=20s", "--set", "mtu=1000,9000", "--addresses", "own"];
    let mut controller = Watched::start(world.netassay(["a:data0", "b:data0"], &more));
    controller.wait_for("testbed built");
    let deadline = Instant::now() + Duration::from_secs(20);
    // Killed once the machines have been changed.
    while world.machines.a.state() == before[0] {
        assert!(Instant::now() < deadline, "nothing was changed");
        std::thread::sleep(Duration::from_millis(20));
    }
    // nsenter became netassay.
    let killed = Command::new("kill").args(["-9", &controller.id().to_string()]).status().unwrap();
    assert!(killed.success());
    world.expect_as_before(&before, Duration::from_secs(5));

    // The network is cut while a run is under way: the leases end.
    let mut controller = Watched::start(world.netassay(["a:data0", "b:data0"], &more));
    controller.wait_for("testbed built");
    world.machines.a.sh("ip link set mgmt down");
    let down = world.machines.a.sh("ip -br link show mgmt");
    assert!(down.contains("DOWN"), "{down}");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !world.machines.a.left().is_empty() {
        let journal = || {
            world.machines.a.sh("cat /var/lib/netassay/undo/*.journal | cut -c1-300; ip addr show dev data0; ps -ef | grep netassay")
        };
        assert!(Instant::now() < deadline, "still there: {}\n{}", world.machines.a.left(), journal());
        std::thread::sleep(Duration::from_millis(100));
    }
    world.machines.a.sh("ip link set mgmt up; ip route add default via 10.77.1.1");
    let (code, said) = controller.finish();
    assert_ne!(code, Some(0), "{said}");
    world.expect_as_before(&before, Duration::from_secs(5));
}

/// The agents switch the machines' own interfaces, and the CPU that receives, many times, each time
/// through the journal.
#[test]
#[ignore = "the gate proves turns with `traffic_turns`"]
fn conditions_that_take_turns_leave_both_machines_as_they_were() {
    let Some(world) = World::make("conditions_that_take_turns_leave_both_machines_as_they_were") else {
        return;
    };
    let before = world.states();
    let placed = "receiver.placement=irq0-traffic0,irq1-traffic0";
    let more = |duration: &'static str| {
        let set = ["alternate=100ms", placed, "runs=1", duration].map(|set| ["--set", set]);
        [&["--change-machine"][..], set.as_flattened()].concat()
    };
    let done = world.netassay(["a:data0", "b:data0"], &more("duration=200ms")).output().unwrap();
    expect(&done, 0);
    let turns = "SELECT count(*) FROM run WHERE json_array_length(detail, '$.turns.turns') = 8";
    let shared: u32 = world.bench.database().query_row(turns, [], |row| row.get(0)).unwrap();
    assert_eq!(shared, 4, "{}{}", stdout(&done), stderr(&done));
    world.expect_as_before(&before, Duration::from_secs(2));

    // The controller is killed in a turn that has switched them.
    let mut controller = Watched::start(world.netassay(["a:data0", "b:data0"], &more("duration=20s")));
    controller.wait_for("testbed built");
    let deadline = Instant::now() + Duration::from_secs(20);
    while world.machines.a.state() == before[0] {
        assert!(Instant::now() < deadline, "nothing was changed");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(700));
    controller.expect_alive();
    let killed = Command::new("kill").args(["-9", &controller.id().to_string()]).status().unwrap();
    assert!(killed.success());
    world.expect_as_before(&before, Duration::from_secs(5));
}

#[test]
#[ignore = "the gate proves refusals over ssh with restarts"]
fn a_machine_that_cannot_be_used_is_named_before_anything_is_changed() {
    let Some(world) = World::bare("a_machine_that_cannot_be_used_is_named_before_anything_is_changed") else {
        return;
    };
    world.machines.reach_a_by_ipv6();
    let before = world.states();
    let refused = |hosts: [&str; 2], more: &[&str]| {
        let done = world.netassay(hosts, more).output().unwrap();
        assert_ne!(done.status.code(), Some(0), "{}", stdout(&done));
        stderr(&done)
    };
    // A dry run tells each change, and makes none.
    let more = ["--dry-run", "--set", "mtu=9000", "--addresses", "own"];
    let done = world.netassay(["a:data0", "b:data0"], &more).output().unwrap();
    expect(&done, 0);
    for change in [
        "On the transmitter (a) would be changed, and undone at the end of each boot:",
        "ip addr add 198.18.0.1/24 dev data0",
        "\n    ip link set dev data0 mtu 1500\n    ip addr del 198.18.0.1/24 dev data0\n",
        "ethtool -K data0 tx-tcp-segmentation off",
    ] {
        assert!(stdout(&done).contains(change), "{change}: {}", stdout(&done));
    }
    world.expect_as_before(&before, Duration::ZERO);
    // What it tells works as it is told.
    let told = stdout(&done);
    let of_a = told.split("On the ").find(|part| part.starts_with("transmitter (a)")).unwrap();
    let (changes, undo) = of_a.split_once("  to undo all of it by hand, in this order:\n").unwrap();
    world.machines.a.sh(changes.split_once(":\n").unwrap().1);
    assert_ne!(world.states(), before);
    world.machines.a.sh(undo);
    world.expect_as_before(&before, Duration::from_secs(2));
    let said = refused(["a", "b"], &[]);
    assert!(said.contains("mgmt, carries this connection too"), "{said}");
    // An address of one link carries a connection, too.
    let said = refused(["a-link", "b"], &[]);
    assert!(
        said.contains("a-link: mgmt, carries") || said.contains("mgmt, carries this connection"),
        "{said}"
    );
    let said = refused(["a:data9", "b:data0"], &[]);
    assert!(said.contains("transmitter (a): cannot read the state of interface \"data9\""), "{said}");
    let said = refused(["a:data0", "stranger:data0"], &[]);
    assert!(said.contains("cannot reach stranger") && said.contains("compare the key"), "{said}");
    world.machines.b.sh("ip addr flush dev data0 scope global");
    let said = refused(["a:data0", "b:data0"], &[]);
    assert!(said.contains("--addresses own") && !said.contains("boot 1"), "{said}");
    world.machines.b.sh("ip addr add 10.78.0.2/24 dev data0; ip addr add 2001:db8:78::2/64 dev data0 nodad");
    world.expect_as_before(&before, Duration::from_secs(5));
}

#[test]
fn a_machine_may_be_any_command_that_runs_a_shell() {
    let Some(world) = World::bare("a_machine_may_be_any_command_that_runs_a_shell") else { return };
    let before = world.states();
    let entry = |machine: &machines::Machine| {
        let words: Vec<String> = machine.launcher().iter().map(|word| format!("{word:?}")).collect();
        format!("launch = [{}]\ninterface = \"data0\"\n", words.join(", "))
    };
    let (a, b) = (&world.machines.a, &world.machines.b);
    let hosts = format!("addresses = \"own\"\n[transmitter]\n{}[receiver]\n{}", entry(a), entry(b));
    let hosts = world.bench.write("hosts.toml", &hosts);
    let hosts = hosts.display().to_string();
    let done =
        world.bench.run(&["run", "tso.toml", "--hosts", &hosts, "--no-report", "--set", "family=ipv6"]);
    expect(&done, 0);
    world.expect_as_before(&before, Duration::ZERO);
    // What a host says about itself is said of a machine too, with what disturbs its interface.
    b.sh("ethtool -K data0 gro off");
    let doctor = world.on("root@b:data0", &["doctor"]);
    assert!(doctor.starts_with("interface\n"), "{doctor}");
    assert!(doctor.contains("network namespaces") && doctor.contains("driver veth"), "{doctor}");
    assert!(doctor.contains("packets in a second, both ways"), "{doctor}");
    assert!(doctor.contains("by default in drivers") == (doctor.contains("rx-gro")), "{doctor}");
    assert!(doctor.contains("firewall: ") && doctor.contains("conntrack: "), "{doctor}");
    assert_eq!(world.on("root@b", &["undo"]), "nothing to undo\n");
    assert!(fs::exists(world.bench.path("netassay.db")).unwrap());
}

#[test]
#[ignore = "sends the program to a machine three times: unit tests prove what is said of filters"]
fn a_filter_of_a_machine_is_seen_by_its_rules() {
    let Some(world) = World::bare("a_filter_of_a_machine_is_seen_by_its_rules") else { return };
    let b = &world.machines.b;
    for (script, expected) in [
        ("nft add table inet t", "no rules"),
        (
            "nft 'add chain inet t c { type filter hook input priority 0; }; add rule inet t c tcp dport 9 drop'",
            "1 rule of nftables: each packet",
        ),
        (
            "nft 'add rule inet t c ct state invalid drop; add rule inet t c udp dport 9 drop'",
            "3 rules of nftables",
        ),
    ] {
        b.sh(script);
        let doctor = world.on("root@b:data0", &["doctor"]);
        assert!(doctor.contains(expected), "{expected}: {doctor}");
    }
}

#[test]
fn this_machine_is_never_restarted_whatever_leads_to_it() {
    let Some(world) = World::make("this_machine_is_never_restarted_whatever_leads_to_it") else { return };
    let before = world.states();
    let refused = |command: &mut Command| {
        let done = command.output().unwrap();
        expect(&done, 3);
        assert!(!world.bench.path("netassay.db").exists());
        stderr(&done)
    };
    // Namespaces of this machine have its boot id.
    let said = refused(&mut world.netassay(["a:data0", "b:data0"], &["--set", "boots.how=reboot"]));
    assert!(
        said.contains("the transmitter (a) cannot be rebooted between boots: it is this machine"),
        "{said}"
    );
    assert!(said.contains("boots.how = \"reset\""), "{said}");
    let said =
        refused(&mut world.netassay(["a:data0", "b:data0"], &["--set", "boots.how=reboot", "--dry-run"]));
    assert!(said.contains("it is this machine"), "{said}");
    // So has what another launcher leads to.
    let entry = |machine: &machines::Machine| {
        let words: Vec<String> = machine.launcher().iter().map(|word| format!("{word:?}")).collect();
        format!("launch = [{}]\ninterface = \"data0\"\n", words.join(", "))
    };
    let (a, b) = (&world.machines.a, &world.machines.b);
    let hosts = format!("[transmitter]\n{}[receiver]\n{}", entry(a), entry(b));
    let hosts = world.bench.write("hosts.toml", &hosts).display().to_string();
    let all = ["run", "tso.toml", "--hosts", &hosts, "--no-report", "--set", "boots.how=reboot"];
    let said = refused(&mut world.bench.netassay(&all));
    assert!(said.contains("it is not reached by ssh"), "{said}");
    world.expect_as_before(&before, Duration::from_secs(60));
    // What a boot is otherwise is said in the plan.
    let done = world.netassay(["a:data0", "b:data0"], &["--dry-run"]).output().unwrap();
    expect(&done, 0);
    let plan = stdout(&done);
    assert!(plan.contains("boots: sockets and settings rebuilt, machines not restarted"), "{plan}");
}

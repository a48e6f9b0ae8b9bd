//! A fleet: seven pairs of machines behind an sshd each, of which one has jumbo frames, one has no
//! IPv6, and one loses a machine in the midst of its study.

use std::fmt::Write as _;
use std::time::Duration;

use super::common::{Bench, Watched, expect, skip, stdout};
use super::machines::{Machine, Machines};

const STUDY: &str = "name = \"gso\"\nquestion = \"What does segmentation offload give over machines?\"\n\
    scenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\nduration = \"300ms\"\nramp = \"100ms\"\nflows = 1\n\
    [factors]\nfamily = [\"ipv4\", \"ipv6\"]\noffloads = [\"default\", \"none\"]\n\
    [protocol]\nboots = 3\nruns = 1\nwarmup = 0\n[[comparison]]\nonly = { family = \"ipv4\" }\nbaseline = { offloads = \"default\" }\nmetric = \"receiver.bytes_per_wire_packet\"\n";

/// An sshd of the machine's own for each connection: one controller reaches the machines of many
/// namespaces.
fn entry(machines: &Machines, name: &str, machine: &Machine, host: &str) -> String {
    let proxy: Vec<String> = machine.launcher();
    let config = machines.path("sshd_config").display().to_string();
    format!(
        "Host {host}\n HostName {name}\n HostKeyAlias 10.77.1.2\n User root\n IdentityFile {}\n IdentitiesOnly yes\n \
         UserKnownHostsFile {}\n ProxyCommand {} /usr/sbin/sshd -i -f {config}\n",
        machines.path("user").display(),
        machines.path("known").display(),
        proxy.join(" "),
    )
}

#[test]
#[ignore = "fourteen machines: 50 s"]
fn a_fleet_has_one_answer_and_its_odd_pair_is_named() {
    let names = ["p1", "p2", "p3", "p4", "no6", "odd", "dies"];
    let all: Option<Vec<Machines>> = names.iter().map(|_| Machines::make()).collect();
    let Some(mut all) = all else {
        skip(
            "a_fleet_has_one_answer_and_its_odd_pair_is_named",
            "it needs root, and the Debian package openssh-server",
        );
        return;
    };
    let bench = Bench::to_be_sent();
    bench.write("gso.toml", STUDY);
    let (mut config, mut hosts) = (String::new(), String::new());
    for (name, machines) in names.iter().zip(&all) {
        for (end, machine) in [("a", &machines.a), ("b", &machines.b)] {
            config += &entry(machines, name, machine, &format!("{name}-{end}"));
        }
        write!(
            hosts,
            "[[pair]]\nname = \"{name}\"\ntransmitter = {{ ssh = \"{name}-a:data0\" }}\nreceiver = {{ ssh = \"{name}-b:data0\" }}\n"
        )
        .unwrap();
    }
    // They have the program already: to send it takes longer than the study.
    let program = bench.path("netassay");
    for machine in all.iter().flat_map(|one| [&one.a, &one.b]) {
        machine.keep(&program);
    }
    bench.write("ssh_config", &config);
    bench.write("fleet.toml", &hosts);
    for machine in [&all[4].a, &all[4].b] {
        machine.sh("ip -6 addr flush dev data0; sysctl -qw net.ipv6.conf.data0.disable_ipv6=1");
    }
    // Packets as large as offloads make them, without offloads. Counts differ more than rates on a
    // busy machine.
    for machine in [&all[5].a, &all[5].b] {
        machine.sh("ip link set data0 mtu 65535");
    }
    let before: Vec<[String; 2]> = all.iter().map(|one| [one.a.state(), one.b.state()]).collect();
    let run = ["run", "gso.toml", "--hosts", "fleet.toml", "--ssh-config", "ssh_config", "--at-once", "2"];
    let mut running = Watched::start(bench.netassay(&[&run[..], &["--keep-agent"]].concat()));
    running.wait_for("dies: [4/");
    let dying = all.pop().unwrap();
    dying.b.die();
    let (code, told) = running.finish();
    assert_eq!(code, Some(5), "{told}");
    let shown = bench.run(&["show", "--fleet"]);
    expect(&shown, 0);
    let page = stdout(&shown);
    assert!(page.contains("1 of 7 pairs not measured") && page.contains("dies: "), "{page}\n{told}");
    assert!(page.contains("Pair odd stands apart"), "{page}\n{told}");
    assert!(page.contains("data0 link mtu"), "{page}");
    // The pair without IPv6 is among them.
    assert!(page.contains(" of 6 "), "{page}");
    for (machines, before) in all.iter().zip(&before) {
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while [machines.a.state(), machines.b.state()] != *before || !machines.a.left().is_empty() {
            assert!(std::time::Instant::now() < deadline, "{}", machines.a.left());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

//! Two machines are checked as a pair before anything is changed.

use std::fs;
use std::time::Duration;

use super::common::{expect, stderr, stdout};
use super::world::World;

/// A fault that is made at `b`, and undone again.
struct Case {
    name: &'static str,
    hosts: [&'static str; 2],
    made: &'static str,
    undone: &'static str,
    more: &'static [&'static str],
    said: [&'static str; 3],
}

const B: &str = "the receiver (b), interface data0: ";

const CASES: &[Case] = &[
    Case {
        name: "the same machine twice",
        hosts: ["b:data0", "root@b:data0"],
        made: ":",
        undone: ":",
        more: &[],
        said: ["the receiver (root@b), interface data0: ", "is on the same machine", "name two machines"],
    },
    Case {
        name: "another interface of the same machine",
        hosts: ["b:mgmt", "b:data0"],
        made: ":",
        undone: ":",
        more: &["--addresses", "own"],
        said: [B, "interface mgmt is on the same machine", "name two machines"],
    },
    Case {
        name: "MTUs that differ",
        hosts: ["a:data0", "b:data0"],
        made: "ip link set data0 mtu 4000",
        undone: "ip link set data0 mtu 1500",
        more: &[],
        said: ["the transmitter (a), interface data0: ", "its MTU is 1500, and 4000", "--set mtu=1500"],
    },
    Case {
        name: "no address of a family",
        hosts: ["a:data0", "b:data0"],
        made: "ip addr del 2001:db8:78::2/64 dev data0",
        undone: "ip addr add 2001:db8:78::2/64 dev data0 nodad",
        more: &["--set", "family=ipv6"],
        said: [B, "it has no ipv6 address", "--addresses own"],
    },
    Case {
        name: "no common network",
        hosts: ["a:data0", "b:data0"],
        made: "ip addr del 10.78.0.2/24 dev data0; ip addr add 10.99.0.2/24 dev data0",
        undone: "ip addr del 10.99.0.2/24 dev data0; ip addr add 10.78.0.2/24 dev data0",
        more: &[],
        said: [B, "no route leaves by it to 10.78.0.1/24", "--addresses own"],
    },
    Case {
        name: "a port of a bridge",
        hosts: ["a:data0", "b:data0"],
        made: "ip link add br7 type bridge; ip link set data0 master br7",
        undone: "ip link del br7",
        more: &["--addresses", "own"],
        said: [B, "a port of the bridge br7", "name br7"],
    },
    Case {
        name: "an address that is in use",
        hosts: ["a:data0", "b:data0"],
        made: "ip addr add 198.18.0.2/24 dev mgmt",
        undone: "ip addr del 198.18.0.2/24 dev mgmt",
        more: &["--addresses", "own"],
        said: [B, "198.18.0.2, which --addresses own needs", "dev mgmt"],
    },
    Case {
        name: "a firewall",
        hosts: ["a:data0", "b:data0"],
        made: "nft 'add table inet t; add chain inet t c { type filter hook input priority 0; }; \
               add rule inet t c iifname data0 meta l4proto tcp drop'",
        undone: "nft delete table inet t",
        more: &[],
        said: [
            B,
            "packets of TCP from the transmitter (a), interface data0 do not arrive",
            "1 rule of nftables",
        ],
    },
    Case {
        name: "two interfaces in one segment",
        hosts: ["a:data0", "b:data0"],
        made: "ip link add data1 link data0 type macvlan mode bridge; ip link set data1 up; \
               sysctl -qw net.ipv4.conf.data0.arp_ignore=8; sysctl -qw net.ipv4.conf.data1.arp_ignore=0",
        undone: "ip link del data1; sysctl -qw net.ipv4.conf.data0.arp_ignore=0",
        more: &[],
        said: [B, "data1 of this machine answered for its address 10.78.0.2", "arp_ignore=1"],
    },
];

#[test]
#[ignore = "connects to both machines ten times: unit tests prove each reason"]
fn machines_that_are_no_pair_are_refused_before_anything_is_changed() {
    let Some(world) = World::make("machines_that_are_no_pair_are_refused_before_anything_is_changed") else {
        return;
    };
    let b = &world.machines.b;
    for Case { name, hosts, made, undone, more, said } in CASES {
        b.sh(made);
        world.machines.a.sh("ip neigh flush dev data0");
        let before = world.states();
        let done = world.netassay(*hosts, more).output().unwrap();
        assert_eq!(done.status.code(), Some(3), "{name}: {}{}", stdout(&done), stderr(&done));
        assert!(said.iter().all(|part| stderr(&done).contains(part)), "{name}: {}", stderr(&done));
        assert!(!fs::exists(world.bench.path("netassay.db")).unwrap(), "{name}");
        world.expect_as_before(&before, Duration::from_secs(2));
        b.sh(undone);
    }
}

#[test]
fn two_machines_are_examined_as_a_pair_and_their_interfaces_found() {
    let Some(world) = World::bare("two_machines_are_examined_as_a_pair_and_their_interfaces_found") else {
        return;
    };
    let (a, b) = (&world.machines.a, &world.machines.b);
    b.sh("ethtool -K data0 gro off");
    let before = world.states();
    let words: Vec<String> = b.launcher().iter().map(|word| format!("{word:?}")).collect();
    let hosts = format!("[receiver]\nlaunch = [{}]\ninterface = \"data0\"\n", words.join(", "));
    let hosts = world.bench.write("hosts.toml", &hosts).display().to_string();
    let program = world.bench.path("netassay").display().to_string();
    // In the network of `a`: which of its interfaces leads to the other one is found.
    let enter = a.launcher()[..4].join(" ");
    let all = format!("{enter} -- {program} doctor --hosts {hosts}");
    let all: Vec<&str> = all.split(' ').collect();
    let done = std::process::Command::new(all[0]).args(&all[1..]).output().unwrap();
    expect(&done, 0);
    assert!(stderr(&done).contains("transmitter: this machine, interface data0 "), "{}", stderr(&done));
    for line in
        ["ok    ipv4 packets  small and full ones arrive both ways", "ok    ipv6  ", "driver", "rx-gro"]
    {
        assert!(stdout(&done).contains(line), "{line}: {}", stdout(&done));
    }
    world.expect_as_before(&before, Duration::from_secs(2));
}

//! Two machines are checked as a pair before anything is changed.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::common::{expect, stderr, stdout};
use super::world::World;

/// A case a line: its name, the transmitter, a script that makes it at `b` and one that undoes it,
/// options, and parts of the sentence that tells it. Without such parts the machines are a pair.
const CASES: &str = r"
a pair | a:data0 | : | : | |
one interface twice | root@b:data0 | : | : | | the receiver (b), interface data0: it is the same as; name two machines
two interfaces of one namespace | b:mgmt | : | : | | the receiver (b), interface data0: it is on the same machine as; namespace
a smaller MTU | a:data0 | ip link set data0 mtu 1400 | ip link set data0 mtu 1500 | | the receiver (b), interface data0: its MTU is 1400: packets of UDP of 1500 bytes; --set mtu=1400
a smaller MTU between | a:data0 | nft 'add table inet t; add chain inet t c { type filter hook input priority 0; }; add rule inet t c iifname data0 meta length gt 1300 drop' | nft delete table inet t | | packets of TCP of 1500 bytes from the transmitter (a), interface data0 do not arrive; what lies between
no address | a:data0 | ip addr flush dev data0 scope global | ip addr add 10.78.0.2/24 dev data0; ip addr add 2001:db8:78::2/64 dev data0 nodad | | the receiver (b)'s interface has no ipv4 address; --addresses own
one family | a:data0 | ip -6 addr del 2001:db8:78::2/64 dev data0 | ip addr add 2001:db8:78::2/64 dev data0 nodad | |
no common network | a:data0 | sysctl -qw net.ipv4.conf.data0.rp_filter=1; ip -6 addr flush dev data0 scope global; ip addr del 10.78.0.2/24 dev data0; ip addr add 10.99.0.2/24 dev data0 | sysctl -qw net.ipv4.conf.data0.rp_filter=0; ip addr del 10.99.0.2/24 dev data0; ip addr add 10.78.0.2/24 dev data0; ip addr add 2001:db8:78::2/64 dev data0 nodad | | the receiver (b), interface data0: packets of UDP; are not of one network; --addresses own
no route, and none is needed | a:data0 | sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.data0.rp_filter=0; ip -6 addr flush dev data0 scope global; ip addr del 10.78.0.2/24 dev data0; ip addr add 10.99.0.2/24 dev data0; | ip addr del 10.99.0.2/24 dev data0; ip addr add 10.78.0.2/24 dev data0; ip addr add 2001:db8:78::2/64 dev data0 nodad | |
a port of a bridge | a:data0 | ip link add br7 type bridge; ip link set data0 master br7 | ip link del br7 | --addresses own | the receiver (b), interface data0: it is a port of the bridge br7; name br7
an address in use | a:data0 | ip addr add 198.18.0.2/24 dev mgmt | ip addr del 198.18.0.2/24 dev mgmt | --addresses own | 198.18.0.2, which --addresses own would add; dev mgmt
a firewall | a:data0 | nft 'add table inet t; add chain inet t c { type filter hook input priority 0; }; add rule inet t c iifname data0 meta l4proto tcp drop' | nft delete table inet t | | the receiver (b), interface data0: packets of TCP from the transmitter (a), interface data0 do not arrive; 1 rule of nftables
a firewall that loses the first packets only | a:data0 | nft 'add table inet t; add chain inet t c { type filter hook input priority 0; }; add rule inet t c iifname data0 limit rate 1/day burst 3 packets drop' | nft delete table inet t | |
";

#[test]
fn machines_that_are_no_pair_are_told_why() {
    let Some(world) = World::make("machines_that_are_no_pair_are_told_why") else { return };
    let program = world.bench.path("netassay").display().to_string();
    let config = world.machines.ssh_config();
    for case in CASES.lines().filter(|line| !line.is_empty()) {
        let columns: Vec<&str> = case.split('|').map(str::trim).collect();
        let [name, transmitter, made, undone, more, said] = columns[..] else { panic!("{case}") };
        world.machines.b.sh(made);
        world.machines.a.sh("ip neigh flush dev data0");
        let before = world.states();
        let words = [program.as_str(), "doctor", "--transmitter", transmitter, "--receiver", "b:data0"];
        let options = ["--ssh-config", &config, "--keep-agent"];
        let words = [&words[..], &options, &more.split_whitespace().collect::<Vec<_>>()].concat();
        let done = world.machines.run(&words);
        let all = (stdout(&done) + &stderr(&done)).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(done.status.code(), Some(if said.is_empty() { 0 } else { 3 }), "{name}: {all}");
        for part in said.split("; ") {
            assert!(all.contains(part), "{name}: {part}: {all}");
        }
        world.expect_as_before(&before, Duration::from_secs(2));
        world.machines.b.sh(undone);
    }
    // A study is refused before it has results.
    let done = world.netassay(["root@b:data0", "b:data0"], &[]).output().unwrap();
    assert_eq!(done.status.code(), Some(3), "{}", stderr(&done));
    assert!(stderr(&done).contains("it is the same as"), "{}", stderr(&done));
    assert!(!fs::exists(world.bench.path("netassay.db")).unwrap());
}

#[test]
fn two_machines_are_examined_as_a_pair_and_their_interfaces_found() {
    let Some(world) = World::bare("two_machines_are_examined_as_a_pair_and_their_interfaces_found") else {
        return;
    };
    let (a, b) = (&world.machines.a, &world.machines.b);
    b.sh("ethtool -K data0 tso off");
    let before = world.states();
    let words: Vec<String> = b.launcher().iter().map(|word| format!("{word:?}")).collect();
    let hosts = format!("[receiver]\nlaunch = [{}]\ninterface = \"data0\"\n", words.join(", "));
    let hosts = world.bench.write("hosts.toml", &hosts).display().to_string();
    let program = world.bench.path("netassay").display().to_string();
    // In the network of `a`: which of its interfaces leads to the other one is found.
    let launcher = a.launcher();
    let enter = launcher[1..4].iter().map(String::as_str);
    let command = ["--", &program, "doctor", "--hosts", &hosts];
    let done = Command::new(&launcher[0]).args(enter).args(command).output().unwrap();
    expect(&done, 0);
    assert!(stderr(&done).contains("transmitter: this machine, interface data0 "), "{}", stderr(&done));
    for part in [
        "ok    ipv4: packets arrive both ways (10.78.0.1, 10.78.0.2)",
        "ok    ipv6: ",
        "driver",
        "tx-tcp-segmentation",
    ] {
        assert!(stdout(&done).contains(part), "{part}: {}", stdout(&done));
    }
    world.expect_as_before(&before, Duration::from_secs(2));
}

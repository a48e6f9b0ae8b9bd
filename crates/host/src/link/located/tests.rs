use super::*;
use crate::kernel::files::fixture::files;

#[test]
fn the_interface_that_leads_to_an_address_is_found() {
    let towards = Some("127.0.0.1".parse().unwrap());
    let found = LocatedInterface::find(None, &[], towards, None).unwrap();
    assert_eq!(found.interface, "lo");
    assert!(found.addresses.contains(&("127.0.0.1".parse().unwrap(), 8)), "{found:?}");
    assert_eq!(LocatedInterface::find(Some("lo"), &[], None, None).unwrap(), found);
    let beside = ["127.0.0.9".parse().unwrap()].map(|address| (address, 8));
    assert_eq!(LocatedInterface::find(None, &beside, None, None).unwrap(), found);
}

fn address(interface: &str, address: &str, prefix: u8) -> TakenAddress {
    TakenAddress { interface: interface.to_owned(), address: address.parse().unwrap(), prefix }
}

#[test]
fn an_interface_that_shares_a_network_with_the_other_end_is_chosen() {
    let all = [
        address("mgmt", "10.0.0.1", 24),
        address("data", "fe80::1", 64),
        address("old", "10.1.0.1", 24),
        address("data", "10.2.0.1", 24),
        address("data", "2001:db8::1", 64),
    ];
    let beside = |list: &[(&str, u8)]| {
        let list: Vec<_> = list.iter().map(|(one, prefix)| (one.parse().unwrap(), *prefix)).collect();
        sharing(&all, &list, |name| name == "mgmt").map(str::to_owned)
    };
    for (other, chosen) in [
        (&[("10.2.0.2", 24)][..], Some("data")),
        (&[("2001:db8::2", 64)], Some("data")),
        // An interface that carries the connection comes last.
        (&[("10.0.0.2", 24), ("10.2.0.2", 24)], Some("data")),
        (&[("10.0.0.2", 24)], Some("mgmt")),
        (&[("10.2.0.2", 16)], None),
        (&[("fe80::2", 64)], None),
        (&[], None),
    ] {
        assert_eq!(beside(other).as_deref(), chosen, "{other:?}");
    }
}

#[test]
fn an_interface_carries_a_connection_by_its_address_or_by_its_route() {
    let all =
        [address("mgmt", "fe80::1", 64), address("data", "fe80::2", 64), address("data", "127.0.0.1", 8)];
    let over = |interface: &str, controller: &str, host: &str| {
        carries(&all, interface, (controller.parse().unwrap(), host.parse().unwrap()))
    };
    // A link-local address is not among those for traffic, and carries a connection all the
    // same.
    assert!(over("mgmt", "fe80::9", "fe80::1") && !over("data", "fe80::9", "fe80::1"));
    assert!(over("data", "192.0.2.9", "::ffff:127.0.0.1"));
    // No visible interface has the address, and the way back leads over this one.
    assert!(over("data", "127.0.0.7", "192.0.2.1") && !over("mgmt", "127.0.0.7", "192.0.2.1"));
}

#[test]
fn the_cpus_near_a_card_are_those_of_its_memory_node() {
    let (_keep, files) = files(&[
        ("sys/class/net/eth0/device/local_cpulist", "8-11\n"),
        ("sys/class/net/eth1/device/uevent", "DRIVER=virtio_net\n"),
        ("sys/class/net/eth1/local_cpulist", "0-1\n"),
    ]);
    assert_eq!(near(&files, "eth0"), [8, 9, 10, 11]);
    assert_eq!(near(&files, "eth1"), [0, 1]);
    assert_eq!(near(&files, "data0"), [0; 0]);
}

#[test]
fn ipv6_is_on_or_off_for_each_interface() {
    let file = |name: &str| format!("proc/sys/net/ipv6/conf/{name}/disable_ipv6");
    let (on, off) = (file("eth0"), file("eth1.7"));
    let (_keep, files) = files(&[(&on, "0\n"), (&off, "1\n")]);
    assert_eq!(["eth0", "eth1.7", "default"].map(|name| has_ipv6(&files, name)), [true, false, false]);
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    let error = LocatedInterface::find(Some("nowhere9"), &[], None, None).unwrap_err().to_string();
    assert!(error.contains("nowhere9"), "{error}");
    assert!(LocatedInterface::find(Some("../x"), &[], None, None).is_err());
    assert!(LocatedInterface::find(None, &[], None, None).unwrap_err().to_string().contains("name it"));
}

#[test]
fn an_interface_tells_its_namespace_and_which_addresses_are_taken() {
    let [own, other] = ["127.0.0.1", "192.0.2.1"].map(|one| one.parse::<IpAddr>().unwrap());
    let facts = PairFacts::read("lo", &[other, own]).unwrap();
    assert!(facts.boot_id.is_some() && facts.namespace.is_some() && facts.master.is_none(), "{facts:?}");
    let taken = TakenAddress { address: own, interface: "lo".to_owned(), prefix: 8 };
    assert_eq!(facts.taken, [taken]);
    assert!(PairFacts::read("nowhere9", &[]).is_err());
}

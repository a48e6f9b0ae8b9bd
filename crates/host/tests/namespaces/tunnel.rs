//! Tunnels, bridges and taps.

use std::net::{IpAddr, UdpSocket};

use netassay_host::{Error, Links, LocatedInterface, Vxlan, create_tap};

use crate::harness::{Stage, skipped};
use crate::wire::{connect, lay, round_trip, sockets};

const NAME: &str = "vxlan7";

fn vxlan(underlay: &str, local: &str, remote: &str) -> Vxlan {
    let at = |address: &str| address.parse::<IpAddr>().unwrap();
    Vxlan { id: 7, local: at(local), remote: at(remote), port: Vxlan::PORT, underlay: underlay.to_owned() }
}

/// A tunnel gets the underlay's MTU less its overhead, and cannot be made twice.
pub(crate) fn made(stage: &mut Stage) {
    let mut links = connect(stage);
    let ends = [("10.11.12.1", "10.11.12.2"), ("fd00:11:12::1", "fd00:11:12::2")];
    for (local, remote) in ends {
        let tunnel = vxlan(&stage.here, local, remote);
        links.create_vxlan(NAME, &tunnel).unwrap();
        links.quiet_ipv6(NAME).unwrap();
        links.set_vxlan_up(NAME, &tunnel).unwrap();
        links.await_running(NAME).unwrap();
        let link = links.find(NAME).unwrap();
        let mtu = 1500 - Vxlan::overhead(tunnel.local.is_ipv6());
        assert_eq!((link.kind.as_deref(), link.mtu, link.up), (Some("vxlan"), mtu, true));
        assert_eq!(links.find_by_address(&link.address.unwrap()).unwrap().name, NAME);
        for name in [NAME, "another"] {
            let twice = links.create_vxlan(name, &tunnel).unwrap_err();
            let twice = twice.to_string();
            assert!(
                twice.contains("network 7 on UDP port 4789") && twice.contains("ip -d link show type vxlan"),
                "{twice}"
            );
        }
        links.delete(NAME).unwrap();
    }
    let nowhere = links.create_vxlan(NAME, &vxlan("nothing", "10.11.12.1", "10.11.12.2")).unwrap_err();
    assert!(matches!(&nowhere, Error::NoInterface { name, .. } if name == "nothing"), "{nowhere}");
    let none = links.find_by_address("02:00:00:00:00:07").unwrap_err().to_string();
    assert!(none.contains("02:00:00:00:00:07"), "{none}");
}

/// Another socket has the port: its number is taken, and the message names the port, its user and
/// the remedy.
pub(crate) fn port_in_use(stage: &mut Stage) {
    let mut links = connect(stage);
    let taken = || LocatedInterface::find(Some(&stage.here), &[], None, None).unwrap().taken;
    assert_eq!(taken(), [0; 0]);
    let holder = UdpSocket::bind(("0.0.0.0", Vxlan::PORT)).unwrap();
    let tunnel = vxlan(&stage.here, "10.11.12.1", "10.11.12.2");
    assert_eq!(taken(), [0]);
    links.create_vxlan(NAME, &tunnel).unwrap();
    assert_eq!(taken(), [0, 7], "its name");
    let error = links.set_vxlan_up(NAME, &tunnel).unwrap_err();
    let underlay = &stage.here;
    assert_eq!(
        error.to_string(),
        format!(
            "cannot set the VXLAN tunnel \"vxlan7\" up: UDP port 4789 is in use in the network namespace of its underlay {underlay:?}: stop \
             the process that holds it (`ss -uapn sport = :4789` names it)"
        )
    );
    drop(holder);
    assert_eq!(taken(), [0, 7], "the tunnel that is down has the port");
    links.set_vxlan_up(NAME, &tunnel).unwrap();
    let id = Vxlan::numbered(5).0;
    links.create_vxlan("another", &Vxlan { id, port: 8472, ..tunnel }).unwrap();
    links.create_bridge("bridge3").unwrap();
    assert_eq!(taken(), [0, 3, 5, 7]);
}

/// A bridge carries what its ports get: the wire's end is a port, and the addresses are the
/// bridge's.
pub(crate) fn bridged(stage: &mut Stage) {
    let mut links = Links::open().unwrap();
    links.create_veth(&stage.here, &stage.there, stage.peer.pid()).unwrap();
    links.create_bridge("bridge7").unwrap();
    links.quiet_ipv6("bridge7").unwrap();
    links.add_port("bridge7", &stage.here).unwrap();
    lay(stage, &mut links, "bridge7");
    links.set_up(&stage.here).unwrap();
    links.await_running("bridge7").unwrap();
    assert_eq!(links.find("bridge7").unwrap().kind.as_deref(), Some("bridge"));
    for (socket, at) in sockets(&mut stage.peer) {
        round_trip(&socket, at, 500);
    }
    let missing = links.add_port("bridge7", "nothing").unwrap_err();
    assert!(matches!(&missing, Error::NoInterface { name, .. } if name == "nothing"), "{missing}");
}

/// A tap is there without anybody holding it, and its kind of packets can be had.
pub(crate) fn tap(stage: &mut Stage) {
    let mut links = Links::open().unwrap();
    match create_tap(&stage.here) {
        Err(error)
            if error.to_string().contains("open /dev/net/tun: Permission denied")
                && stage.identity == crate::harness::Identity::User =>
        {
            println!("note: /dev/net/tun is not for ordinary users here");
            return;
        }
        Err(error) if error.errno() == Some(2) => return skipped("a_tap_is_made", &error.to_string()),
        result => result.unwrap(),
    }
    let twice = create_tap(&stage.here).unwrap_err().to_string();
    assert!(twice.contains("an interface of that name is there"), "{twice}");
    links.create_bridge("bridge7").unwrap();
    links.add_port("bridge7", &stage.here).unwrap();
    links.set_up(&stage.here).unwrap();
    assert_eq!(links.find(&stage.here).unwrap().kind.as_deref(), Some("tun"));
    let flags = std::fs::read_to_string(format!("/sys/class/net/{}/tun_flags", stage.here));
    // The sysfs of this namespace may not be had.
    if let Ok(flags) = flags {
        let flags = u32::from_str_radix(flags.trim().trim_start_matches("0x"), 16).unwrap();
        assert_eq!(
            flags & 0x5802,
            0x5802,
            "persistent tap without packet information, with offload header: {flags:#x}"
        );
    }
    let twice = create_tap("a name with spaces").unwrap_err();
    assert!(matches!(twice, Error::InterfaceName { .. }), "{twice}");
}

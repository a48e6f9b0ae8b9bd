use super::*;
use crate::kernel::attributes::encode;
use crate::kernel::files::fixture::files;
use crate::link::traffic_control::fixture::{answer, specification};

fn link(kind: Option<&str>) -> Link {
    Link {
        index: 2,
        name: "eth0".to_owned(),
        kind: kind.map(str::to_owned),
        address: Some("02:00:00:00:00:01".to_owned()),
        ..Link::default()
    }
}

/// A discipline with a rate in bytes/s.
fn discipline(kind: &str, handle: u32, parent: u32, rate: u32) -> Discipline {
    let parameters = encode(&[(1, specification(rate))]);
    Discipline::parse(&answer([2, handle, parent], kind, parameters)).unwrap()
}

fn root(kind: &str, rate: u32) -> Discipline {
    discipline(kind, 0x10000, Discipline::ROOT, rate)
}

#[test]
fn the_lowest_known_rate_counts_and_is_named() {
    const WIRE: &str = "the speed that eth0 negotiated";
    let bucket = root("tbf", 12_500_000);
    // A bucket below the root does not limit this interface.
    let below = discipline("tbf", 0x10000, 0x1_0001, 1);
    let impaired = |parent| vec![root("netem", 0), discipline("tbf", 0x20000, parent, 7)];
    let looked_at = |queue: &str| format!("eth0 is a veth, its queueing discipline {queue}");
    let device = link(None);
    let veth = link(Some("veth"));
    for (link, disciplines, speed, rate_bits, shaped, from) in [
        (
            &device,
            vec![bucket.clone()],
            Some(1_000_000_000),
            Some(100_000_000),
            true,
            "tbf at the root of eth0",
        ),
        (&device, vec![bucket], Some(10_000_000), Some(10_000_000), false, WIRE),
        (&veth, impaired(0x1_0001), None, Some(56), true, "tbf below netem at the root of eth0"),
        (&veth, impaired(0x3_0001), None, None, false, &looked_at("netem")),
        (&veth, vec![root("noqueue", 0)], None, None, false, &looked_at("noqueue")),
        (&veth, vec![below], None, None, false, &looked_at("none")),
    ] {
        let expected = LinkLimit { rate_bits, shaped, from: from.to_owned() };
        assert_eq!(LinkLimit::lowest(link, &disciplines, speed), expected);
    }
}

#[test]
fn only_a_device_is_believed_to_have_negotiated() {
    let address = ("sys/class/net/eth0/address", "02:00:00:00:00:01\n");
    let tree =
        |speed| files(&[address, ("sys/class/net/eth0/ifindex", "2\n"), ("sys/class/net/eth0/speed", speed)]);
    let (_keep, virtual_one) = tree("10000\n");
    assert_eq!(negotiated(&virtual_one, &link(None)), None);
    for (speed, expected) in [("1000\n", Some(1_000_000_000)), ("-1\n", None), ("fast\n", None)] {
        let (keep, device) = tree(speed);
        std::fs::create_dir(keep.path().join("sys/class/net/eth0/device")).unwrap();
        std::fs::write(keep.path().join("sys/class/net/eth0/device/uevent"), "DRIVER=x\n").unwrap();
        assert_eq!(negotiated(&device, &link(None)), expected);
        assert_eq!(negotiated(&device, &link(Some("bridge"))), None);
        assert_eq!(negotiated(&device, &Link { index: 7, ..link(None) }), None);
    }
}

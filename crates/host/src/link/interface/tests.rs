use proptest::prelude::*;

use super::*;
use crate::kernel::attributes::{NESTED, encode, number, string};

const UP: u32 = libc::IFF_UP as u32;

/// The payload of a link: its index, its flags, its attributes.
fn payload(index: u32, flags: u32, attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let header = [0, index, flags, 0].map(u32::to_ne_bytes).concat();
    [header, encode(attributes)].concat()
}

#[test]
fn a_link_is_read_whole() {
    let stats: Vec<u8> = (1u64..=25).flat_map(u64::to_ne_bytes).collect();
    let attributes = [
        (libc::IFLA_IFNAME, string("v0")),
        (libc::IFLA_MTU, number(9000)),
        (libc::IFLA_MIN_MTU, number(68)),
        (libc::IFLA_MAX_MTU, number(0)),
        (libc::IFLA_ADDRESS, vec![2, 0, 0x5e, 0, 0x53, 1]),
        (libc::IFLA_QDISC, string("fq_codel")),
        (libc::IFLA_STATS64, stats),
        (libc::IFLA_LINKINFO | NESTED, encode(&[(libc::IFLA_INFO_KIND, string("veth"))])),
    ];
    let flags = UP | (libc::IFF_RUNNING | libc::IFF_LOWER_UP).cast_unsigned();
    let expected = Link {
        index: 5,
        name: "v0".to_owned(),
        kind: Some("veth".to_owned()),
        mtu: 9000,
        min_mtu: Some(68),
        max_mtu: None,
        up: true,
        carrier: true,
        running: true,
        address: Some("02:00:5e:00:53:01".to_owned()),
        qdisc: Some("fq_codel".to_owned()),
        counters: LinkCounters {
            rx_packets: 1,
            tx_packets: 2,
            rx_bytes: 3,
            tx_bytes: 4,
            rx_errors: 5,
            tx_errors: 6,
            rx_dropped: 7,
            tx_dropped: 8,
        },
        ..Link::default()
    };
    assert_eq!(Link::parse(&payload(5, flags, &attributes)), Some(expected));
}

#[test]
fn an_odd_attribute_does_not_spoil_the_link_but_a_missing_name_does() {
    let parse = |attributes: &[(u16, Vec<u8>)]| Link::parse(&payload(1, 0, attributes));
    let odd = (libc::IFLA_MTU, vec![1, 2]);
    assert_eq!(parse(std::slice::from_ref(&odd)), None);
    let future = (9999, b"from the future".to_vec());
    let link = parse(&[odd, (libc::IFLA_IFNAME, string("lo")), future]).unwrap();
    assert_eq!((link.name.as_str(), link.mtu, link.up, link.kind), ("lo", 0, false, None));
}

fn link_with(kind: u16, value: &[(u16, Vec<u8>)]) -> Link {
    let all = [(libc::IFLA_IFNAME, string("x")), (kind, encode(value))];
    Link::parse(&payload(1, UP, &all)).unwrap()
}

#[test]
fn ipv6_is_ready_where_the_kernel_says_so() {
    let is_ready = |family: u16, flags: u32| {
        let ipv6 = encode(&[(IFLA_INET6_FLAGS, number(flags))]);
        link_with(libc::IFLA_AF_SPEC, &[(family, ipv6)]).has_ipv6_ready
    };
    assert!(is_ready(IPV6, 0x8000_0010) && !is_ready(IPV6, 0x10) && !is_ready(2, 0x8000_0010));
    assert!(!link_with(libc::IFLA_AF_SPEC, &[]).has_ipv6_ready);
}

#[test]
fn an_xdp_program_is_found_with_its_place() {
    let xdp = |value: &[(u16, Vec<u8>)]| link_with(libc::IFLA_XDP, value).xdp;
    let attached = |how: u8| (2, vec![how]);
    assert_eq!(xdp(&[attached(0)]), None);
    assert_eq!(xdp(&[attached(1), (4, number(17))]), Some(ProgramPlace::Xdp));
    assert_eq!(xdp(&[attached(2), (4, number(17))]), Some(ProgramPlace::XdpGeneric));
    assert_eq!(xdp(&[attached(4), (5, number(17)), (6, number(17))]), Some(ProgramPlace::Xdp));
}

proptest! {
    #[test]
    fn any_attributes_are_read_or_refused(
        list in prop::collection::vec((0u16..60, prop::collection::vec(any::<u8>(), 0..60)), 0..12)
    ) {
        let named = list.iter().rfind(|(kind, _)| *kind == libc::IFLA_IFNAME)
            .is_some_and(|(_, value)| text(value).is_some_and(|name| !name.is_empty()));
        prop_assert_eq!(Link::parse(&payload(1, 0, &list)).is_some(), named);
    }
}

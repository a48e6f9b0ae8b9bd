use proptest::prelude::*;

use super::*;

#[test]
fn the_inner_follows_the_outer_and_what_does_not_fit_is_reported() {
    let mtus = tunnel_mtus(None, None, Family::Ipv4);
    assert_eq!((mtus.inner, mtus.outer, mtus.needed), (1450, 1500, 1500));
    assert_eq!(tunnel_mtus(None, Some(9000), Family::Ipv6).inner, 8930);
    let tight = tunnel_mtus(Some(1500), None, Family::Ipv4);
    assert_eq!((tight.inner, tight.outer, tight.needed), (1500, 1500, 1550));
    assert_eq!(
        tight.to_string(),
        "the tunnel's MTU of 1500 bytes makes packets of 1550 bytes on an underlay of 1500: those are sent in fragments, or not at all; an \
             MTU of 1450 fits"
    );
}

#[test]
fn every_flow_has_somebody_to_send_to() {
    let texts =
        |family, flows, port| nobody(family, flows, port).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(texts(Family::Ipv4, 2, None), ["198.18.0.2:9", "198.18.0.2:9"]);
    assert_eq!(texts(Family::Ipv6, 2, Some(7000)), ["[2001:2::2]:7000", "[2001:2::2]:7001"]);
    assert_eq!(texts(Family::Ipv4, 2, Some(65535))[1], "198.18.0.2:65535");
}

fn addresses_of(list: &[&str]) -> Vec<(IpAddr, u8)> {
    let one = |text: &&str| {
        let (address, prefix) = text.split_once('/').unwrap();
        (address.parse().unwrap(), prefix.parse().unwrap())
    };
    list.iter().map(one).collect()
}

fn paired(transmitter: &[&str], receiver: &[&str]) -> [String; 4] {
    let (transmitter, receiver) = (addresses_of(transmitter), addresses_of(receiver));
    let BySide { transmitter, receiver } =
        pairs(&BySide { transmitter: transmitter.as_slice(), receiver: receiver.as_slice() });
    [transmitter.ipv4, receiver.ipv4, transmitter.ipv6, receiver.ipv6].map(|one| one.to_string())
}

#[test]
fn addresses_of_one_network_are_paired_before_others() {
    let pair = paired(
        &["10.1.0.1/24", "10.2.0.1/24", "2001:db8:1::1/64"],
        &["10.3.0.2/24", "10.2.0.2/24", "2001:db8:2::2/64"],
    );
    assert_eq!(pair, ["10.2.0.1", "10.2.0.2", "2001:db8:1::1", "2001:db8:2::2"]);
    // Without a common network a router may lie between them.
    assert_eq!(paired(&["10.1.0.1/24"], &["10.3.0.2/16"]), ["10.1.0.1", "10.3.0.2", "::", "::"]);
    assert_eq!(paired(&["10.0.0.1/0"], &["192.0.2.1/0"])[..2], ["10.0.0.1", "192.0.2.1"]);
    // Only one machine lacks an address.
    assert_eq!(paired(&["10.1.0.1/32"], &[]), ["10.1.0.1", "0.0.0.0", "::", "::"]);
}

proptest! {
    #[test]
    fn any_mtus_make_sense(inner in any::<Option<u32>>(), outer in any::<Option<u32>>(), ipv6 in any::<bool>()) {
        let mtus = tunnel_mtus(inner, outer, Family::from_ipv6(ipv6));
        prop_assert!(mtus.needed >= mtus.inner);
        // A tunnel without an MTU of its own fits its underlay, if that takes the headers.
        prop_assert!(inner.is_some() || mtus.inner == 0 || mtus.needed <= mtus.outer);
    }
}

use super::*;

const INDEX: u32 = 7;

fn encoded(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, kind, value);
    bytes
}

fn address_of(flags: u32, preferred: u32, index: u32) -> Vec<u8> {
    let header = [vec![IPV6, 64, 0x80, 0], index.to_ne_bytes().to_vec()].concat();
    let cache = [preferred, FOREVER, 5, 6].map(u32::to_ne_bytes).concat();
    let flags = encoded(libc::IFA_FLAGS, &flags.to_ne_bytes());
    [header, encoded(libc::IFA_ADDRESS, &[0xfd; 16]), encoded(libc::IFA_CACHEINFO, &cache), flags].concat()
}

#[test]
fn an_address_is_compared_without_its_state_and_its_clock() {
    let parse = |payload: &[u8]| Entry::parse(EntryKind::Address, payload, IPV6, INDEX);
    let permanent = parse(&address_of(0x80, FOREVER, INDEX)).unwrap();
    let tentative = parse(&address_of(0x80 | 0x40, FOREVER, INDEX)).unwrap();
    assert_eq!((tentative.message, tentative.is_tentative), (permanent.message.clone(), true));
    assert!(!permanent.is_tentative);
    assert!(permanent.is_address(&[0xfd; 16], 64) && !permanent.is_address(&[0xfd; 16], 65));
    assert_eq!(permanent.lifetime, None);
    let dynamic = parse(&address_of(0, 30, INDEX)).unwrap();
    assert_eq!((dynamic.lifetime, &dynamic.message), (Some([30, FOREVER]), &permanent.message));
    assert_ne!(parse(&address_of(0x200, FOREVER, INDEX)).unwrap().message, permanent.message);
    assert_eq!(parse(&address_of(0x01, 30, INDEX)), None, "the kernel makes temporary ones");
    assert_eq!(parse(&address_of(0x80, FOREVER, 8)), None);
    assert_eq!(Entry::parse(EntryKind::Address, &address_of(0x80, FOREVER, INDEX), IPV4, INDEX), None);
    // Its message is that of an address that is not detected first, and then its own.
    let flags =
        |bytes: &[u8]| attributes(&bytes[8..]).find(|one| one.0 == libc::IFA_FLAGS).unwrap().1.to_vec();
    assert_eq!(flags(&permanent.message_with(libc::IFA_F_NODAD)), 2u32.to_ne_bytes());
    assert_eq!(flags(&permanent.message_with(0)), 0u32.to_ne_bytes());
}

fn route_of(table: u8, protocol: u8, inside: &[Vec<u8>]) -> Option<Entry> {
    let header = vec![IPV6, 64, 0, 0, table, protocol, 0, 1, 0x11, 0, 0, 0];
    Entry::parse(EntryKind::Route, &[header, inside.concat()].concat(), IPV6, INDEX)
}

#[test]
fn a_route_is_that_of_the_interface_and_not_one_of_an_address() {
    let out = |index: u32| encoded(libc::RTA_OIF, &index.to_ne_bytes());
    assert!(route_of(254, 4, &[out(INDEX)]).is_some());
    assert!(route_of(254, 4, &[out(8)]).is_none());
    assert!(route_of(libc::RT_TABLE_LOCAL, libc::RTPROT_KERNEL, &[out(INDEX)]).is_none());
    let cache = [0u32, 0, 2500, 0].map(u32::to_ne_bytes).concat();
    let expiring = route_of(254, 9, &[out(INDEX), encoded(libc::RTA_CACHEINFO, &cache)]).unwrap();
    assert_eq!(expiring.lifetime, Some([0, 25]));
    assert_eq!(expiring.message, route_of(254, 9, &[out(INDEX)]).unwrap().message);
    assert_eq!(expiring.message[8..12], [0; 4], "its state");
    let metrics = encoded(libc::RTA_METRICS, &encoded(RTAX_MTU, &1400u32.to_ne_bytes()));
    assert!(route_of(254, 4, &[out(INDEX), metrics]).unwrap().has_mtu() && !expiring.has_mtu());
}

#[test]
fn of_several_next_hops_those_of_the_interface_count() {
    let hop = |index: u32| {
        let inside = encoded(5, &[0xfe; 16]);
        let length = u16::try_from(8 + inside.len()).unwrap().to_ne_bytes().to_vec();
        [length, vec![0x11, 0], index.to_ne_bytes().to_vec(), inside].concat()
    };
    let many = encoded(libc::RTA_MULTIPATH, &[hop(3), hop(INDEX)].concat());
    let entry = route_of(254, 4, &[many]).unwrap();
    let mut ours = hop(INDEX);
    ours[2] = 0;
    assert_eq!(entry.attribute(libc::RTA_MULTIPATH), Some(&ours[..]));
    assert!(route_of(254, 4, &[encoded(libc::RTA_MULTIPATH, &hop(3))]).is_none());
}

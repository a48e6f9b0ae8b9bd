use proptest::prelude::*;

use super::*;

/// BTF with a packet's structure and its pointer, a prototype with a number and a packet, a
/// function of it, and a tracepoint of the same arguments.
fn sample() -> Vec<u8> {
    let texts = b"\0udp_sendmsg\0btf_trace_sys_enter\0sk_buff\0";
    let (packet, pointer, prototype, of) = (1, 2, 3, 4);
    let types: [[u32; 3]; 7] = [
        [33, (STRUCTURE as u32) << 24, 0],
        [0, (POINTER as u32) << 24, packet],
        [0, (PROTOTYPE as u32) << 24 | 2, 0],
        // The prototype's arguments: a name and a type each.
        [0, 0, 0],
        [pointer, 1, (FUNCTION as u32) << 24],
        [prototype, 0, (POINTER as u32) << 24],
        [prototype, 13, (TYPEDEF as u32) << 24],
    ];
    let types: Vec<u32> = types.into_iter().flatten().chain([of + 1]).collect();
    let mut bytes = MAGIC.to_ne_bytes().to_vec();
    bytes.extend([1, 0]);
    let length = 4 * types.len() as u32;
    for word in [24, 0, length, length, texts.len() as u32].into_iter().chain(types) {
        bytes.extend(word.to_ne_bytes());
    }
    bytes.extend(texts);
    bytes
}

#[test]
fn functions_and_tracepoints_are_found() {
    let btf = Btf::parse(&sample(), |_| true).unwrap();
    let function = Arguments { count: 2, packet: Some(Packet::Argument(1)) };
    assert_eq!(btf.functions, BTreeMap::from([("udp_sendmsg".to_owned(), function)]));
    assert_eq!(Btf::parse(&sample(), |name| name == "udp_send").unwrap(), Btf::default());
    // Its own first argument is not given.
    let tracepoint = Arguments { count: 1, packet: Some(Packet::Argument(0)) };
    assert_eq!(btf.tracepoints, BTreeMap::from([("sys_enter".to_owned(), tracepoint)]));
}

#[test]
fn this_kernel_says_where_its_packets_are() {
    let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else { return };
    let btf = Btf::parse(&bytes, |_| true).unwrap();
    let of = |name: &str| btf.functions.get(name).and_then(|function| function.packet);
    assert_eq!(of("ip_rcv"), Some(Packet::Argument(0)));
    assert_eq!(of("ip_list_rcv"), Some(Packet::List(0)));
    assert_eq!(of("udp_queue_rcv_one_skb"), Some(Packet::Argument(1)));
    assert_eq!(of("sock_def_readable"), None);
    let copy = btf.tracepoints["skb_copy_datagram_iovec"];
    assert_eq!(copy, Arguments { count: 2, packet: Some(Packet::Argument(0)) });
}

#[test]
fn what_is_not_btf_is_refused() {
    let refused = |bytes: &[u8]| Btf::parse(bytes, |_| true).unwrap_err().to_string();
    assert_eq!(refused(b"\x7fELF"), "it is not BTF of this machine's byte order");
    assert_eq!(refused(&[]), "it ends early: byte 0 is missing");
    let mut unknown = sample();
    unknown[28..32].copy_from_slice(&(31u32 << 24).to_ne_bytes());
    assert_eq!(refused(&unknown), "type 1 has the unknown kind 31");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Btf::parse(&bytes, |_| true);
    }

    #[test]
    fn any_damage_is_read_or_refused(at in 2usize..112, value: u8, end in 0usize..200) {
        let mut bytes = sample();
        bytes[at] = value;
        bytes.truncate(end.max(4));
        let _ = Btf::parse(&bytes, |_| true);
    }
}

use proptest::prelude::*;

use super::*;
use crate::cpu::threads::ThreadTimes;
use crate::kernel::attributes::{NESTED, encode};
use crate::kernel::netlink::encoded;

/// Attributes inside attributes, some with the names that readers look for.
fn attributes() -> impl Strategy<Value = Vec<(u16, Vec<u8>)>> {
    let known = prop::sample::select(vec![&b"tbf\0"[..], b"htb\0", b"fq_codel\0", b"eth0\0"]);
    let value = prop_oneof![known.prop_map(<[u8]>::to_vec), prop::collection::vec(any::<u8>(), 0..60)];
    let kind = 0u16..60;
    let flat = (kind.clone(), value);
    let tree = flat.prop_recursive(3, 30, 6, move |inside| {
        let list = prop::collection::vec(inside, 0..6);
        (kind.clone(), list).prop_map(|(kind, list)| ((kind % 12) | NESTED, encode(&list)))
    });
    prop::collection::vec(tree, 0..8)
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(payload in prop::collection::vec(any::<u8>(), 0..400)) {
        netlink(&payload);
        answer(&payload);
    }

    #[test]
    fn any_message_is_read_or_refused(
        kind in 0u16..6,
        flags in any::<u16>(),
        payload in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        netlink(&encoded(kind, &payload, flags.into(), 7));
    }

    #[test]
    fn any_attributes_are_read_or_refused(list in attributes(), header in 0usize..6) {
        // The headers of links, neighbours, queueing disciplines and generic netlink.
        let mut payload = vec![0; 4 * header];
        // The root discipline of interface 1, or a resolved neighbour.
        payload.iter_mut().skip(4).step_by(4).for_each(|byte| *byte = 1);
        if let Some(parent) = payload.get_mut(12..16) {
            parent.fill(0xff);
        }
        payload.extend(encode(&list));
        answer(&payload);
    }

    #[test]
    fn any_text_is_read(
        text in "([A-Za-z6]{0,6}:?[ 0-9a-f\\-]{0,30}\n){0,8}|(cpu[0-9]{0,3}( [0-9]{1,21}| x|){0,12}\n|[a-z ]*\n){0,6}\
            |((CPU[0-9]{1,2} ){0,3}\n)?([A-Z]{2,4}:?[ 0-9]{0,30}[a-z]{0,9}\n){0,6}|[0-9,\\- a-f\n]{0,40}|\\PC{0,200}",
        tick in any::<u64>(),
    ) {
        proc(&text, tick);
    }

    #[test]
    fn any_account_of_a_thread_is_read_or_refused(
        stat in prop::collection::vec(any::<u8>(), 0..200),
        schedstat in "\\PC{0,40}",
        tick in any::<u64>(),
    ) {
        let _ = Task::parse(1, 1, &stat, tick);
        let _ = ThreadTimes::parse(&stat, &schedstat, tick);
    }
}

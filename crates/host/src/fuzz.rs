//! (fuzzing) Every reader of the kernel's messages and files: no input may make them panic.

use words::{format_cpu_list, parse_cpu_list};

use crate::counters::{SnmpTable, SoftnetCounters};
use crate::cpu::affinity::parse_cpu_mask;
use crate::cpu::interrupts::{self, Interrupts};
use crate::cpu::tasks::Task;
#[cfg(test)]
use crate::cpu::threads::ThreadTimes;
use crate::cpu::times as cpu;
use crate::environment;
use crate::kernel::netlink::frames;
use crate::link::device;
use crate::link::features::{parse_features, wanted_bits};
use crate::link::interface::Link;
use crate::link::neighbours::Neighbour;
use crate::link::traffic_control::Discipline;

/// Reads a datagram of the kernel, and each answer in it by every reader.
pub fn netlink(datagram: &[u8]) {
    let mut inside = 0;
    for frame in frames(datagram) {
        let Ok(frame) = frame else { break };
        inside += frame.payload.len();
        if frame.end().is_none() {
            answer(frame.payload);
        }
    }
    assert!(inside <= datagram.len());
}

/// Reads the payload of one answer.
pub fn answer(payload: &[u8]) {
    assert!(Link::parse(payload).is_none_or(|link| !link.name.is_empty()));
    if let Some(discipline) = Discipline::parse(payload) {
        assert_ne!(discipline.rate_bits(), Some(0));
    }
    let _ = Neighbour::parse(payload);
    for attributes in [payload, payload.get(4..).unwrap_or_default()] {
        device::parse_any(attributes);
        let features = parse_features(attributes).unwrap_or_default();
        let _ = wanted_bits(&features.into_iter().map(|(name, state)| (name, state.active)).collect());
    }
}

/// Reads a file of `/proc` or `/sys` by every reader; `tick` is its unit of time, in ns.
pub fn proc(text: &str, tick: u64) {
    let _ = cpu::since_boot(text, tick);
    let _ = SnmpTable::default().pairs(text).lines(text).sum("Udp", "InDatagrams");
    let _ = SoftnetCounters::from_softnet_stat(text);
    let mut each = vec![Interrupts::default(); 2];
    for file in ["/proc/interrupts", "/proc/softirqs"] {
        interrupts::parse(file, text, &[0, 1], &mut each);
    }
    let _ = Task::parse(1, 1, text.as_bytes(), tick);
    let _ = (environment::hypervisor(text), environment::memory(text));
    let _ = parse_cpu_mask(text);
    if let Ok(cpus) = parse_cpu_list(text) {
        assert_eq!(parse_cpu_list(&format_cpu_list(&cpus)).as_ref(), Ok(&cpus));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::{NESTED, encode};
    use crate::kernel::netlink::Request;

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
            netlink(&Request { kind, payload }.encoded(flags.into(), 7));
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
}

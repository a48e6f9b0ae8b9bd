//! (fuzzing) Every reader of what the kernel tells. None may panic, whatever it is given.

use crate::counters::snmp::{Table, softnet};
use crate::cpu::interrupts::{self, Interrupts};
use crate::cpu::list::{format_cpu_list, parse_cpu_list, parse_cpu_mask};
use crate::cpu::tasks::Task;
use crate::cpu::times as cpu;
use crate::environment::{self, disturbances};
use crate::kernel::attributes::attributes;
use crate::kernel::netlink::{Verdict, frames, verdict};
use crate::link::bitset::{parse_features, wanted_bits};
use crate::link::discipline::Discipline;
use crate::link::interface::Link;
use crate::link::neighbours;
use crate::link::queue::QueueCounters;

/// Reads a datagram of the kernel, and each of its answers as everything that an answer may be.
pub fn netlink(datagram: &[u8]) {
    let mut inside = 0;
    for frame in frames(datagram) {
        let Ok(frame) = frame else { break };
        inside += frame.payload.len();
        if let Verdict::Answer = verdict(&frame) {
            answer(frame.payload);
        }
    }
    assert!(inside <= datagram.len());
}

/// Reads the payload of one answer.
pub fn answer(payload: &[u8]) {
    if let Ok(link) = Link::parse(payload) {
        assert!(!link.name.is_empty());
    }
    if let Ok(discipline) = Discipline::parse(payload) {
        // Whatever a rate is, it is one: no rate is no limit.
        assert_ne!(discipline.rate_bits, Some(0));
    }
    let mut queue = QueueCounters::default();
    if queue.add(1, payload).is_ok() {
        assert_eq!(queue.since(&queue), QueueCounters::default());
    }
    let _ = neighbours::read(payload);
    for bytes in [payload, payload.get(4..).unwrap_or_default()] {
        if let Ok(features) = parse_features(bytes) {
            let requested = features.iter().map(|(name, state)| (name.clone(), state.active)).collect();
            assert!(attributes(&wanted_bits(&requested)).all(|attribute| attribute.is_ok()));
        }
    }
}

/// Reads a file of `/proc` or `/sys` as everything that it may be; `tick` is the unit of times in
/// it, in ns.
pub fn proc(text: &str, tick: u64) {
    let _ = cpu::since_boot(text, tick);
    let table = Table::default().pairs(text).lines(text);
    let _ = table.both(["Udp", "Udp6"], "InDatagrams");
    let _ = softnet(text);
    let mut each = vec![Interrupts::default(); 2];
    for file in ["/proc/interrupts", "/proc/softirqs"] {
        interrupts::parse(file, text, &[0, 1], &mut each);
    }
    let _ = Task::parse(1, 1, text.as_bytes(), tick);
    let _ = (disturbances::choice(text), disturbances::swapped(text), environment::hypervisor(text));
    let _ = parse_cpu_mask(text);
    if let Ok(cpus) = parse_cpu_list(text) {
        assert_eq!(parse_cpu_list(&format_cpu_list(&cpus)).as_ref(), Ok(&cpus));
    }
}

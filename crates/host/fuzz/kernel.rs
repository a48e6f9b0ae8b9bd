//! (fuzzing) Every reader of the kernel's messages and files: no input may make them panic.

use words::{format_cpu_list, parse_cpu_list};

use crate::counters::{SnmpTable, SoftnetCounters};
use crate::cpu::affinity::parse_cpu_mask;
use crate::cpu::interrupts::{self, Interrupts};
use crate::cpu::tasks::Task;
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
        for (option, ..) in device::GROUPS {
            let _ = device::parse(attributes, option);
        }
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
mod tests;

//! What an interface's transmit queue (its queueing disciplines) did.

use serde::{Deserialize, Serialize};

use crate::kernel::attributes::{attributes, number};

/// What the queueing disciplines of an interface did since they were made (`RTM_GETQDISC`,
/// `TCA_STATS2`).
///
/// Only the disciplines at the root (for transmit) and at ingress are summed: the kernel itself
/// counts in them what a discipline below dropped (`qdisc_tree_reduce_backlog`, and `mq` adds up
/// its children), so summing all would count twice. The kernel's counters have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueCounters {
    /// Packets dropped by a queue: lost on the sender's side, before the device.
    pub drops: u64,
    /// Packets put back because the device was busy.
    pub requeues: u64,
    /// Times a packet had to wait for a rate limit.
    pub overlimits: u64,
}

impl QueueCounters {
    /// What was counted since `earlier`. A 32-bit counter that wrapped is understood; one that was
    /// reset counts as nothing.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            drops: wrapping_since(self.drops, earlier.drops),
            requeues: wrapping_since(self.requeues, earlier.requeues),
            overlimits: wrapping_since(self.overlimits, earlier.overlimits),
        }
    }

    /// Adds one `RTM_NEWQDISC` payload, if it is a discipline of the interface `index` that counts
    /// (see the type).
    pub(crate) fn add(&mut self, index: u32, payload: &[u8]) -> Result<(), String> {
        let (header, rest) = payload
            .split_first_chunk::<HEADER>()
            .ok_or_else(|| format!("a queueing discipline in {} bytes", payload.len()))?;
        let [_, _, _, _, i0, i1, i2, i3, _, _, _, _, p0, p1, p2, p3, ..] = *header;
        let parent = u32::from_ne_bytes([p0, p1, p2, p3]);
        if u32::from_ne_bytes([i0, i1, i2, i3]) != index || !matches!(parent, TC_H_ROOT | TC_H_INGRESS) {
            return Ok(());
        }
        for attribute in attributes(rest) {
            let attribute = attribute?;
            if attribute.kind != TCA_STATS2 {
                continue;
            }
            for statistic in attributes(attribute.value) {
                let statistic = statistic?;
                // struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits.
                if statistic.kind == TCA_STATS_QUEUE {
                    let mut numbers =
                        statistic.value.as_chunks::<4>().0.iter().skip(2).filter_map(|v| number(v));
                    let mut next = || u64::from(numbers.next().unwrap_or_default());
                    self.drops += next();
                    self.requeues += next();
                    self.overlimits += next();
                }
            }
        }
        Ok(())
    }
}

/// `struct tcmsg`: family and padding (4 bytes), index, handle, parent, info.
const HEADER: usize = 20;
const TC_H_ROOT: u32 = 0xffff_ffff;
/// Also the parent of `clsact`.
const TC_H_INGRESS: u32 = 0xffff_fff1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;

fn wrapping_since(later: u64, earlier: u64) -> u64 {
    const RANGE: u64 = 1 << 32;
    match later.checked_sub(earlier) {
        Some(passed) => passed,
        // Less than half the range ahead: it wrapped. More: it was reset.
        None => {
            let passed = (later + RANGE).saturating_sub(earlier);
            if passed < RANGE / 2 { passed } else { 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::{NESTED, push};

    fn discipline(index: u32, parent: u32, numbers: [u32; 5]) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for number in [index, 0x8001_0000, parent, 2] {
            bytes.extend(number.to_ne_bytes());
        }
        let mut statistics = Vec::new();
        push(&mut statistics, TCA_STATS_QUEUE, &numbers.map(u32::to_ne_bytes).concat());
        push(&mut bytes, 1, b"fq\0");
        push(&mut bytes, TCA_STATS2 | NESTED, &statistics);
        bytes
    }

    #[test]
    fn the_root_and_the_ingress_of_the_interface_count_and_nothing_else() {
        let mut sum = QueueCounters::default();
        sum.add(3, &discipline(3, TC_H_ROOT, [1, 2, 10, 20, 30])).unwrap();
        sum.add(3, &discipline(3, TC_H_INGRESS, [0, 0, 1, 0, 0])).unwrap();
        sum.add(3, &discipline(3, 0x8001_0001, [0, 0, 100, 100, 100])).unwrap();
        sum.add(3, &discipline(4, TC_H_ROOT, [0, 0, 1000, 1000, 1000])).unwrap();
        assert_eq!(sum, QueueCounters { drops: 11, requeues: 20, overlimits: 30 });
    }

    #[test]
    fn a_wrap_is_understood_and_a_reset_counts_as_nothing() {
        assert_eq!(wrapping_since(12, 5), 7);
        assert_eq!(wrapping_since(4, (1 << 32) - 6), 10);
        assert_eq!(wrapping_since(4, 1000), 0);
        assert_eq!(wrapping_since(0, 1 << 40), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = QueueCounters::default().add(1, &bytes);
        }

        #[test]
        fn any_attributes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut payload = discipline(1, TC_H_ROOT, [0; 5]);
            push(&mut payload, TCA_STATS2, &bytes);
            let _ = QueueCounters::default().add(1, &payload);
        }
    }
}

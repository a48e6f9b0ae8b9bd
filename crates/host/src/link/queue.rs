//! The counters of an interface's transmit queue (its queueing disciplines).

use netlink_packet_core::{DecodeError, Emitable, NlasIterator, ParseableParametrized};
use netlink_packet_route::tc::{TcHandle, TcHeader, TcStats2};
use nix::libc;
use serde::{Deserialize, Serialize};

/// The counters of an interface's queueing disciplines since they were made (`RTM_GETQDISC`,
/// `TCA_STATS2`).
///
/// Sums only the disciplines at the root (for transmit) and at ingress: the kernel counts in them
/// what a discipline below dropped (`qdisc_tree_reduce_backlog`; `mq` adds up its children), so a
/// sum of all would count twice. The kernel's counters have 32 bits.
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
    /// The difference from `earlier`. A wrapped 32-bit counter is corrected; one that was reset
    /// counts as 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            drops: wrapping_since(self.drops, earlier.drops),
            requeues: wrapping_since(self.requeues, earlier.requeues),
            overlimits: wrapping_since(self.overlimits, earlier.overlimits),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            drops: self.drops.saturating_add(other.drops),
            requeues: self.requeues.saturating_add(other.requeues),
            overlimits: self.overlimits.saturating_add(other.overlimits),
        }
    }

    /// Adds one `RTM_NEWQDISC` payload, if it is a discipline of the interface `index` that counts
    /// (see the type).
    pub(crate) fn add(&mut self, index: u32, payload: &[u8]) -> Result<(), DecodeError> {
        let header = TcHeader::parse(payload)?;
        // The parent of `clsact` is that of ingress.
        if header.index.cast_unsigned() != index
            || !matches!(header.parent, TcHandle::ROOT | TcHandle::INGRESS)
        {
            return Ok(());
        }
        for attribute in NlasIterator::new(&payload[header.buffer_len()..]) {
            let attribute = attribute?;
            if attribute.kind() != libc::TCA_STATS2 {
                continue;
            }
            for statistic in NlasIterator::new(attribute.value()) {
                // Kinds need not be named: their own counters are not read.
                if let TcStats2::Queue(queue) = TcStats2::parse_with_param(&statistic?, "")? {
                    self.drops += u64::from(queue.drops);
                    self.requeues += u64::from(queue.requeues);
                    self.overlimits += u64::from(queue.overlimits);
                }
            }
        }
        Ok(())
    }
}

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
    use netlink_packet_core::DefaultNla;

    use super::*;
    use crate::kernel::attributes::{bytes, nested, string};

    const TCA_STATS_QUEUE: u16 = 3;

    fn discipline(index: i32, parent: TcHandle, numbers: &[u32]) -> Vec<u8> {
        let header = TcHeader { index, parent, ..TcHeader::default() };
        let mut payload = vec![0; header.buffer_len()];
        header.emit(&mut payload);
        let numbers = numbers.iter().copied().flat_map(u32::to_ne_bytes).collect();
        let statistics = nested(libc::TCA_STATS2, &[DefaultNla::new(TCA_STATS_QUEUE, numbers)]);
        payload.extend(bytes(&[string(libc::TCA_KIND, "fq"), statistics]));
        payload
    }

    #[test]
    fn the_root_and_the_ingress_of_the_interface_count_and_nothing_else() {
        let mut sum = QueueCounters::default();
        for (index, parent, numbers) in [
            (3, TcHandle::ROOT, [1, 2, 10, 20, 30]),
            (3, TcHandle::INGRESS, [0, 0, 1, 0, 0]),
            (3, TcHandle { major: 0x8001, minor: 1 }, [0, 0, 100, 100, 100]),
            (4, TcHandle::ROOT, [0, 0, 1000, 1000, 1000]),
        ] {
            sum.add(3, &discipline(index, parent, &numbers)).unwrap();
        }
        assert_eq!(sum, QueueCounters { drops: 11, requeues: 20, overlimits: 30 });
        let damaged = sum.add(3, &discipline(3, TcHandle::ROOT, &[1, 2, 3])).unwrap_err();
        assert!(damaged.to_string().contains("12 (should be at least 20"), "{damaged}");
    }

    #[test]
    fn a_wrap_is_understood_and_a_reset_counts_as_nothing() {
        assert_eq!(wrapping_since(12, 5), 7);
        assert_eq!(wrapping_since(4, (1 << 32) - 6), 10);
        assert_eq!(wrapping_since(4, 1000), 0);
        assert_eq!(wrapping_since(0, 1 << 40), 0);
    }
}

//! Queueing disciplines and filters of interfaces, as the kernel reports them.

use nix::libc;

use crate::error::Error;
use crate::kernel::attributes::{attribute, text, u32_at, u64_at};
use crate::kernel::counted::counted;
use crate::link::links::Links;

/// One discipline or filter: a payload of `RTM_NEWQDISC` or `RTM_NEWTFILTER`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Discipline {
    pub(crate) index: u32,
    pub(crate) handle: u32,
    /// [`Discipline::ROOT`] at the top.
    pub(crate) parent: u32,
    pub(crate) kind: String,
    pub(crate) options: Vec<u8>,
    pub(crate) queue: QueueCounters,
}

counted! {
    /// The counters of an interface's queueing disciplines since they were made.
    pub struct QueueCounters {
        /// Packets lost on the sender's side, before the device.
        drops: wrapping,
        /// Packets put back because the device was busy.
        requeues: wrapping,
        /// Times a packet had to wait for a rate limit.
        overlimits: wrapping,
    }
}

// `struct tcmsg`: family (with padding), index, handle, parent, information.
const HEADER: usize = 20;
const TCA_STATS_QUEUE: u16 = 3;
pub(crate) const TCA_TBF_PARMS: u16 = 1;
pub(crate) const TCA_TBF_RATE64: u16 = 4;

impl Discipline {
    /// The parent of the root (`TC_H_ROOT`), and that of ingress and `clsact`.
    pub(crate) const ROOT: u32 = 0xffff_ffff;
    const INGRESS: u32 = 0xffff_fff1;

    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let inside = payload.get(HEADER..)?;
        let queue = attribute(inside, libc::TCA_STATS2).and_then(|all| attribute(all, TCA_STATS_QUEUE));
        Some(Self {
            index: u32_at(payload, 4)?,
            handle: u32_at(payload, 8)?,
            parent: u32_at(payload, 12)?,
            kind: attribute(inside, libc::TCA_KIND).and_then(text).unwrap_or_default(),
            options: attribute(inside, libc::TCA_OPTIONS).unwrap_or_default().to_vec(),
            queue: queue.map(QueueCounters::parse).unwrap_or_default(),
        })
    }

    /// The rate limit of a `tbf`, in bits/s.
    pub(crate) fn rate_bits(&self) -> Option<u64> {
        let options = Some(&self.options).filter(|_| self.kind == "tbf")?;
        // In bytes/s: above 32 bits in an attribute of its own, else in `struct tc_ratespec`.
        let large = attribute(options, TCA_TBF_RATE64).and_then(|value| u64_at(value, 0));
        let small = attribute(options, TCA_TBF_PARMS).and_then(|value| u32_at(value, 8));
        let bytes = large.or(small.map(u64::from))?;
        // A rate of 0 is no limit.
        (bytes > 0).then(|| bytes.saturating_mul(8))
    }
}

impl QueueCounters {
    /// Reads `struct gnet_stats_queue`: length, backlog, then these counters.
    fn parse(value: &[u8]) -> Self {
        let number = |at| u32_at(value, at).map_or(0, u64::from);
        Self { drops: number(8), requeues: number(12), overlimits: number(16) }
    }

    pub(crate) fn of_interface(all: &[Discipline]) -> Self {
        // Only at the root (for transmit) and at ingress: the kernel counts there what a discipline
        // below dropped (`qdisc_tree_reduce_backlog`; `mq` adds up its children).
        let counting = all.iter().filter(|one| matches!(one.parent, Discipline::ROOT | Discipline::INGRESS));
        counting.fold(Self::default(), |sum, one| sum.plus(&one.queue))
    }
}

impl Links {
    /// The disciplines or filters of an interface, which a message of this type (`RTM_GET*`) lists.
    pub(crate) fn traffic_control(
        &mut self,
        get: u16,
        (index, parent): (u32, u32),
        name: &str,
    ) -> Result<Vec<Discipline>, Error> {
        let action = format_args!("read the traffic control of interface {name:?}");
        // For disciplines the kernel ignores an index, and lists those of all interfaces.
        let payloads = self.dump(get, &header(index, 0, parent), name, action)?.into_iter();
        let own = payloads.filter(|payload| u32_at(payload, 4) == Some(index));
        Ok(own.filter_map(|payload| Discipline::parse(&payload)).collect())
    }

    pub(crate) fn disciplines(&mut self, index: u32, name: &str) -> Result<Vec<Discipline>, Error> {
        self.traffic_control(libc::RTM_GETQDISC, (index, 0), name)
    }

    /// The counters of the interface's transmit queues; zero without a queue, as on a veth.
    pub fn queue(&mut self, name: &str) -> Result<QueueCounters, Error> {
        let index = self.find(name)?.index;
        Ok(QueueCounters::of_interface(&self.disciplines(index, name)?))
    }
}

pub(crate) fn header(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    [0, index, handle, parent, 0].map(u32::to_ne_bytes).concat()
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use crate::kernel::attributes::{encode, string};

    /// The kernel's answer: index, handle and parent; kind; attributes in the options.
    pub(crate) fn answer([index, handle, parent]: [u32; 3], kind: &str, options: Vec<u8>) -> Vec<u8> {
        let inside = [(libc::TCA_KIND, string(kind)), (libc::TCA_OPTIONS, options)];
        [header(index, handle, parent), encode(&inside)].concat()
    }

    /// `struct tc_ratespec`.
    pub(crate) fn specification(bytes_per_second: u32) -> Vec<u8> {
        [&[3, 1, 0, 0, 0, 0, 0, 0][..], &bytes_per_second.to_ne_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fixture::{answer, specification};
    use super::*;
    use crate::kernel::attributes::encode;

    fn parse(numbers: [u32; 3], kind: &str, options: &[(u16, Vec<u8>)]) -> Discipline {
        Discipline::parse(&answer(numbers, kind, encode(options))).unwrap()
    }

    #[test]
    fn a_token_buckets_rate_is_read_narrow_and_wide() {
        let parameters = [specification(12_500_000), specification(0), vec![0; 12]].concat();
        let narrow = parse([3, 0x10000, Discipline::ROOT], "tbf", &[(1, parameters.clone())]);
        assert_eq!((narrow.index, narrow.handle, narrow.parent), (3, 0x10000, Discipline::ROOT));
        assert_eq!((narrow.kind.as_str(), narrow.rate_bits()), ("tbf", Some(100_000_000)));
        let wide = [(4, 12_500_000_000u64.to_ne_bytes().to_vec()), (1, parameters)];
        let wide = parse([3, 0x10000, Discipline::ROOT], "tbf", &wide);
        assert_eq!(wide.rate_bits(), Some(100_000_000_000));
    }

    #[test]
    fn other_kinds_have_no_rate() {
        let plain = parse([2, 0, Discipline::ROOT], "noqueue", &[(1, vec![9; 40])]);
        assert_eq!((plain.kind.as_str(), plain.rate_bits()), ("noqueue", None));
        assert_eq!(Discipline::parse(&[0; 19]), None);
    }

    #[test]
    fn the_root_and_the_ingress_of_the_interface_count_and_nothing_else() {
        let discipline = |parent: u32, numbers: &[u32]| {
            let numbers = numbers.iter().copied().flat_map(u32::to_ne_bytes).collect();
            let statistics = [(libc::TCA_STATS2, encode(&[(TCA_STATS_QUEUE, numbers)]))];
            Discipline::parse(&[header(3, 0, parent), encode(&statistics)].concat()).unwrap()
        };
        let all = [
            discipline(Discipline::ROOT, &[1, 2, 10, 20, 30]),
            discipline(Discipline::INGRESS, &[0, 0, 1, 0, 0]),
            discipline(0x8001_0001, &[0, 0, 100, 100, 100]),
        ];
        assert_eq!(
            QueueCounters::of_interface(&all),
            QueueCounters { drops: 11, requeues: 20, overlimits: 30 }
        );
    }

    proptest! {
        #[test]
        fn a_rate_is_what_was_written(bytes_per_second in 1u32..) {
            let parameters = [specification(bytes_per_second), vec![0; 24]].concat();
            let read = parse([1, 1, Discipline::ROOT], "tbf", &[(1, parameters)]);
            prop_assert_eq!(read.rate_bits(), Some(u64::from(bytes_per_second) * 8));
        }
    }
}

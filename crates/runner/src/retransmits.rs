//! Whether the first copy of a retransmitted segment was lost, or the retransmission was needless.

use host::TcpCounters;
use load::TcpInfo;

/// Segments that one end retransmitted. The other end acknowledges a segment that arrives twice as
/// a duplicate (RFC 2883): its retransmission was needless. Reordering causes this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Retransmits {
    /// All of them.
    pub(crate) all: u64,
    /// Segments whose first copy had arrived.
    pub(crate) needless: u64,
    /// Times that TCP saw reordering.
    pub(crate) reorderings: u64,
}

impl Retransmits {
    /// The retransmits of a network namespace in a window. A duplicate counts in the window in
    /// which it is acknowledged.
    pub(crate) fn counted(tcp: &TcpCounters) -> Self {
        // Older kernels count acknowledgments, each for one segment or more, not segments.
        let duplicates = tcp.dsack_segs.max(tcp.dsacks.saturating_add(tcp.dsacks_ofo));
        let reorderings =
            [tcp.reno_reorders, tcp.ts_reorders].into_iter().fold(tcp.sack_reorders, u64::saturating_add);
        Self::new(tcp.retrans_segs, duplicates, reorderings)
    }

    /// The retransmits of connections over their whole lives.
    pub(crate) fn from_connections(connections: &[&TcpInfo]) -> Self {
        let sum =
            |of: fn(&TcpInfo) -> u64| connections.iter().map(|info| of(info)).fold(0, u64::saturating_add);
        Self::new(sum(|info| info.retransmits), sum(|info| info.duplicates), sum(|info| info.reorderings))
    }

    /// A duplicate that was sent once (the network may copy) was not retransmitted.
    fn new(all: u64, duplicates: u64, reorderings: u64) -> Self {
        Self { all, needless: duplicates.min(all), reorderings }
    }

    /// Segments whose first copy was lost, as far as the other end reported.
    pub(crate) fn lost(&self) -> u64 {
        self.all - self.needless
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn older_kernels_tell_by_acknowledgments() {
        let counters = TcpCounters { retrans_segs: 100, dsacks: 40, dsacks_ofo: 2, ..TcpCounters::default() };
        assert_eq!(Retransmits::counted(&counters).needless, 42);
        let counters = TcpCounters { dsack_segs: 90, ..counters };
        assert_eq!(Retransmits::counted(&counters).needless, 90);
    }

    proptest! {
        #[test]
        fn lost_and_needless_add_up(counts in prop::array::uniform7(any::<u64>())) {
            let [retrans_segs, dsack_segs, dsacks, dsacks_ofo, sack_reorders, reno_reorders, ts_reorders] = counts;
            let counters = TcpCounters {
                retrans_segs, dsack_segs, dsacks, dsacks_ofo, sack_reorders, reno_reorders, ts_reorders,
                ..TcpCounters::default()
            };
            let info = TcpInfo { retransmits: retrans_segs, duplicates: dsack_segs, ..TcpInfo::default() };
            for found in [Retransmits::counted(&counters), Retransmits::from_connections(&[&info, &info])] {
                prop_assert_eq!(found.lost() + found.needless, found.all);
                prop_assert!(found.needless <= found.all);
            }
        }
    }
}

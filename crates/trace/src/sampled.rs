//! Single packets with their stamps, and the stages between these.

use serde::{Deserialize, Serialize};

use crate::probe_counts::{POINTS, u64_at};

/// The most packets that an account keeps.
pub const MOST_SAMPLES: usize = 256;

/// Packets of which single stamps are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledPackets {
    /// The packets, in the order in which they arrived.
    pub packets: Vec<StampedPacket>,
    /// Packets without room in the ring or in the account.
    pub missed: u64,
}

/// A packet that arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StampedPacket {
    /// The stamps of the points that it passed, in order.
    pub stamps: Vec<Stamp>,
}

/// When a packet passed a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// The number of the point.
    pub point: u8,
    /// The time, in ns of the kernel's monotonic clock.
    pub at: u64,
    /// The reading of a clock of interruptions, in ns: only differences are meaningful.
    pub aside: u64,
}

/// The time between two points that follow each other on a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampInterval {
    /// The points.
    pub points: [u8; 2],
    /// When it begins, in ns after the packet's first stamp.
    pub begins: u64,
    /// Its length, in ns.
    pub takes: u64,
    /// The part of it that went to interrupts, soft interrupts and other tasks.
    pub aside: u64,
}

impl SampledPackets {
    /// Adds what the same programs sampled later, as far as there is room.
    pub fn add(&mut self, more: Self) {
        let room = MOST_SAMPLES.saturating_sub(self.packets.len());
        let beyond = more.packets.len().saturating_sub(room) as u64;
        // Packets without room in the account, and those without room in the ring.
        self.missed = self.missed.saturating_add(more.missed).saturating_add(beyond);
        self.packets.extend(more.packets.into_iter().take(room));
    }
}

impl StampedPacket {
    /// A `struct journey` of `bpf/journey.h`.
    pub(crate) fn from_record(record: &[u8]) -> Self {
        // Behind four numbers of 64 bits and six of 32.
        const AT: usize = 56;
        let passed = u64_at(record, 0);
        let points = (0..POINTS).filter(|point| passed >> point & 1 == 1);
        let stamp = |point: usize| Stamp {
            point: point as u8,
            at: u64_at(record, AT + 8 * point),
            aside: u64_at(record, AT + 8 * (POINTS + point)),
        };
        Self { stamps: points.map(stamp).collect() }
    }

    /// The intervals from each point to the next, together from the first stamp to the last.
    pub fn slices(&self) -> impl Iterator<Item = StampInterval> {
        let first = self.stamps.first().map_or(0, |stamp| stamp.at);
        self.stamps.windows(2).map(move |pair| {
            let takes = pair[1].at.saturating_sub(pair[0].at);
            StampInterval {
                points: [pair[0].point, pair[1].point],
                begins: pair[0].at.saturating_sub(first),
                takes,
                aside: pair[1].aside.saturating_sub(pair[0].aside).min(takes),
            }
        })
    }
}

/// The time from one point to a later one, as sampled packets of one batch had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeBetween {
    /// The point at which it begins.
    pub from: u8,
    /// The point at which it ends.
    pub to: u8,
    /// The time that a quarter of the packets do not exceed, in ns, without interruptions.
    ///
    /// A mean is moved by the few packets that pay for others (one that fills the ring of its card
    /// takes some 20,000 instructions more), the median where there are as many of two kinds.
    pub quarter: u64,
}

impl TimeBetween {
    /// The times from each of these points to the next, of packets that passed all of them, and no
    /// other points than those `on_the_way`. Empty without such a packet.
    pub fn neighbours(points: &[u8], on_the_way: &[u8], sampled: &SampledPackets) -> Vec<Self> {
        let same = |packet: &&StampedPacket| {
            let passed = |point: &u8| packet.stamps.iter().any(|stamp| stamp.point == *point);
            points.iter().all(passed) && packet.stamps.iter().all(|stamp| on_the_way.contains(&stamp.point))
        };
        let packets: Vec<&StampedPacket> = sampled.packets.iter().filter(same).collect();
        let quarter = |from: u8, to: u8| {
            let time = |packet: &&StampedPacket| {
                let within = |slice: &StampInterval| slice.points[0] >= from && slice.points[1] <= to;
                packet.slices().filter(within).map(|slice| slice.takes - slice.aside).sum()
            };
            let mut times: Vec<u64> = packets.iter().map(time).collect();
            times.sort_unstable();
            Some(Self { from, to, quarter: *times.get(times.len() / 4)? })
        };
        points.windows(2).filter_map(|pair| quarter(pair[0], pair[1])).collect()
    }
}

#[cfg(test)]
mod tests;

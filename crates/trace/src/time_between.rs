//! The time of a usual packet between two points.

use serde::{Deserialize, Serialize};

use crate::sampled::{SampledPackets, StampInterval, StampedPacket};

/// The time from one point to a later one, as sampled packets of one batch had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeBetween {
    /// The point at which it begins.
    pub from: u8,
    /// The one at which it ends.
    pub to: u8,
    /// The time that a quarter of the packets do not exceed, in ns, without interruptions.
    ///
    /// A mean is moved by the few packets that pay for others: one that fills the ring of its card
    /// anew takes some 20,000 instructions more. The median is moved where packets are of two kinds
    /// of about the same number, such as those that find the machine idle, and others.
    pub quarter: u64,
}

impl TimeBetween {
    /// The times from each of these points to the next, of packets that passed all of them, and no
    /// other points than those `on_the_way`. Empty without such a packet.
    #[must_use]
    pub fn neighbours(points: &[u8], on_the_way: &[u8], sampled: &SampledPackets) -> Vec<Self> {
        let same = |packet: &&StampedPacket| {
            let passed = |point: &u8| packet.stamps.iter().any(|stamp| stamp.point == *point);
            points.iter().all(passed) && packet.stamps.iter().all(|stamp| on_the_way.contains(&stamp.point))
        };
        let packets: Vec<&StampedPacket> = sampled.packets.iter().filter(same).collect();
        let quarter = |from: u8, to: u8| {
            let own = |packet: &&StampedPacket| {
                let within = |slice: &StampInterval| slice.points[0] >= from && slice.points[1] <= to;
                packet.slices().filter(within).map(|slice| slice.takes - slice.aside).sum()
            };
            let mut times: Vec<u64> = packets.iter().map(own).collect();
            times.sort_unstable();
            Some(Self { from, to, quarter: *times.get(times.len() / 4)? })
        };
        points.windows(2).filter_map(|pair| quarter(pair[0], pair[1])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampled::Stamp;

    fn packet(stamps: &[(u8, u64, u64)]) -> StampedPacket {
        let stamp = |(point, at, aside): &(u8, u64, u64)| Stamp { point: *point, at: *at, aside: *aside };
        StampedPacket { stamps: stamps.iter().map(stamp).collect() }
    }

    #[test]
    fn a_quarter_is_of_the_packets_of_the_way_and_without_interruptions() {
        // Through point 2: 100 and 400 ns, 30 of these aside. One in ten fills the card's ring.
        let usual = packet(&[(0, 1000, 5), (2, 1050, 5), (3, 1100, 5), (7, 1500, 35)]);
        let dear = packet(&[(0, 1000, 0), (2, 1050, 0), (3, 21_100, 0), (7, 21_500, 0)]);
        let another_way = packet(&[(0, 1000, 0), (3, 1001, 0), (5, 1002, 0), (7, 1003, 0)]);
        let cut_short = packet(&[(0, 1000, 0), (7, 1001, 0)]);
        let mut packets = vec![usual; 9];
        packets.extend([dear, another_way, cut_short]);
        let sampled = SampledPackets { packets, missed: 0 };
        let each = TimeBetween::neighbours(&[0, 3, 7], &[0, 2, 3, 4, 7], &sampled);
        let expected =
            [(0, 3, 100), (3, 7, 370)].map(|(from, to, quarter)| TimeBetween { from, to, quarter });
        assert_eq!(each, expected);
        assert_eq!(TimeBetween::neighbours(&[0, 3, 7], &[0, 2, 3, 4, 7], &SampledPackets::default()), []);
    }
}

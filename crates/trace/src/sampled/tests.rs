use super::*;
use proptest::prelude::*;

use super::Stamp;

#[test]
fn what_has_no_room_is_counted() {
    let packets = |count: usize| vec![StampedPacket { stamps: Vec::new() }; count];
    let mut sampled = SampledPackets::default();
    for count in [MOST_SAMPLES - 2, 5, 4] {
        sampled.add(SampledPackets { packets: packets(count), missed: 1 });
    }
    assert_eq!((sampled.packets.len(), sampled.missed), (MOST_SAMPLES, 3 + 4 + 3));
}

proptest! {
    /// Any way, with any time and any interruption before each point.
    #[test]
    fn slices_are_the_whole_way_without_gaps(
        way in prop::collection::btree_map(0..POINTS as u8, (0u64..1 << 40, 0u64..1 << 40), 1..20),
        (begin, clock) in (0u64..1 << 60, 0u64..1 << 60),
    ) {
        let mut record = vec![0u8; 56 + 2 * 8 * POINTS];
        let mut write = |at: usize, number: u64| record[at..at + 8].copy_from_slice(&number.to_ne_bytes());
        let (mut passed, mut now, mut aside) = (0u64, begin, clock);
        let mut expected = Vec::new();
        for (point, (own, interrupted)) in &way {
            if passed != 0 {
                now += own + interrupted;
                aside += interrupted;
                expected.push((*point, own + interrupted, *interrupted));
            }
            passed |= 1 << point;
            write(56 + 8 * usize::from(*point), now);
            write(56 + 8 * (POINTS + usize::from(*point)), aside);
        }
        write(0, passed);
        let packet = StampedPacket::from_record(&record);
        let slices: Vec<StampInterval> = packet.slices().collect();
        let found: Vec<_> = slices.iter().map(|one| (one.points[1], one.takes, one.aside)).collect();
        prop_assert_eq!(found, expected);
        let mut end = 0;
        for slice in &slices {
            prop_assert_eq!(slice.begins, end);
            end += slice.takes;
        }
        prop_assert_eq!(end, now - begin);
    }

    /// A sample of a kernel is bounded, whatever it is.
    #[test]
    fn any_record_is_read(record in prop::collection::vec(any::<u8>(), 0..1200)) {
        let packet = StampedPacket::from_record(&record);
        prop_assert!(packet.stamps.len() <= POINTS);
        prop_assert!(packet.slices().all(|slice| slice.aside <= slice.takes));
    }
}

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
    let expected = [(0, 3, 100), (3, 7, 370)].map(|(from, to, quarter)| TimeBetween { from, to, quarter });
    assert_eq!(each, expected);
    assert_eq!(TimeBetween::neighbours(&[0, 3, 7], &[0, 2, 3, 4, 7], &SampledPackets::default()), []);
}

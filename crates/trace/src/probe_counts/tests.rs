use proptest::prelude::*;

use super::*;

/// A cell as `bpf/journey.h` fills it; its buckets by that file's rule, written once more.
fn segment(point: u8, times: &[u64]) -> Segment {
    let mut cell = vec![0u8; 40 + BUCKETS * 4];
    let numbers = [
        times.len() as u64,
        times.iter().sum(),
        times.iter().map(|time| MOST - time).max().unwrap_or_default(),
        times.iter().copied().max().unwrap_or_default(),
        7,
    ];
    for (at, number) in numbers.into_iter().enumerate() {
        cell[at * 8..at * 8 + 8].copy_from_slice(&number.to_ne_bytes());
    }
    for time in times {
        let power = 63 - u64::from(time.max(&1).leading_zeros());
        let bucket = if *time < 16 { *time } else { 16 + (power - 4) * 8 + (time >> (power - 3) & 7) };
        let at = 40 + bucket as usize * 4;
        let count = u32::from_ne_bytes(cell[at..at + 4].try_into().unwrap()) + 1;
        cell[at..at + 4].copy_from_slice(&count.to_ne_bytes());
    }
    Segment::from_cell(point, &cell)
}

#[test]
fn buckets_follow_each_other_without_gaps_to_the_last_time() {
    let mut next = 0;
    for number in 0..BUCKETS as u16 {
        let (least, most) = Segment::bucket(number);
        assert_eq!(least, next, "bucket {number}");
        assert!(most >= least);
        next = most.wrapping_add(1);
    }
    assert_eq!(next, 0, "the last bucket ends at the largest time");
}

#[test]
fn readings_add_up_way_by_way() {
    let way = |points: &[u8], ns: u64| Way {
        whole: segment(0, &[ns]),
        segments: points.iter().map(|point| segment(*point, &[ns])).collect(),
    };
    let reading = |ways: Vec<Way>| ProbeCounts {
        ways,
        journeys: Journeys { arrived: 1, lost: 2, ..Journeys::default() },
        hits: vec![1, 2],
    };
    let mut sum = reading(vec![way(&[1, 2], 5), way(&[2], 9)]);
    sum.add(reading(vec![way(&[2], 100), way(&[2], 3)]));
    assert_eq!(sum.ways.len(), 2);
    assert_eq!(sum.most_used(None).map(|way| way.whole.count), Some(3));
    assert_eq!(sum.most_used(Some(1)), Some(&sum.ways[0]), "the other passes point 1");
    assert_eq!(sum.most_used(Some(2)), Some(&sum.ways[0]), "all of them pass point 2");
    let most_used = &sum.ways[0];
    assert_eq!((most_used.whole.count, most_used.whole.sum), (3, 112));
    assert_eq!((most_used.whole.least, most_used.whole.most), (3, 100));
    assert_eq!((sum.journeys.arrived, sum.journeys.lost, sum.hits[1]), (2, 4, 4));
}

proptest! {
    #[test]
    fn a_quantile_is_within_an_eighth_of_the_true_one(
        times in prop::collection::vec(0u64..1 << 40, 1..60),
        percent in 1u32..=100,
    ) {
        let share = f64::from(percent) / 100.0;
        let mut sorted = times.clone();
        sorted.sort_unstable();
        let wanted = (share * times.len() as f64).ceil().max(1.0) as usize;
        let true_one = sorted[wanted - 1];
        let found = segment(1, &times).quantile(share);
        prop_assert!(found >= true_one && found <= true_one + true_one / 8 + 1, "{found} for {true_one}");
    }
}

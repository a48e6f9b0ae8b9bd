use super::*;
use proptest::prelude::*;

#[test]
fn nothing_recorded_is_no_latency() {
    assert_eq!(merge(vec![Recorder::new(1), Recorder::new(1)]), None);
    assert_eq!(merge(vec![]), None);
}

#[test]
fn quantiles_are_those_of_all_threads_together() {
    let (mut low, mut high) = (Recorder::new(1), Recorder::new(1));
    (1..=500).for_each(|ns| low.record(ns));
    (501..=1000).for_each(|ns| high.record(ns));
    let latency = merge(vec![low, high]).unwrap();
    assert_eq!((latency.count, latency.min, latency.max), (1000, 1, 1000));
    assert_eq!((latency.p50, latency.p90, latency.p99, latency.p99_9), (500, 900, 990, 999));
    assert!((latency.mean - 500.5).abs() < 1e-9, "{}", latency.mean);
}

#[test]
fn a_recorder_has_a_place_for_all_and_no_more() {
    let counters = Recorder::new(1).0.len();
    assert_eq!(
        (place(0), place(1), place(2047), place(2048), place(2049), place(2050)),
        (0, 1, 2047, 2048, 2048, 2049)
    );
    assert_eq!(place(u64::MAX), place(LONGEST));
    assert!((counters - STEPS..counters).contains(&place(LONGEST)));
    assert_eq!(STEPS * size_of::<u32>(), 4096, "a page");
    (0..counters).for_each(|at| assert!(least(at) > LONGEST || place(least(at)) == at, "{at}"));
}

#[test]
fn what_is_out_of_range_is_still_counted() {
    let mut recorder = Recorder::new(1);
    recorder.record(0);
    recorder.record(u64::MAX);
    let latency = merge(vec![recorder]).unwrap();
    assert_eq!(latency.count, 2);
    assert!(latency.max >= LONGEST);
}

proptest! {
    #[test]
    fn a_place_is_exact_to_a_thousandth(ns in 0..=LONGEST) {
        let kept = least(place(ns));
        prop_assert!(kept <= ns && (ns - kept) as f64 <= 0.001 * ns as f64, "{kept} for {ns}");
        prop_assert_eq!(place(ns + 1).saturating_sub(place(ns)) <= 1, true);
    }

    #[test]
    fn quantiles_are_exact_to_a_thousandth(mut values in proptest::collection::vec(1u64..1_000_000_000, 1..300)) {
        let mut recorder = Recorder::new(1);
        values.iter().for_each(|ns| recorder.record(*ns));
        let latency = merge(vec![recorder]).unwrap();
        values.sort_unstable();
        for (quantile, found) in [(0.5, latency.p50), (0.9, latency.p90), (0.99, latency.p99), (1.0, latency.max)] {
            let rank = (quantile * values.len() as f64).ceil() as usize;
            let exact = values[rank.max(1) - 1];
            prop_assert!(found.abs_diff(exact) as f64 <= 0.001 * exact as f64, "{found} for {exact}");
        }
    }

    #[test]
    fn the_stored_histogram_has_the_stored_quantiles(
        values in proptest::collection::vec(1u64..20_000_000_000, 1..300),
    ) {
        let mut recorder = Recorder::new(1);
        values.iter().for_each(|ns| recorder.record(*ns));
        // Often the shortest, and its counter lies across the edge of two buckets: 10^5.2 ns
        // are 158,489.3.
        recorder.record(158_480);
        let latency = merge(vec![recorder]).unwrap();
        let histogram = latency.histogram.unwrap();
        prop_assert_eq!(histogram.count(), latency.count);
        let quantiles = [
            (0.0, latency.min),
            (0.5, latency.p50),
            (0.9, latency.p90),
            (0.99, latency.p99),
            (1.0, latency.max),
        ];
        for (share, found) in quantiles {
            let rank = (share * latency.count as f64).ceil() as u64;
            let mut passed = 0;
            let bucket = histogram.buckets().find(|(_, count)| {
                passed += count;
                passed >= rank
            });
            let (bucket, _) = bucket.unwrap();
            prop_assert!(bucket.contains(&found), "{share}: {found} in {bucket:?}");
        }
    }
}

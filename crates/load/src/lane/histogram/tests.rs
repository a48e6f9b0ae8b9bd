use proptest::prelude::*;

use super::*;

fn read(json: &str) -> Result<LatencyHistogram, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn buckets_are_a_tenth_wide_and_have_round_edges() {
    assert_eq!(EDGES.len(), 236);
    for power in 0..=10 {
        assert!(EDGES.contains(&10_u64.pow(power)), "10^{power}");
    }
    let width = 1.0 + LatencyHistogram::width_percent() / 100.0;
    assert!((width - 1.096_478).abs() < 1e-6);
    for pair in EDGES.windows(2) {
        let [low, high] = [pair[0], pair[1]].map(|edge| edge as f64);
        // Edges are rounded up to whole ns.
        assert!(high > low && high < low * width + 1.0, "{pair:?}");
    }
    // No edge is so near to a whole number that another machine could round it otherwise.
    for place in (0..251_u32).filter(|place| place % 25 != 0) {
        let exact = 10_f64.powf(f64::from(place) / 25.0);
        assert!((exact - exact.round()).abs() > 1e-12 * exact, "{place}");
    }
}

#[test]
fn a_latency_is_in_the_bucket_around_it() {
    let buckets = |ns| LatencyHistogram::from_latencies([(ns, 3)]).buckets().collect::<Vec<_>>();
    let bucket = |low, high| vec![(low..high, 3)];
    assert_eq!(buckets(0), bucket(1, 2), "no latency is shorter than a nanosecond");
    assert_eq!(buckets(10_000), bucket(10_000, 10_965));
    assert_eq!(buckets(10_964), bucket(10_000, 10_965));
    assert_eq!(buckets(10_965), bucket(10_965, 12_023));
    assert_eq!(buckets(u64::MAX), bucket(10_000_000_000, 10_964_781_962));
}

#[test]
fn it_is_written_as_pairs_and_read_back() {
    let histogram = LatencyHistogram::from_latencies([(12_000, 2), (10_500, 1), (10_600, 4), (3_000_000, 1)]);
    let json = serde_json::to_string(&histogram).unwrap();
    assert_eq!(json, "[[10000,5],[10965,2],[2754229,1]]");
    assert_eq!(read(&json), Ok(histogram));
    assert_eq!(read("[]"), Ok(LatencyHistogram::default()));
}

#[test]
fn what_is_no_histogram_is_refused_with_its_reason() {
    for (json, why) in [
        ("[[10001,1]]", "no bucket of a latency histogram begins at 10001 ns"),
        ("[[10964781962,1]]", "no bucket of a latency histogram begins at 10964781962 ns"),
        ("[[10965,1],[10000,1]]", "the bucket at 10000 ns is not above the one before it"),
        ("[[10000,1],[10000,1]]", "the bucket at 10000 ns is not above the one before it"),
        ("[[10000,0]]", "the bucket at 10000 ns is empty"),
        (
            "[[10000,18446744073709551615],[10965,1]]",
            "the counts of a latency histogram add up to more than 2^64 - 1",
        ),
        ("[[10000,1,1]]", "trailing characters"),
        ("[[10000,-1]]", "invalid value: integer `-1`, expected u64"),
        ("{}", "expected a sequence"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(why), "{json}: {error}");
    }
}

#[test]
fn the_largest_is_small_too() {
    let all = LatencyHistogram::from_latencies(EDGES.iter().map(|edge| (*edge, u64::from(u32::MAX))));
    assert_eq!(all.buckets().len(), 235);
    assert!(serde_json::to_string(&all).unwrap().len() < 5_000);
    // A million transactions of some 20 µs, of which each tenth of the rest is twice as late.
    let tail = (0..7).map(|power| (20_000 << power, 10_u64.pow(6 - power)));
    let near = (0..20).map(|step| (15_000 + 700 * step, 40_000 + step));
    let usual = LatencyHistogram::from_latencies(tail.chain(near));
    assert!(serde_json::to_string(&usual).unwrap().len() < 300);
}

fn latencies() -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec((0..20_000_000_000_u64, 1..1_000_000_u64), 0..60)
}

proptest! {
    #[test]
    fn nothing_is_lost_and_each_bucket_holds_its_own(latencies in latencies()) {
        let histogram = LatencyHistogram::from_latencies(latencies.iter().copied());
        prop_assert_eq!(histogram.count(), latencies.iter().map(|(_, count)| count).sum::<u64>());
        for (bucket, count) in histogram.buckets() {
            let is_last = bucket.start == 10_000_000_000;
            let inside = |ns: u64| bucket.start <= ns.max(1) && (ns < bucket.end || is_last);
            let own = latencies.iter().filter(|(ns, _)| inside(*ns)).map(|(_, count)| count);
            prop_assert_eq!(own.sum::<u64>(), count, "{:?}", bucket);
        }
        let json = serde_json::to_string(&histogram).unwrap();
        prop_assert_eq!(serde_json::from_str::<LatencyHistogram>(&json).unwrap(), histogram);
    }

    #[test]
    fn the_sum_of_two_is_that_of_all_latencies(one in latencies(), other in latencies()) {
        let mut sum = LatencyHistogram::from_latencies(one.iter().copied());
        sum.add(&LatencyHistogram::from_latencies(other.iter().copied()));
        prop_assert_eq!(sum, LatencyHistogram::from_latencies(one.into_iter().chain(other)));
    }

    #[test]
    fn no_list_makes_it_panic(pairs in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..5)) {
        let json = serde_json::to_string(&pairs).unwrap();
        let _ = serde_json::from_str::<LatencyHistogram>(&json);
    }
}

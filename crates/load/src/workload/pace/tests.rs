use super::*;
use proptest::prelude::*;

proptest! {
    /// A sender that is always ready keeps its pace to the nanosecond, for all sizes.
    #[test]
    fn the_pace_is_kept_exactly(
        bits in 1..=1_000_000_000_000u64, sizes in proptest::collection::vec(1u64..65_536, 1..200), start in 1u64..1 << 50,
    ) {
        let mut due = Pace::<true> { bits: &AtomicU64::new(bits), next: start, rest: 0 };
        let (mut now, mut bytes) = (start, 0u64);
        for size in sizes {
            now = due.after(now).unwrap_or(now);
            let exact = u128::from(bytes) * 8_000_000_000 / u128::from(bits);
            prop_assume!(exact < 1 << 60);
            prop_assert_eq!(u128::from(now - start), exact);
            due.took(size, now);
            bytes += size;
        }
    }

    /// Whatever is sent at once, and whenever a window begins and ends: over all beginnings of
    /// the sender, it holds as much as the pace asks for.
    #[test]
    fn a_window_is_expected_to_hold_the_pace(
        bits in 1_000_000u64..10_000_000_000, size in 1u64..100_000, from in 0u64..50_000_000, len in 1_000_000u64..100_000_000,
    ) {
        const BEGINNINGS: u64 = 1000;
        let takes = size as f64 * 8e9 / bits as f64;
        prop_assume!(len as f64 / takes < 1000.0);
        let (pace, mut sent) = (AtomicU64::new(bits), 0);
        for beginning in 0..BEGINNINGS {
            let mut due = Pace::<true> { bits: &pace, next: 0, rest: 0 };
            due.begin(size, 1, u64::MAX / BEGINNINGS * beginning);
            while due.next < 1 + from + len {
                let now = due.next;
                sent += u64::from(now > from);
                due.took(size, now);
            }
        }
        // One beginning more or less than its share meets each edge, or is a nanosecond early.
        let expected = len as f64 / takes * BEGINNINGS as f64;
        prop_assert!((sent as f64 - expected).abs() <= 4.0, "{sent} of {expected}");
    }

    /// Another pace holds from the next bytes on, and none is ahead or behind by a nanosecond.
    #[test]
    fn another_pace_holds_at_once(
        all in proptest::collection::vec((1..=1_000_000_000_000u64, 1u64..65_536), 2..50),
    ) {
        let pace = AtomicU64::new(1);
        let mut due = Pace::<true> { bits: &pace, next: 1, rest: 0 };
        let mut now = 1;
        for (bits, bytes) in all {
            pace.store(bits, Ordering::Relaxed);
            due.took(bytes, now);
            let (next, exact) = (due.after(now).unwrap_or(now), bytes * 8_000_000_000 / bits);
            prop_assert!((exact..=exact + 1).contains(&(next - now)), "{} ns for {exact}", next - now);
            now = next;
        }
    }

    /// However a sender is delayed, no period carries more than its pace, the lag and one
    /// message.
    #[test]
    fn no_stall_ends_in_a_long_burst(
        bits in 1_000_000u64..100_000_000_000,
        size in 1u64..65_536,
        stalls in proptest::collection::vec(0u64..100_000_000, 2..300),
    ) {
        let mut due = Pace::<true> { bits: &AtomicU64::new(bits), next: 1_000_000_000, rest: 0 };
        let mut now = 1_000_000_000;
        let mut sent: Vec<u64> = Vec::new();
        for stall in stalls {
            now = due.after(now).unwrap_or(now) + if stall > 90_000_000 { stall } else { 0 };
            due.took(size, now);
            sent.push(now);
        }
        for (first, begin) in sent.iter().enumerate() {
            for (last, end) in sent.iter().enumerate().skip(first) {
                let bytes = u128::from(size) * (last - first) as u128;
                let allowed = u128::from(bits) * u128::from(end - begin + LAG + 1) / 8_000_000_000;
                prop_assert!(bytes <= allowed, "{bytes} bytes in {} ns", end - begin);
            }
        }
    }
}

#[test]
fn the_end_is_not_waited_for() {
    let phase = PhaseCell::default();
    let bits = AtomicU64::new(8);
    let mut pace = Pace::<true>::new(&bits);
    pace.next = 1;
    assert!(pace.wait(1000, &phase));
    phase.advance(QUIET);
    let before = sys::now();
    assert!(!pace.wait(1000, &phase));
    assert!(sys::now() - before < 1_000_000_000, "a thousand seconds were due");
}

use proptest::prelude::*;

use super::*;

fn row(n: u64) -> SeriesRow {
    let counts =
        load::Counts { messages: n, bytes: 10 * n, transactions: n, socket_drops: n, ..Default::default() };
    SeriesRow {
        load: load::Sample {
            at_ns: 100 * n,
            sent: counts,
            received: load::Counts::default(),
            ..load::Sample::default()
        },
        cpu: CpuTimes { user: n, idle: 5, ..CpuTimes::default() },
        queue: QueueCounters { drops: n, ..QueueCounters::default() },
    }
}

#[test]
fn rows_count_from_the_opening_and_end_with_the_closing() {
    let mut series = Series::default();
    add_row(&mut series, &row(3), &row(5));
    add_row(&mut series, &row(3), &row(9));
    assert_eq!(series.at_ns, [200, 600]);
    assert_eq!(series.bytes_sent, [20, 60]);
    assert_eq!(series.bytes_received, [0, 0]);
    assert_eq!((series.queue_drops.as_slice(), series.cpu_busy_ns.as_slice()), (&[2, 6][..], &[2, 6][..]));
    assert!(series.columns().iter().all(|column| column.values.len() == 2));
}

#[test]
fn the_step_has_bounds() {
    let (ms, s) = (Duration::from_millis, Duration::from_secs);
    assert_eq!(step(ms(0), s(1), 1), ms(10));
    assert_eq!(step(ms(50), s(1), 1), ms(50));
    assert_eq!(step(s(9), s(20), 1), s(1));
    assert_eq!(step(ms(10), s(120), 1), ms(120));
    assert_eq!(step(ms(10), s(3600), 1), ms(3600));
}

proptest! {
    #[test]
    fn steps_follow_each_other_without_crowding(
        asked in any::<u64>(),
        window in any::<u64>(),
        late in 0u64..1 << 50,
    ) {
        let (window, late) = (Duration::from_nanos(window), Duration::from_nanos(late));
        let step = step(Duration::from_nanos(asked), window, 1);
        prop_assert!(step >= SHORTEST && window.as_nanos() / step.as_nanos() <= u128::from(MOST) + 1);
        let opened = Instant::now();
        let next = next(opened, step, opened + late);
        prop_assert!(next > opened + late && next <= opened + late + step);
    }
}

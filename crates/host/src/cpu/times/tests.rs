use proptest::prelude::*;

use super::*;

const TICK: u64 = 10_000_000;

#[test]
fn each_cpu_is_read_with_its_parts() {
    let text = "cpu  11 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 40 5 6 7 8 1 2\ncpu10 1 0 0 0\nintr 123 4\nctxt 5\n";
    let table = parse(text, TICK);
    assert_eq!(table.keys().copied().collect::<Vec<_>>(), [0, 10]);
    let ticks = |ticks: u64| ticks * TICK;
    assert_eq!(
        table[&0],
        CpuTimes {
            user: ticks(3),
            system: ticks(3),
            irq: ticks(6),
            softirq: ticks(7),
            steal: ticks(8),
            idle: ticks(45),
        }
    );
    assert_eq!(table[&10].user, ticks(1));
    assert_eq!(since_boot(text, TICK).user, ticks(4));
}

#[test]
fn a_usage_is_of_the_time_there_was() {
    let spent = CpuTimes { user: 10, system: 20, irq: 0, softirq: 10, steal: 10, idle: 50 };
    let [user, system, _, softirq, steal, idle] = spent.percentages().unwrap();
    assert_eq!((user, system, softirq, steal, idle), (10.0, 20.0, 10.0, 10.0, 50.0));
    assert_eq!((spent.busy(), spent.total()), (40, 100));
    assert_eq!(CpuTimes::default().percentages(), None);
}

#[test]
fn this_machines_cpus_are_read_and_one_it_has_not_is_named() {
    let cpus = crate::cpu::affinity::online_cpus();
    let read = || CpuTimes::sum(&CpuTimes::read_each(&cpus).unwrap());
    let earlier = read();
    assert!(earlier.total() > 0);
    let later = read();
    assert!(later.since(&earlier).busy() < later.busy());
    let error = CpuTimes::read_each(&[60_000]).unwrap_err().to_string();
    assert!(error.contains("CPU 60000 is not online") && error.contains(&format_cpu_list(&cpus)), "{error}");
}

fn times() -> impl Strategy<Value = CpuTimes> {
    any::<[u64; 6]>().prop_map(|[user, system, irq, softirq, steal, idle]| CpuTimes {
        user,
        system,
        irq,
        softirq,
        steal,
        idle,
    })
}

proptest! {
    #[test]
    fn nothing_is_negative_and_percentages_add_up(earlier in times(), later in times()) {
        let spent = later.since(&earlier);
        prop_assert!(spent.user <= later.user && spent.idle <= later.idle);
        if spent.total() < u64::MAX && let Some(parts) = spent.percentages() {
            prop_assert!((parts.iter().sum::<f64>() - 100.0).abs() < 1e-6);
        }
    }
}

#[test]
fn the_clocks_go_on_and_a_change_of_their_source_shows() {
    let first = ClockReading::read();
    std::thread::sleep(Duration::from_millis(5));
    let last = ClockReading::read();
    let check = last.since(&first);
    assert!(check.monotonic_ns >= 5_000_000, "{check:?}");
    // Slewing is at most 10 %, and a machine that runs a test does not sleep for long.
    assert!(
        check.raw_ns >= check.monotonic_ns / 2 && check.boottime_ns >= check.monotonic_ns / 2,
        "{check:?}"
    );
    assert!(!check.source_changed);
    let other = ClockReading { source: Some("hpet".to_owned()), ..first.clone() };
    assert!(last.since(&other).source_changed);
    assert_eq!(first.since(&last).monotonic_ns, 0);
}

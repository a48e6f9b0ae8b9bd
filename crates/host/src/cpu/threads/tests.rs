use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

const TICK: u64 = 10_000_000;

#[test]
fn the_times_are_found_behind_any_name() {
    let stat = b"4711 (a) R 3 (b) S 1 2 3 0 -1 4194368 97 0 0 0 30 12 0 0 20 0 1 0 5 6 7\n";
    let times = ThreadTimes::parse(stat, "424000000 77 12\n", TICK).unwrap();
    let expected =
        ThreadTimes { running_ns: 424_000_000, user_ns: 30 * TICK, system_ns: 12 * TICK, waiting_ns: 77 };
    assert_eq!(times, expected);
    // Without schedstat, ticks replace it.
    let coarse = ThreadTimes::parse(stat, "", TICK).unwrap();
    assert_eq!((coarse.running_ns, coarse.waiting_ns), (42 * TICK, 0));
    assert_eq!(ThreadTimes::parse(b"1 (x) S 1 2", "", TICK), None);
    assert_eq!(ThreadTimes::parse(b"", "", TICK), None);
}

#[test]
fn a_thread_that_works_is_seen_to() {
    let thread = u32::try_from(nix::unistd::gettid().as_raw()).unwrap();
    let (before, process) = (ThreadTimes::read(thread).unwrap(), ProcessTimes::read());
    let begin = Instant::now();
    // Until the scheduler reports it; a fixed time could be too short, as another process may
    // have the CPU.
    let passed = loop {
        let passed = ThreadTimes::read(thread).unwrap().since(&before);
        if passed.running_ns >= 50_000_000 && passed.user_ns + passed.system_ns > 0 {
            break passed;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{passed:?}");
    };
    let wall = u64::try_from(begin.elapsed().as_nanos()).unwrap() + TICK;
    assert!(passed.running_ns + passed.waiting_ns <= wall + TICK, "{passed:?} in {wall} ns");
    assert!(ProcessTimes::read().since(&process).total_ns() > 40_000_000);
    assert!(ThreadTimes::read(u32::MAX).is_err());
}

proptest! {
    #[test]
    fn any_name_and_numbers_are_read(name in ".{0,20}", numbers in prop::collection::vec("-?[0-9]{1,22}", 0..20)) {
        let stat = format!("1 ({name}) S {}", numbers.join(" "));
        let parsed = ThreadTimes::parse(stat.as_bytes(), "", TICK);
        let good = |index: usize| numbers.get(index).is_some_and(|word| word.parse::<u64>().is_ok());
        prop_assert_eq!(parsed.is_some(), good(10) && good(11));
    }
}

#[test]
fn a_thread_that_works_is_distinguished_from_its_fellows() {
    let me = std::process::id();
    let before = ProcessThreads::read(me).unwrap();
    let busy = std::thread::Builder::new().name("busy one".to_owned());
    let passed = busy
        .spawn(move || {
            let begin = Instant::now();
            loop {
                let passed = ProcessThreads::read(me).unwrap().since(&before);
                if passed.sum(|name| name == "busy one").running_ns >= 30_000_000 {
                    return passed;
                }
                assert!(begin.elapsed() < Duration::from_secs(60), "{passed:?}");
            }
        })
        .unwrap()
        .join()
        .unwrap();
    let (all, busy) = (passed.sum(|_| true), passed.sum(|name| name == "busy one"));
    assert!(all.running_ns >= busy.running_ns);
    assert_eq!(passed.sum(|name| name == "nobody"), ThreadTimes::default());
    assert!(ProcessThreads::read(u32::MAX).is_err());
}

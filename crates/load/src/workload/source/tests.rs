use super::*;
use proptest::prelude::*;
use words::{MAX_FLOWS, MAX_RATE};

use crate::lane::TAIL;
use crate::lane::latency::merge;

#[test]
fn what_was_never_sent_has_waited_until_the_end() {
    let phase = PhaseCell::default();
    phase.advance(WINDOW);
    let begin = sys::now() + 1;
    std::thread::sleep(std::time::Duration::from_millis(5));
    phase.advance(TAIL);
    // A request each microsecond from the window's opening, none of them sent; checked one
    // second after it closed.
    let end = phase.closed() + 1_000_000_000;
    let mut latencies = Recorder::new(1);
    let unsent = RequestSource::<true>::new(begin, 1_000_000, 0, 1).end(end, &phase, &mut latencies);
    assert_eq!(unsent, (phase.closed() - begin).div_ceil(1000));
    let latency = merge(vec![latencies]).unwrap();
    assert_eq!(latency.count, unsent);
    assert!(latency.min >= 999_000_000 && latency.max >= 1_004_000_000, "{latency:?}");
}

#[test]
fn a_closed_loop_counts_what_lies_in_the_window() {
    let phase = PhaseCell::default();
    let before = sys::now();
    phase.advance(WINDOW);
    let inside = sys::now();
    assert!(
        !RequestSource::<false>::counts(&phase, before - 1) && RequestSource::<false>::counts(&phase, inside)
    );
    phase.advance(TAIL);
    assert!(!RequestSource::<false>::counts(&phase, inside), "it ended too late");
    assert!(RequestSource::<true>::counts(&phase, inside), "it was meant for the window");
}

/// The time of request number `request` of a flow, by the definition.
fn exact(start: u64, rate: u32, flow: usize, flows: usize, request: u64) -> u64 {
    let number = u128::from(request) * flows as u128 + flow as u128;
    start + u64::try_from(number * u128::from(SECOND) / u128::from(rate)).unwrap()
}

fn taken(mut schedule: RequestSource<true>, requests: usize) -> Vec<u64> {
    std::iter::repeat_with(|| {
        let next = schedule.next;
        schedule.sent();
        next
    })
    .take(requests)
    .collect()
}

proptest! {
    #[test]
    fn every_request_has_its_exact_time(
        start in 0u64..1 << 60, rate in 1..=MAX_RATE, flows in 1..=MAX_FLOWS as usize, flow in 0usize..1024,
    ) {
        prop_assume!(flow < flows);
        let times = taken(RequestSource::<true>::new(start, rate, flow, flows), 200);
        for (request, time) in times.iter().enumerate() {
            prop_assert_eq!(*time, exact(start, rate, flow, flows, request as u64));
        }
    }

    #[test]
    fn many_steps_at_once_are_as_many_single_ones(
        rate in 1..=MAX_RATE, flows in 1usize..1024, one in 0usize..500, more in 0usize..500,
    ) {
        let mut schedule = RequestSource::<true>::new(7, rate, 0, flows);
        (0..one).for_each(|_| schedule.sent());
        schedule.advance_by(more as u64);
        prop_assert_eq!(schedule.next, exact(7, rate, 0, flows, (one + more) as u64));
    }

    #[test]
    fn what_is_overdue_is_counted(
        rate in 1..=MAX_RATE, flows in 1usize..64, flow in 0usize..64, taken in 0u64..1000, late in 0u64..1_000_000,
    ) {
        prop_assume!(flow < flows);
        let mut schedule = RequestSource::<true>::new(1000, rate, flow, flows);
        schedule.advance_by(taken);
        let now = schedule.next + late;
        let overdue = schedule.overdue(now);
        if overdue > 0 {
            prop_assert!(exact(1000, rate, flow, flows, taken + overdue - 1) < now);
        }
        prop_assert!(exact(1000, rate, flow, flows, taken + overdue) >= now);
        prop_assert_eq!(schedule.overdue(schedule.next - 1), 0);
    }
}

#[test]
fn the_flows_take_turns_evenly() {
    let mut all: Vec<u64> =
        (0..4).flat_map(|flow| taken(RequestSource::<true>::new(0, 1_000, flow, 4), 250)).collect();
    all.sort_unstable();
    let expected: Vec<u64> = (0..1000).map(|request| request * 1_000_000).collect();
    assert_eq!(all, expected);
}

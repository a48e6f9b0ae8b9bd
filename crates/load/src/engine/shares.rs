//! The number of threads of one end, and the flows of each.

use std::num::NonZero;
use std::ops::Range;
use words::{Direction, MAX_THREADS, Traffic};

/// Up to this many streams have a thread each by default: on one thread, 4 to 64 streams carried a
/// third less over veth with two CPUs (reno, writes of 16 KiB).
const ALONE: u32 = 64;

/// The number of threads of an end with `cpus` CPUs, each way. By default, flows that ask and
/// answer share a thread for each CPU, and so do many streams.
pub(crate) fn threads(traffic: &Traffic, cpus: usize) -> u32 {
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX).max(1);
    match traffic.threads {
        Some(threads) => threads.min(traffic.flows),
        None if traffic.unshareable().is_some() => traffic.flows,
        None if traffic.kind.is_rr() || traffic.flows > ALONE => cpus.min(traffic.flows).min(MAX_THREADS),
        None => traffic.flows,
    }
}

/// The lanes of each thread, in order: neighbours of the same way.
pub(crate) fn shares(traffic: &Traffic, threads: u32) -> impl Iterator<Item = Range<usize>> {
    let (flows, threads) = (traffic.flows as usize, threads as usize);
    let ways = if traffic.direction == Direction::Both { 2 } else { 1 };
    (0..ways).flat_map(move |way| {
        (0..threads)
            .map(move |at| split(flows, threads, at))
            .map(move |share| way * flows + share.start..way * flows + share.end)
    })
}

/// Part number `at` of `all` things in `parts` parts, which differ by at most one.
pub(crate) fn split(all: usize, parts: usize, at: usize) -> Range<usize> {
    at * all / parts..(at + 1) * all / parts
}

/// The CPUs that unpinned threads may use.
pub(crate) fn cpus(pinned: &[u32]) -> usize {
    if pinned.is_empty() {
        std::thread::available_parallelism().map_or(1, NonZero::get)
    } else {
        pinned.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use words::Kind;

    proptest! {
        #[test]
        fn every_lane_has_one_thread_and_every_thread_its_lanes(
            flows in 1u32..5000, threads in 1u32..=MAX_THREADS, both in any::<bool>(), cpus in 0usize..100,
        ) {
            let direction = if both { Direction::Both } else { Direction::Forward };
            let traffic = Traffic { flows, direction, threads: Some(threads), ..Traffic::new(Kind::TcpStream) };
            prop_assert_eq!(super::threads(&traffic, cpus), threads.min(flows));
            let shares: Vec<Range<usize>> = shares(&traffic, threads.min(flows)).collect();
            let mut next = 0;
            for share in &shares {
                prop_assert_eq!(share.start, next);
                prop_assert!(!share.is_empty());
                prop_assert_eq!(traffic.is_forward(share.start), traffic.is_forward(share.end - 1));
                next = share.end;
            }
            prop_assert_eq!(next, traffic.lanes() as usize);
            let sizes = || shares.iter().map(Range::len);
            prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
        }
    }
}

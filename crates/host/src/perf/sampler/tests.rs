use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::perf::{Profile, Symbols};

const NAME: &str = "a_busy_thread_is_in_its_system_call_most_of_the_time";

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn skipped(reason: &str) {
    let must = std::env::var_os("CI").is_some_and(|ci| ci == "true") && nix::unistd::getuid().is_root();
    assert!(!must, "must not be skipped here: {reason}");
    eprintln!("SKIPPED: {NAME}: {reason}");
}

#[test]
fn a_busy_thread_is_in_its_system_call_most_of_the_time() {
    let own = nix::unistd::gettid().as_raw().unsigned_abs();
    let mut sampler = match Sampler::open(250_689) {
        Ok(sampler) => sampler,
        Err(refused) if matches!(refused.errno(), Some(libc::EACCES | libc::EPERM)) => {
            assert!(refused.to_string().contains("CAP_PERFMON"), "{refused}");
            return skipped(&refused.to_string());
        }
        Err(error) => panic!("{error}"),
    };
    let mut zeros = std::fs::File::open("/dev/zero").unwrap();
    let mut room = vec![0; 1 << 18];
    sampler.start().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(400) {
        io::Read::read_exact(&mut zeros, &mut room).unwrap();
    }
    let samples = sampler.stop().unwrap();
    assert!(samples.taken.iter().any(|sample| sample.thread == own), "{samples:?}");
    let symbols = match Symbols::read() {
        Ok(symbols) => symbols,
        Err(hidden) if hidden.errno().is_none() => return skipped(&hidden.to_string()),
        Err(error) => panic!("{error}"),
    };
    let threads = (&[own].into(), &BTreeSet::new());
    let profile = Profile::from_samples(&[samples], &symbols, 250_689, threads, 1.0);
    // Only this thread's samples count, so a busy machine does no harm. The thread fills memory
    // with zeros.
    let inside = profile.folded().filter(|(stack, _)| stack.contains(&"ksys_read"));
    let inside: f64 = inside.map(|(_, cost)| cost).sum();
    assert!(inside * 2.0 > profile.message, "{profile:?}");
    assert!(profile.is_sound(), "{profile:?}");
    // No sample is taken any more.
    assert_eq!(sampler.stop().unwrap(), SampleBatch::default());
}

fn record(kind: u32, words: &[u64]) -> Vec<u8> {
    let len = (HEADER + 8 * words.len()) as u16;
    let mut bytes = [kind.to_ne_bytes().as_slice(), &[0, 0], &len.to_ne_bytes()].concat();
    words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes
}

fn thread(number: u32) -> u64 {
    let [process, thread] = [7u32, number].map(u32::to_ne_bytes);
    u64::from_ne_bytes([process, thread].concat().try_into().unwrap())
}

#[test]
fn marks_and_user_space_are_not_in_a_stack() {
    const CONTEXT_KERNEL: u64 = -128_i64 as u64;
    let inside = record(SAMPLE, &[KERNEL + 5, thread(9), 3, CONTEXT_KERNEL, KERNEL + 5, KERNEL + 1]);
    let outside = record(SAMPLE, &[0x400_000, thread(9), 0]);
    let samples = SampleBatch::parse(&[inside, record(LOST, &[1, 40]), outside].concat());
    let inside = StackSample { thread: 9, stack: vec![KERNEL + 5, KERNEL + 1], user: None };
    let outside = StackSample { thread: 9, stack: Vec::new(), user: Some(0x400_000) };
    assert_eq!(samples, SampleBatch { taken: vec![inside, outside], lost: 40 });
}

proptest! {
    /// Any samples, read again whole; and cut anywhere: those before the cut.
    #[test]
    fn what_is_written_is_read_up_to_where_it_is_cut(
        stacks in prop::collection::vec(prop::collection::vec(KERNEL..MARKS, 1..20), 0..10),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for stack in &stacks {
            let words = [&[stack[0], thread(3), stack.len() as u64], stack.as_slice()].concat();
            bytes.extend(record(SAMPLE, &words));
            ends.push(bytes.len());
        }
        let read = |bytes: &[u8]| -> Vec<Vec<u64>> {
            SampleBatch::parse(bytes).taken.into_iter().map(|sample| sample.stack).collect()
        };
        prop_assert_eq!(read(&bytes), stacks.clone());
        let cut = cut.index(bytes.len() + 1);
        let whole = ends.iter().filter(|end| **end <= cut).count();
        prop_assert_eq!(read(&bytes[..cut]), &stacks[..whole]);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let samples = SampleBatch::parse(&bytes);
        prop_assert!(samples.taken.len() <= bytes.len() / HEADER);
    }
}

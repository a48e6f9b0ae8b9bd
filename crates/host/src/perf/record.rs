//! Records that the kernel writes for samples, as numbers.

/// A sample of a CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StackSample {
    /// The thread that ran, by the kernel's number; 0 if none did.
    pub thread: u32,
    /// The addresses in the kernel: the one that ran, then those to which functions return. None in
    /// user space.
    pub stack: Vec<u64>,
    /// The address in user space, where the thread ran there.
    pub user: Option<u64>,
}

/// Samples in the order in which they were taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleBatch {
    /// The samples for which there was room.
    pub taken: Vec<StackSample>,
    /// The number of samples without room.
    pub lost: u64,
}

// `enum perf_event_type`.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
// Before each record: its kind, flags and length.
const HEADER: usize = 8;
// The begin of the kernel's half of the addresses, and of the marks between the parts of a stack
// (`PERF_CONTEXT_MAX`).
const KERNEL: u64 = 1 << 63;
const MARKS: u64 = -4095_i64 as u64;

impl SampleBatch {
    /// Adds samples of another CPU or a later time.
    pub fn add(&mut self, more: Self) {
        self.taken.extend(more.taken);
        self.lost = self.lost.saturating_add(more.lost);
    }

    /// Reads consecutive records, each sample with address, thread and stack
    /// (`perf_event_open(2)`). An incomplete record ends them.
    pub(crate) fn parse(mut bytes: &[u8]) -> Self {
        let mut samples = Self::default();
        while let Some(header) = bytes.first_chunk::<HEADER>() {
            let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
            let len = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            let Some(body) = bytes.get(HEADER..len) else { break };
            let words: Vec<u64> =
                body.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
            match (kind, words.as_slice()) {
                (SAMPLE, [address, process_and_thread, count, stack @ ..]) => {
                    let stack = &stack[..stack.len().min(usize::try_from(*count).unwrap_or(usize::MAX))];
                    samples.taken.push(StackSample::from_words(*address, *process_and_thread, stack));
                }
                (LOST, [_, lost, ..]) => samples.lost = samples.lost.saturating_add(*lost),
                _ => {}
            }
            bytes = &bytes[len..];
        }
        samples
    }
}

impl StackSample {
    fn from_words(address: u64, process_and_thread: u64, stack: &[u64]) -> Self {
        let is_kernel = |one: &u64| (KERNEL..MARKS).contains(one);
        let mut stack: Vec<u64> = stack.iter().copied().filter(is_kernel).collect();
        if stack.is_empty() {
            stack.extend(Some(address).filter(is_kernel));
        }
        let user = Some(address).filter(|_| stack.is_empty());
        // Process and thread, of 32 bits each in the machine's order.
        let [_, _, _, _, thread @ ..] = process_and_thread.to_ne_bytes();
        Self { thread: u32::from_ne_bytes(thread), stack, user }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
}

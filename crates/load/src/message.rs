//! Messages: bytes on pages of their own, and the numbers of datagrams.

use std::alloc::Layout;
use std::num::NonZero;
use std::ptr::NonNull;

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use serde::{Deserialize, Serialize};

const PAGE: usize = 4096;

/// Bytes on whole pages, so that no message shares a page with other data. All pages are written:
/// an unwritten one is the kernel's zero page, from which copies would be cheaper.
///
/// The pages are mapped by and returned to the kernel: those that it still sends from when the
/// buffer is dropped keep their content until it is done.
pub(crate) struct Buffer {
    start: NonNull<u8>,
    len: usize,
}

impl Buffer {
    /// A message to send: the pattern, of which the other end checks a sample.
    pub(crate) fn pattern(len: usize) -> Self {
        Self::messages(len, 1)
    }

    /// `count` messages in sequence, each with the whole pattern.
    pub(crate) fn messages(len: usize, count: usize) -> Self {
        let mut buffer = Self::filled(len * count);
        for message in buffer.as_mut().chunks_exact_mut(len) {
            for (at, byte) in message.iter_mut().enumerate() {
                *byte = pattern(at);
            }
        }
        buffer
    }

    /// Room to receive into.
    pub(crate) fn room(len: usize) -> Self {
        Self::filled(len)
    }

    /// The address of the bytes, for system calls whose arguments outlive a borrow. It is constant
    /// until the buffer is dropped.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    fn filled(len: usize) -> Self {
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: the kernel chooses the address of a new mapping, which touches no other.
        let pages = unsafe { mmap_anonymous(None, page_bytes(len), access, MapFlags::MAP_PRIVATE) };
        let Ok(start) = pages else {
            let layout = Layout::from_size_align(page_bytes(len).get(), PAGE).unwrap_or(Layout::new::<u8>());
            std::alloc::handle_alloc_error(layout)
        };
        let mut buffer = Self { start: start.cast(), len };
        buffer.as_mut().fill(0xa5);
        buffer
    }
}

/// The bytes of the whole pages that hold `len`.
fn page_bytes(len: usize) -> NonZero<usize> {
    NonZero::new(len.next_multiple_of(PAGE)).unwrap_or(const { NonZero::new(PAGE).unwrap() })
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is this buffer's own, of that length, and no borrow is left.
        let _ = unsafe { munmap(self.start.cast(), page_bytes(self.len).get()) };
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        // Not `from_raw_parts`: in a debug build its checks would be counted as part of each system
        // call, 42 instructions, where instructions are counted.
        let bytes = std::ptr::slice_from_raw_parts(self.start.as_ptr(), self.len);
        // SAFETY: `len` bytes from `start` on are mapped, written, and borrowed no longer than
        // `self`.
        unsafe { &*bytes }
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        let bytes = std::ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.len);
        // SAFETY: as above, and `self` is borrowed by this slice alone.
        unsafe { &mut *bytes }
    }
}

/// Compares `bytes`, from byte number `offset` of the stream on, with the pattern of messages of
/// `message` bytes. Returns the first position that differs.
pub(crate) fn first_damage(bytes: &[u8], offset: u64, message: usize) -> Option<usize> {
    let message = message as u64;
    bytes
        .iter()
        .enumerate()
        .position(|(at, byte)| *byte != pattern(((offset + at as u64) % message) as usize))
}

/// Finds the first difference by comparing with a whole message: faster if there is none.
pub(crate) fn first_difference(bytes: &[u8], offset: u64, message: &[u8]) -> Option<usize> {
    let mut done = 0;
    while done < bytes.len() {
        let at = ((offset + done as u64) % message.len() as u64) as usize;
        let wanted = &message[at..message.len().min(at + bytes.len() - done)];
        let part = &bytes[done..done + wanted.len()];
        if part != wanted {
            let at = first_damage(part, offset + done as u64, message.len()).unwrap_or_default();
            return Some(done + at);
        }
        done += wanted.len();
    }
    None
}

/// Byte number `at` of every message: never zero, and without a short period, so that a shift
/// shows. The factor is 2^32 divided by the golden ratio (Knuth, The Art of Computer Programming 3,
/// section 6.4).
fn pattern(at: usize) -> u8 {
    ((at as u32).wrapping_mul(0x9e37_79b1) >> 24) as u8 | 1
}

/// Counts from the numbers of one flow's received datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Numbers below the highest that never came. Losses after the highest are unknown.
    pub missing: u64,
    /// Datagrams whose number had come before.
    pub duplicates: u64,
    /// Datagrams that came after one with a higher number.
    pub reordered: u64,
}

impl Sequence {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            missing: self.missing.saturating_add(other.missing),
            duplicates: self.duplicates.saturating_add(other.duplicates),
            reordered: self.reordered.saturating_add(other.reordered),
        }
    }
}

/// Which of the latest numbers have come.
pub(crate) struct Window {
    /// The highest number, plus one.
    next: u64,
    arrived: u64,
    duplicates: u64,
    reordered: u64,
    /// Bit `n % SPAN` is number `n`, for the [`SPAN`] numbers below `next`.
    bits: Box<[u64]>,
}

/// The distance within which a duplicate is distinguished from a late number.
const SPAN: u64 = 1 << 16;

impl Default for Window {
    fn default() -> Self {
        let bits = vec![0; (SPAN / 64) as usize].into_boxed_slice();
        Self { next: 0, arrived: 0, duplicates: 0, reordered: 0, bits }
    }
}

impl Window {
    pub(crate) fn record(&mut self, number: u64) {
        if number >= self.next {
            // The numbers between have not come yet; of a gap wider than all bits, only the last
            // span matters.
            for skipped in self.next.max(number.saturating_sub(SPAN - 1))..number {
                self.bits[place(skipped)] &= !bit(skipped);
            }
            // The last number has no successor.
            self.next = number.saturating_add(1);
        } else if self.next - number > SPAN {
            self.reordered += 1;
            self.arrived += 1;
            return;
        } else if self.bits[place(number)] & bit(number) != 0 {
            self.duplicates += 1;
            return;
        } else {
            self.reordered += 1;
        }
        self.bits[place(number)] |= bit(number);
        self.arrived += 1;
    }

    pub(crate) fn sequence(&self) -> Sequence {
        Sequence {
            missing: self.next.saturating_sub(self.arrived),
            duplicates: self.duplicates,
            reordered: self.reordered,
        }
    }
}

fn place(number: u64) -> usize {
    (number % SPAN / 64) as usize
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_of_messages_checks_clean_at_any_offset(
            message in 1usize..5000, offset in 0u64..1 << 40, len in 0usize..10_000,
        ) {
            let buffer = Buffer::pattern(message);
            let stream: Vec<u8> =
                (0..len).map(|at| buffer.as_ref()[((offset + at as u64) % message as u64) as usize]).collect();
            prop_assert_eq!(first_damage(&stream, offset, message), None);
            prop_assert_eq!(first_difference(&stream, offset, buffer.as_ref()), None);
        }

        #[test]
        fn damage_is_found_where_it_is(message in 1usize..5000, at in 0usize..5000, flip in 1u8..) {
            prop_assume!(at < message);
            let (sent, mut buffer) = (Buffer::pattern(message), Buffer::pattern(message));
            buffer.as_mut()[at] ^= flip;
            prop_assert_eq!(first_damage(buffer.as_ref(), 0, message), Some(at));
            prop_assert_eq!(first_difference(buffer.as_ref(), 0, sent.as_ref()), Some(at));
        }
    }

    #[test]
    fn a_shifted_stream_is_damage() {
        let buffer = Buffer::pattern(16384);
        for shift in [1, 64, 256, 1460, 4096, 8192] {
            assert!(first_damage(buffer.as_ref(), shift, 16384).is_some(), "shift by {shift}");
        }
    }

    #[test]
    fn buffers_start_on_a_page() {
        for len in [1, 1472, 16384, 1 << 20] {
            let buffer = Buffer::room(len);
            assert_eq!(buffer.as_ref().len(), len);
            assert_eq!(buffer.as_ref().as_ptr() as usize % PAGE, 0);
            assert!(buffer.as_ref().iter().all(|byte| *byte != 0));
        }
    }

    fn sequence_of(numbers: &[u64]) -> Sequence {
        let mut window = Window::default();
        numbers.iter().for_each(|number| window.record(*number));
        window.sequence()
    }

    #[test]
    fn gaps_duplicates_and_late_ones_are_distinguished() {
        assert_eq!(sequence_of(&[]), Sequence::default());
        assert_eq!(sequence_of(&[0, 1, 2, 3]), Sequence::default());
        assert_eq!(sequence_of(&[0, 3]), Sequence { missing: 2, ..Sequence::default() });
        assert_eq!(sequence_of(&[0, 2, 1]), Sequence { reordered: 1, ..Sequence::default() });
        assert_eq!(sequence_of(&[0, 1, 1, 0]), Sequence { duplicates: 2, ..Sequence::default() });
        assert_eq!(
            sequence_of(&[0, SPAN * 3, SPAN * 3]),
            Sequence { missing: SPAN * 3 - 1, duplicates: 1, reordered: 0 }
        );
        // The oldest number that the window knows, and the one before it.
        assert_eq!(sequence_of(&[0, SPAN - 1, 0]).duplicates, 1);
        assert_eq!(sequence_of(&[0, SPAN, 0]).duplicates, 0);
        assert_eq!(sequence_of(&[u64::MAX, u64::MAX, 0]).missing, u64::MAX - 3);
    }

    proptest! {
        #[test]
        fn within_its_span_a_window_knows_every_number(numbers in prop::collection::vec(0u64..SPAN, 0..300)) {
            let distinct: HashSet<u64> = numbers.iter().copied().collect();
            let highest = numbers.iter().max().map_or(0, |number| number + 1);
            let sequence = sequence_of(&numbers);
            prop_assert_eq!(sequence.missing, highest - distinct.len() as u64);
            prop_assert_eq!(sequence.duplicates, (numbers.len() - distinct.len()) as u64);
        }

        #[test]
        fn whatever_numbers_arrive_are_taken(numbers in prop::collection::vec(any::<u64>(), 0..50)) {
            sequence_of(&numbers);
        }
    }
}

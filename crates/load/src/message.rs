//! Messages: bytes on pages of their own.

use std::alloc::Layout;
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::Arc;

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

const PAGE: usize = 4096;

// On whole pages of its own, all written: an unwritten one is the kernel's zero page, from which
// copies are cheaper. Pages that the kernel still sends from when the buffer is dropped keep their
// content until it is done.
pub(crate) struct Buffer {
    start: NonNull<u8>,
    len: usize,
}

impl Buffer {
    pub(crate) fn pattern(len: usize) -> Self {
        Self::messages(len, 1)
    }

    pub(crate) fn messages(len: usize, count: usize) -> Self {
        let mut buffer = Self::room(len * count);
        let pattern = pattern_bytes(len);
        buffer.as_mut().chunks_exact_mut(len).for_each(|message| message.copy_from_slice(&pattern));
        buffer
    }

    // For system calls whose arguments outlive a borrow; constant until the buffer is dropped.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn room(len: usize) -> Self {
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
        // Not `from_raw_parts`: its debug checks would add 42 instructions to each system call.
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

pub(crate) fn pattern_bytes(len: usize) -> Arc<[u8]> {
    (0..len).map(pattern).collect()
}

/// `offset`: the number of the first byte in a stream of repetitions of the message.
pub(crate) fn first_difference(bytes: &[u8], offset: u64, message: &[u8]) -> Option<usize> {
    let mut done = 0;
    while done < bytes.len() {
        let at = ((offset + done as u64) % message.len() as u64) as usize;
        let wanted = &message[at..message.len().min(at + bytes.len() - done)];
        let part = &bytes[done..done + wanted.len()];
        if part != wanted {
            return part.iter().zip(wanted).position(|(byte, wanted)| byte != wanted).map(|at| done + at);
        }
        done += wanted.len();
    }
    None
}

// Never zero, and without a short period, so that a shift shows. The factor is 2^32 divided by the
// golden ratio (Knuth, The Art of Computer Programming 3, section 6.4).
fn pattern(at: usize) -> u8 {
    ((at as u32).wrapping_mul(0x9e37_79b1) >> 24) as u8 | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_of_messages_checks_clean_at_any_offset(
            message in 1usize..5000, offset in 0u64..1 << 40, len in 0usize..10_000,
        ) {
            let buffer = Buffer::pattern(message);
            let stream: Vec<u8> =
                (0..len).map(|at| buffer.as_ref()[((offset + at as u64) % message as u64) as usize]).collect();
            prop_assert_eq!(first_difference(&stream, offset, buffer.as_ref()), None);
        }

        #[test]
        fn damage_is_found_where_it_is(message in 1usize..5000, at in 0usize..5000, flip in 1u8..) {
            prop_assume!(at < message);
            let (sent, mut buffer) = (Buffer::pattern(message), Buffer::pattern(message));
            buffer.as_mut()[at] ^= flip;
            prop_assert_eq!(first_difference(buffer.as_ref(), 0, sent.as_ref()), Some(at));
        }
    }

    #[test]
    fn a_shifted_stream_is_damage() {
        let buffer = Buffer::pattern(16384);
        for shift in [1, 64, 256, 1460, 4096, 8192] {
            assert!(first_difference(buffer.as_ref(), shift, buffer.as_ref()).is_some(), "shift by {shift}");
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
}

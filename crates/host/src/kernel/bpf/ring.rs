//! Records that programs write and this process reads, in memory that both share.

use std::io;
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use nix::libc::{c_void, off_t};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::unistd::{SysconfVar, sysconf};

use super::map::Map;

/// A map of kind [`super::MapKind::Ring`], and its memory: as `Documentation/bpf/ringbuf.rst`
/// describes it.
#[derive(Debug)]
pub struct Ring {
    /// How far this process has read.
    consumed: Pages,
    /// How far programs have written; behind this page the records, twice in a row, so that none of
    /// them is divided.
    produced: Pages,
    page: usize,
    size: usize,
    _map: Map,
}

/// What a record's first number has beside its length: it is not complete, or is to be skipped.
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
/// What stands in front of a record, in bytes.
const HEADER: usize = 8;

impl Ring {
    /// Shares the memory of a map.
    ///
    /// # Errors
    /// The kernel's error: `EINVAL` or `ENOTSUP` for a map of another kind.
    pub fn of(map: Map) -> io::Result<Self> {
        let page = sysconf(SysconfVar::PAGE_SIZE)?.and_then(|page| usize::try_from(page).ok());
        let page = page.ok_or(io::ErrorKind::Unsupported)?;
        let size = map.entries as usize;
        let consumed = Pages::of(&map, 0, page, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)?;
        let produced = Pages::of(&map, page, page + 2 * size, ProtFlags::PROT_READ)?;
        Ok(Self { consumed, produced, page, size, _map: map })
    }

    /// The records that are complete and were not read before, in their order. Their room is free
    /// again.
    pub fn read(&mut self) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        let end = self.produced.position().load(Ordering::Acquire);
        let mut at = self.consumed.position().load(Ordering::Relaxed);
        while at < end {
            let record = self.page + (at as usize & (self.size - 1));
            let header = self.produced.number(record).load(Ordering::Acquire);
            let len = (header & !(BUSY | DISCARDED)) as usize;
            if header & BUSY != 0 || len > self.size - HEADER {
                break;
            }
            if header & DISCARDED == 0 {
                records.push(self.produced.bytes(record + HEADER, len).to_vec());
            }
            at += (HEADER + len).next_multiple_of(8) as u64;
            self.consumed.position().store(at, Ordering::Release);
        }
        records
    }
}

/// Memory that the kernel shares.
#[derive(Debug)]
struct Pages {
    start: NonNull<c_void>,
    len: NonZero<usize>,
}

impl Pages {
    fn of(map: &Map, from: usize, len: usize, access: ProtFlags) -> io::Result<Self> {
        let len = NonZero::new(len).ok_or(io::ErrorKind::InvalidInput)?;
        let from = off_t::try_from(from).map_err(io::Error::other)?;
        // SAFETY: the kernel chooses the address of a new mapping, which touches no other.
        let start = unsafe { mmap(None, len, access, MapFlags::MAP_SHARED, &map.descriptor, from) }?;
        Ok(Self { start, len })
    }

    /// The number at the beginning.
    fn position(&self) -> &AtomicU64 {
        // SAFETY: a mapping is at least a page and begins at one; the kernel changes this number as
        // an atomic one, and it stays as long as the mapping, which the borrow outlasts.
        unsafe { self.start.cast().as_ref() }
    }

    /// The number at so many bytes, a multiple of 8.
    fn number(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(8) && at + 4 <= self.len.get());
        // SAFETY: it is inside of the mapping and aligned, by the assertion; the rest is as above.
        unsafe { self.start.byte_add(at).cast().as_ref() }
    }

    /// The bytes of a record that is complete.
    fn bytes(&self, at: usize, len: usize) -> &[u8] {
        assert!(at + len <= self.len.get());
        // SAFETY: they are inside of the mapping, by the assertion; the kernel does not write to a
        // complete record until its room is given back, which needs the ring mutably.
        unsafe { std::slice::from_raw_parts(self.start.byte_add(at).cast().as_ptr(), len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is its own, of that length, and no borrow is left.
        let _ = unsafe { munmap(self.start, self.len.get()) };
    }
}

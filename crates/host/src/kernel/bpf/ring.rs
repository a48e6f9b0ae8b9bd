//! Records that programs write and this process reads, in memory that both share.

use std::io;
use std::sync::atomic::Ordering;

use nix::sys::mman::ProtFlags;

use super::map::Map;
use crate::kernel::pages::{Pages, page_size};

/// A map of kind [`super::MapKind::Ring`], and its memory: as `Documentation/bpf/ringbuf.rst`
/// describes it.
#[derive(Debug)]
pub struct Ring {
    /// The position up to which this process has read.
    consumed: Pages,
    /// The position up to which programs have written; behind this page the records, mapped twice
    /// in a row, so that none of them is divided.
    produced: Pages,
    page: usize,
    size: usize,
    _map: Map,
}

// The flags beside the length in a record's first number: it is not complete, or is to be skipped.
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
// The length of a record's header, in bytes.
const HEADER: usize = 8;

impl Ring {
    /// Shares the memory of a map.
    ///
    /// # Errors
    /// The kernel's error: `EINVAL` or `ENOTSUP` for a map of another kind.
    pub fn new(map: Map) -> io::Result<Self> {
        let page = page_size()?;
        let size = map.entries as usize;
        let consumed = Pages::map(&map.descriptor, 0, page, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)?;
        let produced = Pages::map(&map.descriptor, page, page + 2 * size, ProtFlags::PROT_READ)?;
        Ok(Self { consumed, produced, page, size, _map: map })
    }

    /// The complete records that were not read before, in their order. Their room is free again.
    pub fn read(&mut self) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        let end = self.produced.position(0).load(Ordering::Acquire);
        let mut at = self.consumed.position(0).load(Ordering::Relaxed);
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
            self.consumed.position(0).store(at, Ordering::Release);
        }
        records
    }
}

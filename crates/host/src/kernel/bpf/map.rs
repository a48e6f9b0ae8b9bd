//! Numbers and records that programs share with this process.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;

use nix::sys::mman::ProtFlags;
use words::parse_cpu_list;

use super::{BpfCommand, call, made};
use crate::kernel::pages::{Pages, page_size};

/// The kind of a map: `enum bpf_map_type` (`include/uapi/linux/bpf.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of its variants say it")]
pub enum MapKind {
    Hash = 1,
    Array = 2,
    /// Values by their index, of each CPU its own.
    ArrayByCpu = 6,
    /// Records in the order of writing; `entries`: bytes, a power of two of at least a page.
    Ring = 27,
}

impl MapKind {
    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Hash, Self::Array, Self::ArrayByCpu, Self::Ring];
        all.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// A map. The kernel removes it when neither a process nor a program holds it.
#[derive(Debug)]
pub struct Map {
    descriptor: OwnedFd,
    kind: MapKind,
    key: usize,
    value: usize,
    entries: u32,
}

impl Map {
    /// Makes a map for this many `entries`, with keys and values of these lengths in bytes.
    ///
    /// # Errors
    /// The kernel's error: `EPERM` without the privilege, `ENOMEM`, `EINVAL` for sizes of zero.
    pub fn new(kind: MapKind, key: usize, value: usize, entries: u32) -> io::Result<Self> {
        // The type, the sizes of key and value, the most entries, flags.
        let attributes = [kind as u32, key as u32, value as u32, entries, 0];
        // SAFETY: these attributes hold no address.
        let descriptor = unsafe { made(BpfCommand::CreateMap, &attributes) }?;
        Ok(Self { descriptor, kind, key, value, entries })
    }

    /// The number of its descriptor, which instructions name.
    pub fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// The bytes of a value; for a map by CPU the values of all CPUs in order, each at a multiple
    /// of eight bytes.
    ///
    /// # Errors
    /// The kernel's error: `ENOENT` for a key that is not there.
    ///
    /// # Panics
    /// If the key has another length than the map's.
    pub fn read(&self, key: &[u8]) -> io::Result<Vec<u8>> {
        let mut value = vec![0; self.stride() * self.copies()?];
        self.element(BpfCommand::LookUp, key, &mut value)?;
        Ok(value)
    }

    /// Writes a value; not to a map by CPU.
    ///
    /// # Errors
    /// The kernel's error: `E2BIG` if a map of kind hash is full.
    ///
    /// # Panics
    /// If key or value have another length than the map's.
    pub fn write(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        assert!(self.kind != MapKind::ArrayByCpu && value.len() == self.value);
        self.element(BpfCommand::Update, key, &mut value.to_vec())
    }

    /// Makes a value zero; in a map by CPU the value of each CPU.
    ///
    /// # Panics
    /// If the key has another length than the map's.
    pub fn clear(&self, key: &[u8]) -> io::Result<()> {
        self.element(BpfCommand::Update, key, &mut vec![0; self.stride() * self.copies()?])
    }

    /// The bytes from one CPU's value to the next.
    pub fn stride(&self) -> usize {
        if self.kind == MapKind::ArrayByCpu { self.value.next_multiple_of(8) } else { self.value }
    }

    fn copies(&self) -> io::Result<usize> {
        if self.kind != MapKind::ArrayByCpu {
            return Ok(1);
        }
        // The kernel copies a value for each possible CPU, also for those that are offline.
        let list = std::fs::read_to_string("/sys/devices/system/cpu/possible")?;
        let cpus = parse_cpu_list(list.trim()).map_err(io::Error::other)?;
        Ok(cpus.last().map_or(0, |last| *last as usize + 1))
    }

    fn element(&self, command: BpfCommand, key: &[u8], value: &mut [u8]) -> io::Result<()> {
        assert_eq!(key.len(), self.key);
        let attributes = ElementAttributes {
            map: self.descriptor.as_raw_fd().unsigned_abs(),
            key: key.as_ptr() as u64,
            value: value.as_mut_ptr() as u64,
            ..ElementAttributes::default()
        };
        // SAFETY: the kernel reads `key_size` bytes behind `key`, as the assertion says, and reads
        // or writes the value behind `value`: its size, and for a map by CPU that of all possible
        // CPUs, as `read` makes room for. Both live until the call returns.
        unsafe { call(command, &attributes) }.map(drop)
    }
}

#[repr(C)]
#[derive(Debug, Default)]
struct ElementAttributes {
    map: u32,
    _padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The memory of a map of kind [`MapKind::Ring`] (`Documentation/bpf/ringbuf.rst`).
#[derive(Debug)]
pub struct Ring {
    consumed: Pages,
    /// The programs' position; behind this page the records, mapped twice so that none is divided.
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
        // The kernel raises its position before a record is complete: the header tells that.
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
            // From now on the kernel may write over the record, whose bytes were copied.
            self.consumed.position(0).store(at, Ordering::Release);
        }
        records
    }
}

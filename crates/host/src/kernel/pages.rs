//! Memory that the kernel shares with this process.

use std::io;
use std::num::NonZero;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use nix::libc::{c_void, off_t};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::unistd::{SysconfVar, sysconf};

#[derive(Debug)]
pub(crate) struct Pages {
    start: NonNull<c_void>,
    len: NonZero<usize>,
}

pub(crate) fn page_size() -> io::Result<usize> {
    let page = sysconf(SysconfVar::PAGE_SIZE)?.and_then(|page| usize::try_from(page).ok());
    Ok(page.ok_or(io::ErrorKind::Unsupported)?)
}

impl Pages {
    pub(crate) fn map(descriptor: impl AsFd, from: usize, len: usize, access: ProtFlags) -> io::Result<Self> {
        let len = NonZero::new(len).ok_or(io::ErrorKind::InvalidInput)?;
        let from = off_t::try_from(from).map_err(io::Error::other)?;
        // SAFETY: the kernel chooses the address of a new mapping, which touches no other.
        let start = unsafe { mmap(None, len, access, MapFlags::MAP_SHARED, descriptor, from) }?;
        Ok(Self { start, len })
    }

    /// The position at this offset in bytes, a multiple of 8.
    pub(crate) fn position(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.len.get());
        // SAFETY: it is inside of the mapping and aligned, by the assertion; the kernel changes
        // this number as an atomic one, and it stays as long as the mapping, which outlasts the
        // borrow.
        unsafe { self.start.byte_add(at).cast().as_ref() }
    }

    pub(crate) fn number(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(8) && at + 4 <= self.len.get());
        // SAFETY: it is inside of the mapping and aligned, by the assertion; the rest is as above.
        unsafe { self.start.byte_add(at).cast().as_ref() }
    }

    /// Bytes that the kernel does not write as long as they are borrowed: those of a complete
    /// record whose room was not given back, which needs the ring mutably.
    pub(crate) fn bytes(&self, at: usize, len: usize) -> &[u8] {
        assert!(at + len <= self.len.get());
        // SAFETY: they are inside of the mapping, by the assertion; the kernel does not write to
        // them, by what the caller asks for.
        unsafe { std::slice::from_raw_parts(self.start.byte_add(at).cast().as_ptr(), len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is its own, of that length, and no borrow is left.
        let _ = unsafe { munmap(self.start, self.len.get()) };
    }
}

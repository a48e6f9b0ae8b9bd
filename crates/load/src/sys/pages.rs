//! Pages of memory, and the system calls that hand over pages instead of bytes.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, RawFd};
use std::ptr::NonNull;

use super::check;

/// Memory of the process's own, `len` bytes on whole pages; `None` if there is none left.
pub(crate) fn map_pages(len: usize) -> Option<NonNull<u8>> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: the kernel chooses the place of a new mapping, which touches nothing that is there.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

/// Gives back what [`map_pages`] gave.
///
/// # Safety
/// `start` and `len` are those of one mapping, and nobody uses it any more.
pub(crate) unsafe fn unmap_pages(start: NonNull<u8>, len: usize) {
    // SAFETY: the caller's word. Unmapping a mapping that is there cannot fail.
    unsafe { libc::munmap(start.as_ptr().cast(), len) };
}

/// Sends from a file. Returns bytes, with `offset` moved on by them, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn send_file(fd: RawFd, from: RawFd, offset: &mut libc::off_t, len: usize) -> isize {
    // SAFETY: `offset` is borrowed; the rest are numbers.
    unsafe { libc::syscall(libc::SYS_sendfile, fd, from, &raw mut *offset, len) as isize }
}

/// Gives pages to a pipe, which refers to them. Returns bytes, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn give_pages(pipe: RawFd, bytes: &[u8]) -> isize {
    let place = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: `place` is that of `bytes`; the kernel only reads from its pages, and holds them as
    // long as it does.
    unsafe { libc::syscall(libc::SYS_vmsplice, pipe, &raw const place, 1, 0) as isize }
}

/// Moves what is in a pipe to a socket. Returns bytes, or -1 with `errno` set.
#[inline(always)]
pub(crate) fn splice(pipe: RawFd, fd: RawFd, len: usize) -> isize {
    let none = std::ptr::null::<libc::off64_t>();
    // SAFETY: null stands for no offset, of which neither has one; the rest are numbers.
    unsafe { libc::syscall(libc::SYS_splice, pipe, none, fd, none, len, 0) as isize }
}

/// Makes a pipe hold `bytes`, or leaves it as it is.
pub(crate) fn size_pipe(pipe: RawFd, bytes: usize) {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: the call takes numbers.
    unsafe { libc::fcntl(pipe, libc::F_SETPIPE_SZ, bytes) };
}

/// A file without a name, in memory only.
pub(crate) fn memory_file(name: &CStr) -> io::Result<File> {
    // SAFETY: `name` ends with a zero and outlives the call.
    let fd = check(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) })?;
    // SAFETY: a descriptor just opened, which nobody else knows.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Keeps `SIGPIPE` from the calling thread: the error of the call says the same.
pub(crate) fn block_pipe_signal() {
    // SAFETY: zeros are a set of signals; the calls write to it, and read it, while it is there.
    unsafe {
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut());
    }
}

//! System calls with message headers: for many messages, or for ancillary data.

use std::os::fd::RawFd;

/// Sends many datagrams. Returns how many the kernel accepted, or -1 with `errno` set.
///
/// # Safety
/// The memory that the headers point to is valid during the call.
#[inline(always)]
pub(crate) unsafe fn send_many(fd: RawFd, headers: &mut [libc::mmsghdr]) -> isize {
    // SAFETY: pointer and length are those of `headers`; the caller guarantees the rest.
    unsafe {
        libc::syscall(libc::SYS_sendmmsg, fd, headers.as_mut_ptr(), headers.len(), libc::MSG_NOSIGNAL)
            as isize
    }
}

/// Receives a message with its ancillary data. Returns bytes, or -1 with `errno` set.
///
/// # Safety
/// The memory that the header points to is valid and writable during the call.
#[inline(always)]
pub(crate) unsafe fn receive_message(fd: RawFd, header: &mut libc::msghdr, flags: libc::c_int) -> isize {
    // SAFETY: the header is borrowed; the caller guarantees the rest.
    unsafe { libc::syscall(libc::SYS_recvmsg, fd, &raw mut *header, flags) as isize }
}

/// An empty message header.
pub(crate) fn no_message() -> libc::msghdr {
    // SAFETY: zeros are null pointers and lengths of 0, and its padding.
    unsafe { std::mem::zeroed() }
}

/// A header for the message at each place.
pub(crate) fn headers_of(places: &mut [libc::iovec]) -> Vec<libc::mmsghdr> {
    let header = |place: &mut libc::iovec| {
        let mut header = no_message();
        header.msg_iov = &raw mut *place;
        header.msg_iovlen = 1;
        libc::mmsghdr { msg_hdr: header, msg_len: 0 }
    };
    places.iter_mut().map(header).collect()
}

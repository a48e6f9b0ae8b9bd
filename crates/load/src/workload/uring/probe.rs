//! Whether this kernel has the rings that a workload needs, found by trying.

use std::os::fd::{AsRawFd, RawFd};

use io_uring::types::BufRingEntry;
use io_uring::{IoUring, opcode, squeue};
use socket2::Socket;

use super::{REPORT_USAGE, SOCKET, build};
use words::{Reader, Sender, Traffic};

use crate::error::Errno;
use crate::message::Buffer;

/// The missing requirement, in words. `socket` is an unconnected one of the traffic's kind; nothing
/// is sent.
pub(crate) fn lacking(traffic: &Traffic, socket: &Socket) -> Option<String> {
    let sends = matches!(traffic.sender, Sender::IoUring | Sender::IoUringZerocopy);
    let takes = traffic.reader == Reader::IoUring;
    if !sends && !takes {
        return None;
    }
    let ring = match open(socket.as_raw_fd()) {
        Ok(ring) => ring,
        Err(error) => return Some(no_ring(&error)),
    };
    if traffic.sender == Sender::IoUringZerocopy
        && let Some(missing) = no_zerocopy(&ring, traffic.message as usize)
    {
        return Some(missing);
    }
    let send = opcode::SendZc::new(SOCKET, std::ptr::null(), 0).zc_flags(REPORT_USAGE).build();
    // A destination in a request came (6.1) shortly before this flag (6.2), which can be tried
    // without sending.
    let needs_flag = traffic.sender == Sender::IoUringZerocopy || (sends && !traffic.connected);
    if needs_flag && refuses(ring, &send) {
        return Some(format!(
            "sender {} not supported for unconnected sockets or without copying: it needs Linux 6.2",
            traffic.sender
        ));
    }
    if takes { no_multishot(socket.as_raw_fd()) } else { None }
}

fn open(fd: RawFd) -> std::io::Result<IoUring> {
    let ring = build(8, 16)?;
    ring.submitter().register_files(&[fd])?;
    Ok(ring)
}

fn no_ring(error: &std::io::Error) -> String {
    let errno = Errno::from_error(error);
    match errno.0 {
        libc::ENOSYS => format!("io_uring not supported: this kernel was built without it ({errno})"),
        libc::EPERM | libc::EACCES => {
            let setting = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
            let setting = setting.map_or_else(|_| "absent".to_owned(), |text| text.trim().to_owned());
            format!(
                "io_uring not permitted ({errno}): the sysctl kernel.io_uring_disabled is {setting}, and 0 permits it; a \
                 container may forbid it as well"
            )
        }
        _ => format!("io_uring not available: {errno}"),
    }
}

fn no_zerocopy(ring: &IoUring, message: usize) -> Option<String> {
    let buffer = Buffer::room(message);
    let place = libc::iovec { iov_base: buffer.start().cast(), iov_len: message };
    // SAFETY: the buffer exists until the memory is unregistered, right below.
    let registered = unsafe { ring.submitter().register_buffers(&[place]) };
    match registered.and_then(|()| ring.submitter().unregister_buffers()) {
        Ok(()) => None,
        Err(error) => Some(format!(
            "io_uring cannot register the memory that it sends from ({}): raise the limit of locked memory (`ulimit -l`)",
            Errno::from_error(&error)
        )),
    }
}

/// A multishot receive needs a group of buffers (5.19) and the request (6.0).
fn no_multishot(fd: RawFd) -> Option<String> {
    let ring = match open(fd) {
        Ok(ring) => ring,
        Err(error) => return Some(no_ring(&error)),
    };
    let mut entries = Buffer::room(size_of::<BufRingEntry>());
    entries.as_mut().fill(0);
    // SAFETY: the entries lie on a page that is dropped after the ring, which `refuses` takes.
    let registered =
        unsafe { ring.submitter().register_buf_ring_with_flags(entries.start() as u64, 1, 0, 0) };
    if let Err(error) = registered {
        return Some(format!(
            "buffers for io_uring to receive into not supported ({}): it needs Linux 5.19",
            Errno::from_error(&error)
        ));
    }
    let receive = opcode::RecvMulti::new(SOCKET, 0).build();
    refuses(ring, &receive)
        .then(|| "multishot receive of io_uring not supported: it needs Linux 6.0".to_owned())
}

/// Whether the kernel does not know such a request. A known one fails for other reasons, or waits
/// for data.
fn refuses(mut ring: IoUring, request: &squeue::Entry) -> bool {
    // SAFETY: requests here point to nothing, or to memory that is dropped after the ring; there is
    // room for one.
    let pushed = unsafe { ring.submission().push(request) };
    let entered = ring.submit();
    let result = ring.completion().next().map_or(0, |completion| completion.result());
    pushed.is_err() || entered.is_err() || matches!(-result, libc::EINVAL | libc::EOPNOTSUPP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Type};
    use words::Kind;

    /// Forbids rings to the calling thread, as containers do (seccomp(2)).
    fn forbid_rings() {
        const NUMBER: u32 = 0;
        let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
        let mut steps = [
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, NUMBER),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: numbers, and a program that is valid during the call. It holds for this thread
        // only.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        assert_eq!(done, 0);
    }

    #[test]
    fn forbidden_rings_are_reported_with_the_setting_that_allows_them() {
        let words = std::thread::spawn(|| {
            forbid_rings();
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
            let traffic = Traffic { sender: Sender::IoUring, ..Traffic::new(Kind::UdpStream) };
            lacking(&traffic, &socket)
        });
        let words = words.join().unwrap().unwrap();
        assert!(words.contains("not permitted") && words.contains("kernel.io_uring_disabled is"), "{words}");
    }

    #[test]
    fn a_request_that_no_kernel_knows_is_refused() {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        let unknown = opcode::SendZc::new(SOCKET, std::ptr::null(), 0).zc_flags(1 << 15).build();
        assert!(refuses(open(socket.as_raw_fd()).unwrap(), &unknown));
        let known = opcode::SendZc::new(SOCKET, std::ptr::null(), 0).zc_flags(REPORT_USAGE).build();
        assert!(!refuses(open(socket.as_raw_fd()).unwrap(), &known));
    }
}

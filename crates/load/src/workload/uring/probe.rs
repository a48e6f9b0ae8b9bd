//! Whether this kernel has the rings that a workload needs, found by trying.

use std::os::fd::{AsRawFd, RawFd};

use io_uring::{IoUring, opcode, squeue};
use socket2::Socket;

use super::{SOCKET, build};
use words::{Sender, Traffic};

use crate::error::Errno;

/// `IORING_SEND_ZC_REPORT_USAGE` of linux/io_uring.h. It came (6.2) shortly after a destination in
/// a request (6.1), and can be tried without sending.
const REPORT_USAGE: u16 = 1 << 3;

/// The missing requirement, in words. `socket` is an unconnected one of the traffic's kind; nothing
/// is sent.
pub(crate) fn lacking(traffic: &Traffic, socket: &Socket) -> Option<String> {
    if traffic.sender != Sender::IoUring {
        return None;
    }
    let ring = match open(socket.as_raw_fd()) {
        Ok(ring) => ring,
        Err(error) => return Some(no_ring(&error)),
    };
    let newer = opcode::SendZc::new(SOCKET, std::ptr::null(), 0).zc_flags(REPORT_USAGE).build();
    (!traffic.connected && refuses(ring, &newer))
        .then(|| "sender io_uring not supported for unconnected sockets: it needs Linux 6.2".to_owned())
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

/// Whether the kernel does not know such a request. A known one fails for other reasons.
fn refuses(mut ring: IoUring, request: &squeue::Entry) -> bool {
    // SAFETY: requests here point to nothing, and there is room for one.
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

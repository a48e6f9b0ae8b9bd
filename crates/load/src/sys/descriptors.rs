//! Tables of open files.

use std::os::fd::RawFd;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Gives the calling thread a descriptor table of its own with `fds` and the standard streams only.
///
/// With a shared table every call on a descriptor takes and drops a reference to its file, two
/// atomic operations; with its own it takes none. A failure only costs speed.
pub(crate) fn own_descriptors(fds: impl Iterator<Item = RawFd>) {
    let mut kept: Vec<u32> = fds.filter_map(|fd| u32::try_from(fd).ok()).collect();
    kept.sort_unstable();
    let Some(last) = kept.last() else { return };
    let close_range = |first: u32, last: u32, flags: libc::c_uint| {
        // SAFETY: `close_range` takes three numbers. The first call unshares the table before it
        // closes, so nobody else loses a descriptor; the others run only if that succeeded. This
        // thread owns no other descriptor.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) == 0 }
    };
    if close_range(last + 1, u32::MAX, libc::CLOSE_RANGE_UNSHARE) {
        let mut next = 3;
        for fd in kept {
            if fd > next {
                close_range(next, fd - 1, 0);
            }
            next = next.max(fd + 1);
        }
    }
}

/// Raises the limit of open files by `more`, as far as the hard limit or a privilege allows.
pub(crate) fn make_room_for_descriptors(more: u64) {
    // Open files of our process beside its flows, generously.
    const OTHERS: u64 = 256;
    let wanted = more + OTHERS;
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let set = |soft: u64, hard: u64| setrlimit(Resource::RLIMIT_NOFILE, soft, hard).is_ok();
    // Beyond the hard limit only with a privilege (CAP_SYS_RESOURCE), and up to the sysctl
    // fs.nr_open. Opening the sockets reports a failure.
    if soft < wanted && (wanted <= hard || !set(wanted, wanted)) {
        set(wanted.min(hard), hard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn own_descriptors_closes_only_this_threads() {
        let kept = std::fs::File::open("/proc/self/stat").unwrap();
        let other = std::fs::File::open("/proc/self/stat").unwrap();
        let far = std::fs::File::open("/proc/self/stat").unwrap();
        let (kept_fd, other_fd, far_fd) = (kept.as_raw_fd(), other.as_raw_fd(), far.as_raw_fd());
        let open = move |fd: RawFd| {
            // SAFETY: F_GETFD only asks whether the number is an open descriptor.
            unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
        };
        let seen = std::thread::spawn(move || {
            own_descriptors([kept_fd, far_fd].into_iter());
            (open(kept_fd), open(other_fd), open(far_fd))
        });
        assert_eq!(seen.join().unwrap(), (true, false, true));
        assert!(open(kept_fd) && open(other_fd));
    }
}

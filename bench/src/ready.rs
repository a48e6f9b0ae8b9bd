//! Waiting for the first of several descriptors.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::failure::Failure;

/// Waits until one of the descriptors can be read or has lost its other end, and says which; `None`
/// after `patience`.
pub(crate) fn first(of: &[BorrowedFd<'_>], patience: Duration) -> Result<Option<usize>, Failure> {
    let deadline = Instant::now() + patience;
    loop {
        let mut watched: Vec<PollFd<'_>> = of.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
        let left = deadline.saturating_duration_since(Instant::now());
        match ppoll(&mut watched, Some(TimeSpec::from(left)), None) {
            Ok(0) if left.is_zero() => return Ok(None),
            Ok(_) => {
                let ready = watched.iter().position(|fd| fd.any().unwrap_or(true));
                if ready.is_some() {
                    return Ok(ready);
                }
            }
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(Failure::io("cannot wait")(errno.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

    #[test]
    fn the_first_that_is_ready_is_named() {
        let (quiet, _keep) = std::io::pipe().unwrap();
        let (busy, mut writer) = std::io::pipe().unwrap();
        let both = [quiet.as_fd(), busy.as_fd()];
        assert_eq!(first(&both, Duration::from_millis(2)).unwrap(), None);
        writer.write_all(b"x").unwrap();
        assert_eq!(first(&both, Duration::from_secs(10)).unwrap(), Some(1));
    }

    #[test]
    fn a_closed_end_is_ready() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(writer);
        assert_eq!(first(&[reader.as_fd()], Duration::from_secs(10)).unwrap(), Some(0));
    }
}

//! A wait for the end of a lease.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Waits until standard input ends, or no byte has come for the time of the lease.
///
/// # Errors
/// Standard input cannot be read.
pub fn hold(lease: Duration) -> io::Result<()> {
    let input = io::stdin();
    let patience = PollTimeout::try_from(lease.as_millis()).unwrap_or(PollTimeout::MAX);
    let mut piece = [0; 1024];
    loop {
        match poll(&mut [PollFd::new(input.as_fd(), PollFlags::POLLIN)], patience) {
            Ok(0) => return Ok(()),
            Err(Errno::EINTR) => continue,
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        match nix::unistd::read(&input, &mut piece) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

//! The end of a lease: no sign of life of the controller has come in time.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

// The time in which signs of life that have reached a machine reach the waiting process.
const DELIVERY: Duration = Duration::from_secs(1);

/// The two waits that make up a lease. A machine that was paused or starved wakes with the first
/// wait expired and the signs of life in sshd's socket: they arrive during the second wait.
pub(crate) fn waits(lease: Duration) -> [Duration; 2] {
    let last = DELIVERY.min(lease / 2);
    [lease - last, last]
}

/// Waits until standard input ends, or no byte has come for the time of the lease.
pub fn await_lease_end(lease: Duration) -> io::Result<()> {
    let input = io::stdin();
    let wait = |time: Duration| {
        let time = PollTimeout::try_from(time.as_millis()).unwrap_or(PollTimeout::MAX);
        poll(&mut [PollFd::new(input.as_fd(), PollFlags::POLLIN)], time)
    };
    let [first, last] = waits(lease);
    let mut piece = [0; 1024];
    loop {
        let ready = match wait(first) {
            Ok(0) => wait(last),
            ready => ready,
        };
        match ready {
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    use std::thread::sleep;

    use super::*;

    const LEASE: Duration = Duration::from_millis(600);
    const TEST: &str =
        "lease::tests::a_machine_that_was_paused_for_longer_than_the_lease_waits_for_what_has_arrived";
    const HOLDS: &str = "NETASSAY_TEST_HOLDS";

    #[test]
    fn a_machine_that_was_paused_for_longer_than_the_lease_waits_for_what_has_arrived() {
        if std::env::var_os(HOLDS).is_some() {
            return await_lease_end(LEASE).unwrap();
        }
        let mut holders = [true, false].map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", TEST]).env(HOLDS, "1");
            command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
        });
        let signal = |signal: &str| {
            let numbers = holders.each_ref().map(|holder| holder.id().to_string());
            assert!(Command::new("kill").arg(signal).args(numbers).status().unwrap().success());
        };
        sleep(LEASE / 3);
        signal("-STOP");
        sleep(LEASE * 3 / 2);
        signal("-CONT");
        // sshd was paused too: it has a sign for one of them.
        sleep(LEASE / 10);
        holders[0].stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        sleep(LEASE * 2 / 3);
        assert_eq!(holders.each_mut().map(|holder| holder.try_wait().unwrap().is_some()), [false, true]);
        // The end of its input.
        assert!(holders[0].wait().unwrap().success());
    }
}

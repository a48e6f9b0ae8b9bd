//! Clocks that can be read across processes.

use std::time::Duration;

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use crate::failure::Failure;

/// `CLOCK_MONOTONIC`: the same in every process of this machine.
pub(crate) fn monotonic() -> Result<Duration, Failure> {
    read(ClockId::CLOCK_MONOTONIC, "the monotonic clock")
}

/// CPU time that all threads of a process have used, those that have ended included, exact to the
/// nanosecond.
pub(crate) fn cpu_time(process: u32) -> Result<Duration, Failure> {
    let what = format!("the CPU clock of process {process}");
    let clock = clock_getcpuclockid(pid(process)).map_err(|errno| cannot(&what, errno))?;
    read(clock, &what)
}

/// The kernel's limit for process numbers on 64-bit machines (`PID_MAX_LIMIT`): no process has it,
/// or one beyond.
const NOBODY: i32 = 1 << 22;

/// A process number as the kernel takes it. Numbers that no process can have are those of nobody: a
/// clock's number holds only 29 bits of them.
pub(crate) fn pid(process: u32) -> Pid {
    Pid::from_raw(i32::try_from(process).unwrap_or(NOBODY).min(NOBODY))
}

fn read(clock: ClockId, what: &str) -> Result<Duration, Failure> {
    clock_gettime(clock).map(Duration::from).map_err(|errno| cannot(what, errno))
}

fn cannot(what: &str, errno: nix::errno::Errno) -> Failure {
    Failure::Io { doing: format!("cannot read {what}"), source: errno.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_on_the_clock_of_its_process() {
        let me = std::process::id();
        let (start, from) = (cpu_time(me).unwrap(), monotonic().unwrap());
        let mut sum = 0u64;
        while cpu_time(me).unwrap() < start + Duration::from_millis(5) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(monotonic().unwrap() > from);
        assert!(cpu_time(u32::MAX).is_err());
    }
}

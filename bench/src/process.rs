//! Child processes: none outlives the bench, and what one took is known at its end.

use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use nix::sys::prctl;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use serde::Serialize;

use crate::failure::Failure;

/// Killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Owned(pub(crate) Child);

impl Owned {
    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.0.try_wait().map_err(Failure::io("cannot wait for a program"))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // Both fail only when it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has the kernel kill what is started when the thread that started it ends, however it ends.
pub(crate) fn dies_with_its_starter(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec this makes one system call and touches no memory.
    unsafe { command.pre_exec(|| prctl::set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from)) }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Timed {
    /// From before the start until it was reaped, in ms.
    pub(crate) wall_ms: f64,
    /// Its largest resident size, in MiB. Never below [`own_peak_mib`]: the kernel counts what the
    /// process was before it became the program.
    pub(crate) peak_mib: f64,
}

/// Runs a program that must succeed; what it took, and its standard output.
pub(crate) fn timed(
    program: &Path,
    arguments: &[&str],
    directory: &Path,
) -> Result<(Timed, Vec<u8>), Failure> {
    let name = || format!("{} {}", program.display(), arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut output = Vec::new();
    let start = Instant::now();
    let mut child = command.spawn().map_err(Failure::io(format!("cannot start {}", name())))?;
    let read = child.stdout.take().map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut output));
    let (status, peak) = reap(child).map_err(Failure::io(format!("cannot wait for {}", name())))?;
    let wall_ms = start.elapsed().as_secs_f64() * 1e3;
    read.map_err(Failure::io(format!("cannot read what {} says", name())))?;
    if !status.success() {
        return Err(Failure::Environment(format!("{} failed ({status})", name())));
    }
    Ok((Timed { wall_ms, peak_mib: mib(peak) }, output))
}

/// The largest resident size of this process so far, in MiB.
pub(crate) fn own_peak_mib() -> f64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0.0, |usage| mib(usage.max_rss()))
}

/// The kernel counts in KiB (getrusage(2)).
fn mib(kib: i64) -> f64 {
    kib as f64 / 1024.0
}

/// Waits for a child's end, and says how large it was, in KiB. It must not be waited for again,
/// which is why it is taken away.
fn reap(child: Child) -> io::Result<(ExitStatus, i64)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: the kernel writes an int and a rusage, and that is where the pointers lead.
        let reaped = unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, 0, usage.as_mut_ptr()) };
        if reaped >= 0 {
            // SAFETY: a rusage is made of integers, for which zeros are a value.
            return Ok((ExitStatus::from_raw(status), unsafe { usage.assume_init() }.ru_maxrss));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_time_and_memory_are_measured() {
        let (shell, here) = (Path::new("/bin/sh"), Path::new("/"));
        let (took, output) = timed(shell, &["-c", "pwd; sleep 0.02"], here).unwrap();
        assert_eq!(output, b"/\n");
        assert!(took.wall_ms >= 20.0 && took.peak_mib > 0.1, "{took:?}");
        let error = timed(shell, &["-c", "exit 3"], here).unwrap_err();
        assert!(error.to_string().contains("exit 3 failed"), "{error}");
        assert!(timed(Path::new("/no/such"), &[], here).is_err());
        assert!(own_peak_mib() > 0.1);
    }
}

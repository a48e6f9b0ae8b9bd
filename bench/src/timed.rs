//! A program run to its end: how long it took and how much memory.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;
use std::{mem, os::unix::process::ExitStatusExt as _};

use serde::Serialize;

use crate::failure::Failure;

/// What a program took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Timed {
    /// From before the start until it was reaped, in ms.
    pub(crate) wall_ms: f64,
    /// CPU time of all its threads, the kernel's work for it included, in ms.
    pub(crate) cpu_ms: f64,
    /// Its largest resident size, in MiB. Never below [`own_peak_mib`]: the kernel counts what the
    /// process was before it became the program.
    pub(crate) peak_mib: f64,
}

/// Runs a program that must succeed, its standard output being the second of the results.
pub(crate) fn run(program: &Path, arguments: &[&str], directory: &Path) -> Result<(Timed, Vec<u8>), Failure> {
    let name = || format!("{} {}", program.display(), arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut output = Vec::new();
    let start = Instant::now();
    let mut child = command.spawn().map_err(Failure::io(format!("cannot start {}", name())))?;
    let read = child.stdout.take().map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut output));
    let (status, usage) = reap(child).map_err(Failure::io(format!("cannot wait for {}", name())))?;
    let wall = start.elapsed();
    read.map_err(Failure::io(format!("cannot read what {} says", name())))?;
    if !status.success() {
        return Err(Failure::Environment(format!("{} failed ({status})", name())));
    }
    let ms = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    let timed = Timed {
        wall_ms: wall.as_secs_f64() * 1e3,
        cpu_ms: ms(usage.ru_utime) + ms(usage.ru_stime),
        peak_mib: mib(&usage),
    };
    Ok((timed, output))
}

/// The largest resident size of this process so far, in MiB.
pub(crate) fn own_peak_mib() -> f64 {
    let mut usage = no_usage();
    // SAFETY: the kernel writes a rusage, and that is where the pointer leads.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    mib(&usage)
}

/// ru_maxrss is in KiB (getrusage(2)).
fn mib(usage: &libc::rusage) -> f64 {
    usage.ru_maxrss as f64 / 1024.0
}

fn no_usage() -> libc::rusage {
    // SAFETY: a rusage is made of integers, for which zeros are a value.
    unsafe { mem::zeroed() }
}

/// Waits for a child's end. It must not be waited for again, which is why it is taken away.
fn reap(child: Child) -> io::Result<(ExitStatus, libc::rusage)> {
    let (mut status, mut usage) = (0, no_usage());
    loop {
        // SAFETY: the kernel writes an int and a rusage, and that is where the pointers lead.
        let reaped = unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, 0, &raw mut usage) };
        if reaped >= 0 {
            return Ok((ExitStatus::from_raw(status), usage));
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
    fn output_time_and_memory_are_seen() {
        let here = Path::new("/");
        let (timed, output) = run(Path::new("/bin/sh"), &["-c", "pwd; sleep 0.02"], here).unwrap();
        assert_eq!(output, b"/\n");
        assert!(timed.wall_ms >= 20.0 && timed.peak_mib > 0.1, "{timed:?}");
        let error = run(Path::new("/bin/sh"), &["-c", "exit 3"], here).unwrap_err();
        assert!(error.to_string().contains("exit 3 failed"), "{error}");
        assert!(run(Path::new("/no/such"), &[], here).is_err());
        assert!(own_peak_mib() > 0.1);
    }
}

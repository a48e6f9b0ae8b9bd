//! System calls of a first process.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::termios::tcdrain;
use nix::unistd::{ForkResult, dup2_stdin, dup2_stdout};

use super::{InitError, in_step};
use crate::serve::serve;

pub(super) fn say(line: &str) {
    // A failure here cannot be reported anywhere.
    if let Ok(mut console) = File::options().write(true).open("/dev/console") {
        let _ = console.write_all(format!("{line}\n").as_bytes());
        // The line must have left: the guest may power off next.
        let _ = tcdrain(console);
    }
}

pub(super) fn mount_all() -> Result<(), InitError> {
    for (kind, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        match mount(Some(kind), place, Some(kind), MsFlags::empty(), None::<&str>) {
            // CONFIG_DEVTMPFS_MOUNT has mounted it.
            Ok(()) | Err(Errno::EBUSY) => {}
            Err(errno) => {
                return Err(in_step(format_args!("mount {kind} on {place}"), io::Error::other(errno)));
            }
        }
    }
    Ok(())
}

pub(super) fn seed(bytes: &[u8]) -> Result<(), InitError> {
    let step = "seed the random numbers";
    let random = File::options().write(true).open("/dev/random").map_err(|error| in_step(step, error))?;
    // Credited as entropy, the bytes make random numbers the same at each boot.
    // struct rand_pool_info (include/uapi/linux/random.h): bits of entropy, bytes, the bytes.
    let size = i32::try_from(bytes.len()).map_err(|error| in_step(step, io::Error::other(error)))?;
    let pool = [&size.saturating_mul(8).to_ne_bytes()[..], &size.to_ne_bytes(), bytes].concat();
    // SAFETY: `pool` is laid out as the kernel reads it, with as many bytes as it says, and lives
    // through the call.
    let result = unsafe { libc::ioctl(random.as_raw_fd(), RNDADDENTROPY, pool.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(in_step(step, io::Error::last_os_error())) }
}

pub(super) fn keep_slabs() {
    // Otherwise other memory decides whether that of packets is given back and allocated anew. A
    // kernel without this setting stays as it is.
    for cache in fs::read_dir("/sys/kernel/slab").into_iter().flatten().flatten() {
        let _ = fs::write(cache.path().join("min_partial"), KEPT);
    }
}

pub(super) fn hasten_softirqs() {
    // While `ksoftirqd` waits for the CPU, the kernel leaves all soft interrupts to it, and packets
    // take another way: for thousands of messages of a sender that takes the CPU back.
    for thread in host::perf::softirq_threads() {
        let lowest = libc::sched_param { sched_priority: 1 };
        // SAFETY: the kernel reads the parameters, and keeps no pointer to them.
        unsafe { libc::sched_setscheduler(thread.cast_signed(), libc::SCHED_FIFO, &raw const lowest) };
    }
}

// The number of empty slabs that each cache keeps: more than any cache has.
const KEPT: &str = "1000";

// `_IOW('R', 0x03, int [2])`.
const RNDADDENTROPY: libc::Ioctl = 0x4008_5203;

pub(super) fn load_modules(directory: &Path) -> Result<Vec<(String, io::Error)>, InitError> {
    let failed = |error| in_step(format_args!("read {}", directory.display()), error);
    let entries = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut paths: Vec<_> = entries.map_err(failed)?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let mut refused = Vec::new();
    for path in paths {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let load =
            || -> io::Result<()> { Ok(finit_module(File::open(&path)?, c"", ModuleInitFlags::empty())?) };
        match load() {
            // The file of a loaded module is not needed; failing to remove it is harmless.
            Ok(()) => drop(fs::remove_file(&path)),
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => {}
            Err(error) => refused.push((name, error)),
        }
    }
    Ok(refused)
}

pub(super) fn reap() -> Option<(i32, i32)> {
    loop {
        let mut status = 0;
        // SAFETY: one writable integer.
        let process = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        if process > 0 {
            return Some((process, status));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

fn await_connection(port: &OwnedFd) -> io::Result<()> {
    // Until the other end is connected, reads give an end of file.
    for _ in 0..STEPS {
        let mut watched = [PollFd::new(port.as_fd(), PollFlags::POLLOUT)];
        poll(&mut watched, PollTimeout::ZERO)?;
        if watched[0].revents().is_some_and(|events| !events.contains(PollFlags::POLLHUP)) {
            return Ok(());
        }
        std::thread::sleep(STEP);
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "the controller is not connected to its port"))
}

pub(super) fn power_off() -> ! {
    loop {
        // All file systems are in memory: nothing to save.
        let Err(_) = reboot(RebootMode::RB_POWER_OFF);
        // A kernel without ACPI halts here; the controller ends QEMU then.
        std::thread::sleep(Duration::from_secs(1));
    }
}

// On an idle machine a device appears within a millisecond. The wait is counted in steps: on a busy
// machine the guest takes few of them.
const STEP: Duration = Duration::from_millis(1);
const STEPS: u32 = 10_000;

/// The name that the guest's device gives the port `index`.
pub fn port_name(index: usize) -> String {
    format!("netassay.{index}")
}

pub(super) fn open(name: &str) -> Result<OwnedFd, InitError> {
    for _ in 0..STEPS {
        if let Some(device) = device(Path::new("/sys/class/virtio-ports"), name) {
            let path = Path::new("/dev").join(device);
            let file = File::options().read(true).write(true).open(&path);
            return file
                .map(Into::into)
                .map_err(|error| in_step(format_args!("open {}", path.display()), error));
        }
        std::thread::sleep(STEP);
    }
    Err(InitError::NoPort { name: name.to_owned(), seconds: (STEP * STEPS).as_secs() })
}

fn device(class: &Path, name: &str) -> Option<String> {
    fs::read_dir(class).ok()?.flatten().find_map(|entry| {
        let found = fs::read_to_string(entry.path().join("name")).ok()?;
        (found.trim() == name).then(|| entry.file_name().to_string_lossy().into_owned())
    })
}

pub(super) fn start_agent(index: usize, port: OwnedFd, version: &'static str) -> Result<(), InitError> {
    // SAFETY: a guest's first process has one thread, so that no lock can be held by another.
    let forked = unsafe { nix::unistd::fork() };
    if let ForkResult::Parent { .. } = forked.map_err(|errno| in_step("start a process", errno.into()))? {
        return Ok(());
    }
    let Err(why) = live(port, version) else { std::process::exit(0) };
    say(&format!("netassay-init: the agent at {}: {why}", port_name(index)));
    std::process::exit(1)
}

fn live(port: OwnedFd, version: &'static str) -> Result<(), InitError> {
    await_connection(&port)?;
    dup2_stdin(&port).and_then(|()| dup2_stdout(&port)).map_err(io::Error::other)?;
    drop(port);
    Ok(serve(version)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_by_its_name() {
        let class = std::env::temp_dir().join(format!("netassay-ports-{}", std::process::id()));
        for (device, name) in [("vport1p1", "netassay.0\n"), ("vport1p2", "netassay.1\n")] {
            fs::create_dir_all(class.join(device)).unwrap();
            fs::write(class.join(device).join("name"), name).unwrap();
        }
        assert_eq!(device(&class, "netassay.1").as_deref(), Some("vport1p2"));
        assert_eq!(device(&class, "netassay"), None);
        fs::remove_dir_all(&class).unwrap();
        assert_eq!(device(&class, "netassay.0"), None);
    }
}

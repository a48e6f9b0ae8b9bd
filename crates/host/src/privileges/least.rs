//! Drops unneeded capabilities, ways to new ones, and files that other processes left open.

use std::io;
use std::os::fd::RawFd;

use nix::libc;

use crate::kernel::files::numbers;

/// A capability by its number (linux/capability.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Capability {
    /// Files of others.
    DacOverride = 1,
    /// Signals to processes of others.
    Kill = 5,
    /// Another group.
    SetGid = 6,
    /// Another user.
    SetUid = 7,
    /// Lower bounds of capabilities.
    SetPcap = 8,
    /// Ports below 1024.
    NetBindService = 10,
    /// The network's configuration.
    NetAdmin = 12,
    /// Locked memory beyond its limit.
    IpcLock = 14,
    /// Namespaces, mounts, and much else.
    SysAdmin = 21,
    /// CPUs of processes of others.
    SysNice = 23,
    /// Beyond resource limits.
    SysResource = 24,
    /// Addresses of the kernel's functions.
    Syslog = 34,
    /// Tracing (Linux 5.8).
    Perfmon = 38,
    /// Programs in the kernel (Linux 5.8).
    Bpf = 39,
}

impl Capability {
    /// Whether this kernel has the capability.
    pub fn is_known(self) -> bool {
        // SAFETY: plain numbers.
        unsafe { libc::prctl(libc::PR_CAPBSET_READ, self as libc::c_ulong, 0, 0, 0) >= 0 }
    }
}

/// `struct __user_cap_data_struct`: the lower halves of three sets, or the upper ones.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilityHalf {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// `struct __user_cap_header_struct`; process 0 is the calling thread.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    process: i32,
}

// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

/// Keeps those of the calling thread's capabilities that are `needed`, drops all others for good,
/// and prevents new ones from programs that it runs (`NO_NEW_PRIVS`). Holds for threads that it
/// starts later, not for running ones.
pub fn keep_capabilities(needed: &[Capability]) -> io::Result<()> {
    let kept = needed.iter().fold(0u64, |set, capability| set | 1 << *capability as u8);
    let mut halves = capabilities()?;
    let had = u64::from(halves[0].effective) | u64::from(halves[1].effective) << 32;
    // The bounds first: lowering them needs a capability. A thread without it gains none either,
    // because of NO_NEW_PRIVS.
    if had & 1 << Capability::SetPcap as u8 != 0 {
        lower_bounds(kept)?;
    }
    let (low, high) = (kept as u32, (kept >> 32) as u32);
    for (half, kept) in halves.iter_mut().zip([low, high]) {
        half.permitted &= kept;
        half.effective &= kept;
        half.inheritable = 0;
    }
    set_capabilities(&halves)?;
    gain_no_privileges()
}

fn capabilities() -> io::Result<[CapabilityHalf; 2]> {
    let mut header = CapabilityHeader { version: VERSION, process: 0 };
    let mut halves = [CapabilityHalf::default(); 2];
    // SAFETY: a header and the two halves that its version has, which outlive the call.
    check(unsafe { libc::syscall(libc::SYS_capget, &raw mut header, halves.as_mut_ptr()) })?;
    Ok(halves)
}

fn set_capabilities(halves: &[CapabilityHalf; 2]) -> io::Result<()> {
    let mut header = CapabilityHeader { version: VERSION, process: 0 };
    // SAFETY: a header and the two halves that its version has, which outlive the call.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw mut header, halves.as_ptr()) })
}

/// Removes all capabilities except the set `kept` (a bit for each) from what the calling thread,
/// and programs that it runs, can ever have. It makes system calls only, so it may be called
/// between `fork` and `exec`.
///
/// # Errors
/// `EPERM` without `CAP_SETPCAP`.
pub fn lower_bounds(kept: u64) -> io::Result<()> {
    for capability in (0..64).filter(|capability| kept & 1 << capability == 0) {
        // SAFETY: plain numbers.
        match unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) } {
            // SAFETY: plain numbers.
            1 => check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) }.into())?,
            0 => {}
            // This kernel has no more.
            _ => break,
        }
    }
    Ok(())
}

/// Prevents new privileges by programs that the calling thread runs (`NO_NEW_PRIVS`). It makes
/// system calls only.
pub fn gain_no_privileges() -> io::Result<()> {
    Ok(nix::sys::prctl::set_no_new_privs()?)
}

/// Closes all files but standard input, output and error, at the start of a process that owns
/// nothing yet.
///
/// # Errors
/// If `/proc` does not list the open files.
pub fn close_inherited() -> io::Result<()> {
    for fd in open_files()? {
        // SAFETY: nothing in this process owns it; the directory that listed it is closed already,
        // and closing it again is a harmless error.
        unsafe { libc::close(fd) };
    }
    Ok(())
}

/// The open files except standard input, output and error.
///
/// # Errors
/// If `/proc` does not list the open files.
pub fn open_files() -> io::Result<Vec<RawFd>> {
    let open: Vec<RawFd> = numbers("/proc/self/fd")?;
    Ok(open.into_iter().filter(|fd| *fd > libc::STDERR_FILENO).collect())
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::field;

    fn status(name: &str) -> String {
        let text = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        field(&text, name).unwrap().to_owned()
    }

    fn set(name: &str) -> u64 {
        u64::from_str_radix(&status(name), 16).unwrap()
    }

    /// Makes all capabilities inheritable, as the parent of netassay may have done.
    fn inherit_all() {
        let mut halves = capabilities().unwrap();
        halves.iter_mut().for_each(|half| half.inheritable = half.permitted);
        set_capabilities(&halves).unwrap();
    }

    #[test]
    fn what_is_not_needed_is_given_up_and_does_not_come_back() {
        std::thread::spawn(|| {
            let before = set("CapEff");
            inherit_all();
            assert_eq!(set("CapInh"), before);
            keep_capabilities(&[Capability::NetAdmin]).unwrap();
            let kept = before & 1 << Capability::NetAdmin as u8;
            assert_eq!((set("CapEff"), set("CapPrm"), set("CapInh")), (kept, kept, 0));
            if before & 1 << Capability::SetPcap as u8 != 0 {
                assert_eq!(set("CapBnd") & !kept, 0);
            }
            assert_eq!(status("NoNewPrivs"), "1");
            assert_eq!(std::thread::spawn(|| set("CapEff")).join().unwrap(), kept);
        })
        .join()
        .unwrap();
    }
}

//! Events of the kernel that a program counts, samples or runs at (`perf_event_open`).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::libc;

/// `struct perf_event_attr` up to `PERF_ATTR_SIZE_VER1` (`include/uapi/linux/perf_event.h`).
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct EventAttributes {
    pub(crate) kind: u32,
    pub(crate) size: u32,
    pub(crate) config: u64,
    pub(crate) sample_period: u64,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) flags: u64,
    pub(crate) wakeup_events: u32,
    pub(crate) breakpoint_type: u32,
    /// The address of the name of a function, or an extended configuration.
    pub(crate) function: u64,
    pub(crate) offset: u64,
}

// `PERF_EVENT_IOC_ENABLE`, `_DISABLE` and `_SET_BPF` (`include/uapi/linux/perf_event.h`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum PerfIoctl {
    Enable = 0x2400,
    Disable = 0x2401,
    SetBpf = 0x4004_2408,
}

/// # Safety
/// An address in the attributes is valid during the call.
pub(crate) unsafe fn open(mut attributes: EventAttributes, cpu: u32) -> io::Result<OwnedFd> {
    const ANY_THREAD: libc::pid_t = -1;
    const NO_GROUP: libc::c_int = -1;
    // A program that this process runs must not hold the event open.
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    attributes.size = size_of::<EventAttributes>() as u32;
    // SAFETY: the kernel reads `size` bytes of the attributes; the caller guarantees the rest.
    let event = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            ANY_THREAD,
            cpu.cast_signed(),
            NO_GROUP,
            CLOSE_ON_EXEC,
        )
    };
    let event =
        RawFd::try_from(event).ok().filter(|event| *event >= 0).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just made this descriptor for us and no other code has it.
    Ok(unsafe { OwnedFd::from_raw_fd(event) })
}

pub(crate) fn control(event: &OwnedFd, command: PerfIoctl, argument: RawFd) -> io::Result<()> {
    // SAFETY: these commands take a number.
    let result = unsafe { libc::ioctl(event.as_raw_fd(), command as u64, argument) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

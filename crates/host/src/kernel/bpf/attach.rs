//! Where programs run.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::libc;

use super::call::{Command, made};
#[cfg(doc)]
use super::program::Program;

/// A program at its place, until this is dropped or the process ends.
#[derive(Debug)]
pub struct Attached(#[expect(dead_code, reason = "the kernel detaches when it is closed")] OwnedFd);

/// Attaches a program of kind [`Program::RawTracepoint`].
///
/// # Errors
/// The kernel's error: `ENOENT` without that tracepoint.
pub fn attach_to_tracepoint(name: &CStr, program: &OwnedFd) -> io::Result<Attached> {
    open(name.as_ptr() as u64, program)
}

/// Attaches a program of kind [`Program::Entry`] or [`Program::Return`] to the
/// function that it was loaded for.
///
/// # Errors
/// The kernel's error: 524 (`ENOTSUPP`) for a function with more than six arguments, `EBUSY` or
/// `EPERM` where such programs are not allowed.
pub fn attach_trampoline(program: &OwnedFd) -> io::Result<Attached> {
    open(0, program)
}

fn open(name: u64, program: &OwnedFd) -> io::Result<Attached> {
    let program = program.as_raw_fd().unsigned_abs();
    let attributes = TracepointAttributes { name, program, _padding: 0 };
    // SAFETY: the kernel reads a NUL-terminated string behind `name` unless it is 0; that of
    // `attach_to_tracepoint` lives until the call returns.
    unsafe { made(Command::OpenRawTracepoint, &attributes) }.map(Attached)
}

#[repr(C)]
#[derive(Debug, Default)]
struct TracepointAttributes {
    name: u64,
    program: u32,
    _padding: u32,
}

const EVENT_SOURCE: &str = "/sys/bus/event_source/devices/kprobe";

/// Attaches a program of kind [`Program::Kprobe`] to a function: to its return, or its
/// entry.
///
/// # Errors
/// The kernel's error: `ENOENT` without the event source (`CONFIG_KPROBE_EVENTS`) or the function,
/// `EINVAL` for a function that cannot be probed.
pub fn attach_to_function(function: &CStr, at_return: bool, program: &OwnedFd) -> io::Result<Attached> {
    let number = |file: &str, prefix: &str| -> io::Result<u32> {
        let text = fs::read_to_string(format!("{EVENT_SOURCE}/{file}"))?;
        let number = text.trim().strip_prefix(prefix).and_then(|number| number.parse().ok());
        number.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{EVENT_SOURCE}/{file} holds no number"))
        })
    };
    let returns = if at_return { number("format/retprobe", "config:")? } else { 0 };
    let attributes = EventAttributes {
        kind: number("type", "")?,
        size: size_of::<EventAttributes>() as u32,
        config: u64::from(at_return) << returns,
        function: function.as_ptr() as u64,
        ..EventAttributes::default()
    };
    const EVERY_PROCESS: libc::pid_t = -1;
    const FIRST_CPU: libc::c_int = 0;
    const NO_GROUP: libc::c_int = -1;
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    // SAFETY: the kernel reads `size` bytes of the attributes and a NUL-terminated string behind
    // `function`, which lives until the call returns.
    let event = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(&attributes),
            EVERY_PROCESS,
            FIRST_CPU,
            NO_GROUP,
            CLOSE_ON_EXEC,
        )
    };
    let event =
        RawFd::try_from(event).ok().filter(|event| *event >= 0).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just made this descriptor for us and no other code has it.
    let event = unsafe { OwnedFd::from_raw_fd(event) };
    // A program of a kprobe runs on every CPU, whichever the event was opened for.
    control(&event, SET_BPF, program.as_raw_fd())?;
    control(&event, ENABLE, 0)?;
    Ok(Attached(event))
}

/// `PERF_EVENT_IOC_SET_BPF` and `PERF_EVENT_IOC_ENABLE` (`include/uapi/linux/perf_event.h`).
const SET_BPF: u64 = 0x4004_2408;
const ENABLE: u64 = 0x2400;

fn control(event: &OwnedFd, command: u64, argument: RawFd) -> io::Result<()> {
    // SAFETY: both commands take a number.
    let result = unsafe { libc::ioctl(event.as_raw_fd(), command, argument) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The fields of `struct perf_event_attr` up to `PERF_ATTR_SIZE_VER1`.
#[repr(C)]
#[derive(Debug, Default)]
struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    function: u64,
    offset: u64,
}

//! Attaching programs to tracepoints and functions.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::call::{Command, made};
#[cfg(doc)]
use super::program::Program;
use crate::kernel::event::{Control, Event, EventAttributes, EventScope};

/// An attached program, until this is dropped or the process ends.
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
    const FIRST_CPU: u32 = 0;
    let attributes = EventAttributes {
        kind: number("type", "")?,
        config: u64::from(at_return) << returns,
        function: function.as_ptr() as u64,
        ..EventAttributes::default()
    };
    // SAFETY: the kernel reads a NUL-terminated string behind `function`, which lives until the
    // call returns.
    let event = unsafe { Event::open(attributes, EventScope::Cpu(FIRST_CPU)) }?;
    // A program of a kprobe runs on every CPU, whichever CPU the event was opened for.
    event.control(Control::SetBpf, program.as_raw_fd())?;
    event.control(Control::Enable, 0)?;
    Ok(Attached(event.into()))
}

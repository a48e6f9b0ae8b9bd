//! Programs: their loading, and their attachment to tracepoints and functions.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{BpfCommand, call, made};
use crate::kernel::event::{self, EventAttributes, PerfIoctl};

/// The attachment of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// An interface's receive path, before the network stack.
    Xdp,
    /// A tracepoint with raw arguments.
    RawTracepoint,
    /// Any instruction of the kernel, or a function's return.
    Kprobe,
    /// The entry of the function with this number in the kernel's own types (fentry).
    Entry(u32),
    /// The return of the function with this number (fexit).
    Return(u32),
}

impl Program {
    /// `enum bpf_prog_type`, `enum bpf_attach_type` (`include/uapi/linux/bpf.h`), and the function.
    fn numbers(self) -> [u32; 3] {
        const TRACING: u32 = 26;
        match self {
            Self::Xdp => [6, 0, 0],
            Self::RawTracepoint => [17, 0, 0],
            Self::Kprobe => [2, 0, 0],
            Self::Entry(function) => [TRACING, 24, function],
            Self::Return(function) => [TRACING, 25, function],
        }
    }
}

/// Loads the smallest program of its kind, `return value`, without attaching it.
///
/// # Errors
/// The kernel's error: `EPERM` without the privilege, `EINVAL` for an unknown kind.
pub fn load_return(program: Program, value: i32) -> io::Result<OwnedFd> {
    // r0 = value; exit
    load(program, &[Instruction(0xb7, 0, 0, value), Instruction(0x95, 0, 0, 0)])
}

/// The number of the calling thread in the initial PID namespace, which programs see. `gettid`
/// tells that of the thread's own namespace: in a container, another one.
///
/// # Errors
/// The kernel's error: `EPERM` without the privilege.
pub fn current_thread() -> io::Result<u32> {
    // call bpf_get_current_pid_tgid; exit. The thread is the lower half of the result.
    let program = load(Program::RawTracepoint, &[Instruction(0x85, 0, 0, 14), Instruction(0x95, 0, 0, 0)])?;
    // The first fields of `BPF_PROG_TEST_RUN`: the program, and its result.
    let mut run = [program.as_raw_fd().unsigned_abs(), 0];
    // SAFETY: these attributes hold no address. The kernel runs the program in the calling thread
    // and writes its result into them; nothing else refers to them.
    unsafe { call(BpfCommand::Run, &raw mut run) }?;
    Ok(run[1])
}

/// Loads a program without attaching it.
///
/// # Errors
/// The kernel's error, with the last line of the verifier if it wrote any: `EPERM` without the
/// privilege, `EINVAL` for an unknown kind.
pub fn load(program: Program, instructions: &[Instruction]) -> io::Result<OwnedFd> {
    let [program_type, expected_attach_type, function] = program.numbers();
    let attributes = LoadAttributes {
        program_type,
        instruction_count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: LICENSE.as_ptr() as u64,
        expected_attach_type,
        function,
        ..LoadAttributes::default()
    };
    // SAFETY: the kernel reads `instruction_count` instructions of 8 bytes behind `instructions`
    // and a NUL-terminated string behind `license`, which both live until the call returns; without
    // a log buffer it writes nothing.
    let refused = match unsafe { made(BpfCommand::Load, &attributes) } {
        Ok(loaded) => return Ok(loaded),
        Err(error) => error,
    };
    // Again, with the verifier's log: writing the log costs time that a good program need not pay.
    let mut log = vec![0u8; LOG_BYTES];
    let attributes = LoadAttributes {
        log_level: 1,
        log_size: LOG_BYTES as u32,
        log_buffer: log.as_mut_ptr() as u64,
        ..attributes
    };
    // SAFETY: as above, and the kernel writes at most `log_size` bytes to `log_buffer`.
    unsafe { made(BpfCommand::Load, &attributes) }.map_err(|_| match last_reason(&log) {
        // Without a reason the first error stands: a log that is too short gives another one.
        none if none.is_empty() => refused,
        reason => io::Error::new(refused.kind(), format!("{refused}: {reason}")),
    })
}

const LOG_BYTES: usize = 1 << 20;

fn last_reason(log: &[u8]) -> String {
    let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    // The verifier ends its log with a line of statistics behind the reason.
    let line = text.lines().rfind(|line| !line.is_empty() && !line.starts_with("processed "));
    line.unwrap_or_default().chars().filter(|c| !c.is_control()).take(300).collect()
}

/// The first fields of `union bpf_attr` for `BPF_PROG_LOAD`: the kernel accepts any length.
#[repr(C)]
#[derive(Debug, Default)]
struct LoadAttributes {
    program_type: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buffer: u64,
    /// The kernel's version, flags, a name, an interface.
    _unused: [u32; 7],
    expected_attach_type: u32,
    /// Types, and where functions and lines are.
    _without_types: [u32; 9],
    function: u32,
    /// A program, and padding.
    _without_program: [u32; 2],
}

const LICENSE: &CStr = c"GPL";

/// `struct bpf_insn`: opcode, registers (the source in the upper half), offset, immediate.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction(pub u8, pub u8, pub i16, pub i32);

/// An attached program, until this is dropped or the process ends.
pub type Attached = OwnedFd;

/// Attaches a program of kind [`Program::RawTracepoint`] to a tracepoint; without one, of kind
/// [`Program::Entry`] or [`Program::Return`] to the function that it was loaded for.
///
/// # Errors
/// The kernel's error: `ENOENT` without that tracepoint; 524 (`ENOTSUPP`) for a function with more
/// than six arguments, `EBUSY` or `EPERM` where such programs are not allowed.
pub fn attach(tracepoint: Option<&CStr>, program: &OwnedFd) -> io::Result<Attached> {
    // The fields of `BPF_RAW_TRACEPOINT_OPEN`: the address of the name, the program, padding.
    let mut attributes = [0u8; 16];
    let name = tracepoint.map_or(0, |name| name.as_ptr() as u64);
    attributes[..8].copy_from_slice(&name.to_ne_bytes());
    attributes[8..12].copy_from_slice(&program.as_raw_fd().to_ne_bytes());
    // SAFETY: the kernel reads a NUL-terminated string behind `name` unless it is 0; it lives until
    // the call returns.
    unsafe { made(BpfCommand::OpenRawTracepoint, &attributes) }
}

const EVENT_SOURCE: &str = "/sys/bus/event_source/devices/kprobe";

/// Attaches a program of kind [`Program::Kprobe`] to a function's return, or its entry.
///
/// # Errors
/// The kernel's error: `ENOENT` without the event source (`CONFIG_KPROBE_EVENTS`) or the function,
/// `EINVAL` for a function that cannot be probed.
pub fn attach_to_function(function: &CStr, at_return: bool, program: &OwnedFd) -> io::Result<Attached> {
    let number = |file: &str, prefix: &str| -> io::Result<u32> {
        let text = fs::read_to_string(format!("{EVENT_SOURCE}/{file}"))?;
        let number = text.trim().strip_prefix(prefix).and_then(|number| number.parse().ok());
        number.ok_or(io::ErrorKind::InvalidData.into())
    };
    // The file names the bit of `config` that makes it a probe of the return: `config:0`.
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
    let event = unsafe { event::open(attributes, FIRST_CPU) }?;
    // A program of a kprobe runs on every CPU, whichever CPU the event was opened for.
    event::control(&event, PerfIoctl::SetBpf, program.as_raw_fd())?;
    event::control(&event, PerfIoctl::Enable, 0)?;
    Ok(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifiers_last_reason_is_one_plain_line() {
        let log = b"0: (95) exit\nR0 !read_ok\x1b[2K\n\nprocessed 1 insns (limit 1000000)\n\0rest";
        assert_eq!(last_reason(log), "R0 !read_ok[2K");
        assert_eq!(last_reason(&[]), "");
    }
}

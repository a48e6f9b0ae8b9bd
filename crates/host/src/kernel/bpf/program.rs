//! Programs and their loading.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use thiserror::Error;

use super::call::{Command, call, made};

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

/// The reason why a program was not loaded.
#[derive(Debug, Error)]
#[error("{error}{}{said}", if said.is_empty() { "" } else { ": " })]
pub struct LoadError {
    /// The kernel's error: `EPERM` without the privilege, `EINVAL` for an unknown kind or a program
    /// that the verifier refuses.
    pub error: io::Error,
    /// The last line of the verifier; empty if it wrote none.
    pub said: String,
}

impl From<LoadError> for io::Error {
    fn from(refused: LoadError) -> Self {
        refused.error
    }
}

/// Loads the smallest program of its kind, `return value`, without attaching it. The kernel removes
/// it when the descriptor is closed and nothing else holds it.
///
/// # Errors
/// The kernel's error: `EPERM` without the privilege, `EINVAL` for an unknown kind.
pub fn load_return(program: Program, value: i32) -> io::Result<OwnedFd> {
    // r0 = value; exit
    Ok(load(program, &[Instruction(0xb7, 0, 0, value), Instruction(0x95, 0, 0, 0)])?)
}

/// The number of the calling thread in the initial PID namespace, which programs see. `gettid`
/// tells that of the thread's own namespace: in a container, another one.
///
/// # Errors
/// The kernel's error: `EPERM` without the privilege, `EINVAL` or 524 (`ENOTSUPP`) before Linux
/// 5.10.
pub fn current_thread() -> io::Result<u32> {
    // call bpf_get_current_pid_tgid; exit. The thread is the lower half of the result.
    let program = load(Program::RawTracepoint, &[Instruction(0x85, 0, 0, 14), Instruction(0x95, 0, 0, 0)])?;
    let mut run = RunAttributes { program: program.as_raw_fd().unsigned_abs(), result: 0 };
    // SAFETY: these attributes hold no address. The kernel runs the program in the calling thread
    // and writes its result into them; nothing else refers to them.
    unsafe { call(Command::Run, &raw mut run) }?;
    Ok(run.result)
}

/// Loads a program without attaching it.
pub fn load(program: Program, instructions: &[Instruction]) -> Result<OwnedFd, LoadError> {
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
    let refused = match unsafe { made(Command::Load, &attributes) } {
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
    match unsafe { made(Command::Load, &attributes) } {
        Ok(loaded) => Ok(loaded),
        Err(_) => Err(LoadError { error: refused, said: last_reason(&log) }),
    }
}

const LOG_BYTES: usize = 1 << 20;

/// The last line of the verifier that is not its statistics.
fn last_reason(log: &[u8]) -> String {
    let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let line = text.lines().rfind(|line| !line.is_empty() && !line.starts_with("processed "));
    line.unwrap_or_default().chars().filter(|c| !c.is_control()).take(300).collect()
}

/// The fields of `union bpf_attr` for `BPF_PROG_LOAD` in Linux 5.5; the kernel accepts shorter
/// ones and, if the rest is zero, longer ones. The same holds for the other calls.
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
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    expected_attach_type: u32,
    types: u32,
    function_info_size: u32,
    function_info: u64,
    function_info_count: u32,
    line_info_size: u32,
    line_info: u64,
    line_info_count: u32,
    function: u32,
    program: u32,
    _padding: u32,
}

/// The first fields for `BPF_PROG_TEST_RUN`.
#[repr(C)]
#[derive(Debug)]
struct RunAttributes {
    program: u32,
    result: u32,
}

const LICENSE: &CStr = c"GPL";

/// `struct bpf_insn`: opcode, registers (the source in the upper half), offset, immediate.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction(pub u8, pub u8, pub i16, pub i32);

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

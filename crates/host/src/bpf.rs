//! The one system call for BPF programs: enough for programs of two instructions, without a loader.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use nix::libc;

/// What a program is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// An interface's receive path, before the network stack.
    Xdp,
    /// A tracepoint, with its arguments as they are.
    RawTracepoint,
}

impl Program {
    /// `enum bpf_prog_type` (`include/uapi/linux/bpf.h`).
    fn number(self) -> u32 {
        match self {
            Self::Xdp => 6,
            Self::RawTracepoint => 17,
        }
    }
}

/// Loads the smallest program of its kind, `return value`, without attaching it. It is gone from the kernel when the descriptor is
/// closed and nothing holds it.
///
/// # Errors
/// What the kernel said: `EPERM` without the privilege, `EINVAL` where it does not know the kind.
pub fn load_return(program: Program, value: i32) -> io::Result<OwnedFd> {
    // r0 = value; exit
    let instructions = [Instruction(0xb7, 0, 0, value), Instruction(0x95, 0, 0, 0)];
    let attributes = LoadAttributes {
        program_type: program.number(),
        instruction_count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: LICENSE.as_ptr() as u64,
        ..LoadAttributes::default()
    };
    // SAFETY: the kernel reads `size_of::<LoadAttributes>()` bytes of `attributes`, `instruction_count` instructions of 8 bytes
    // behind `instructions` and a NUL-terminated string behind `license`; all three live until the call returns, and without a
    // log buffer it writes nothing.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            BPF_PROG_LOAD,
            std::ptr::from_ref(&attributes),
            size_of::<LoadAttributes>() as libc::c_long,
        )
    };
    match RawFd::try_from(descriptor) {
        // SAFETY: the kernel has just made this descriptor for us and nobody else knows of it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The fields of `union bpf_attr` for `BPF_PROG_LOAD` that a Linux 4.17 knows; the kernel takes any shorter or, if the rest is
/// zero, longer one.
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
}

const BPF_PROG_LOAD: libc::c_long = 5;
const LICENSE: &std::ffi::CStr = c"GPL";

/// `struct bpf_insn`: opcode, registers, offset, immediate.
#[repr(C)]
struct Instruction(u8, u8, i16, i32);

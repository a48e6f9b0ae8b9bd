//! The one system call for BPF programs, as far as probing needs it.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Loads the smallest raw tracepoint program (it returns 0) without attaching it. The program is gone from the kernel when
/// the returned descriptor is closed.
pub(crate) fn load_raw_tracepoint() -> io::Result<OwnedFd> {
    let attributes = LoadAttributes {
        program_type: BPF_PROG_TYPE_RAW_TRACEPOINT,
        instruction_count: RETURN_ZERO.len() as u32,
        instructions: RETURN_ZERO.as_ptr() as u64,
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
            std::mem::size_of::<LoadAttributes>() as libc::c_long,
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
const BPF_PROG_TYPE_RAW_TRACEPOINT: u32 = 17;
const LICENSE: &std::ffi::CStr = c"GPL";

/// `struct bpf_insn`: opcode, registers, offset, immediate.
#[repr(C)]
struct Instruction(u8, u8, i16, i32);

/// `r0 = 0; exit`.
const RETURN_ZERO: [Instruction; 2] = [Instruction(0xb7, 0, 0, 0), Instruction(0x95, 0, 0, 0)];

//! The BPF system call: enough for programs of a few instructions, without a loader.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::libc;

/// The attachment of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// An interface's receive path, before the network stack.
    Xdp,
    /// A tracepoint with raw arguments.
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

/// Loads the smallest program of its kind, `return value`, without attaching it. The kernel removes
/// it when the descriptor is closed and nothing else holds it.
///
/// # Errors
/// The kernel's error: `EPERM` without the privilege, `EINVAL` for an unknown kind.
pub fn load_return(program: Program, value: i32) -> io::Result<OwnedFd> {
    // r0 = value; exit
    load(program, &[Instruction(0xb7, 0, 0, value), Instruction(0x95, 0, 0, 0)])
}

/// Loads a program without attaching it.
pub(crate) fn load(program: Program, instructions: &[Instruction]) -> io::Result<OwnedFd> {
    let attributes = LoadAttributes {
        program_type: program.number(),
        instruction_count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: LICENSE.as_ptr() as u64,
        ..LoadAttributes::default()
    };
    // SAFETY: the kernel reads `instruction_count` instructions of 8 bytes behind `instructions`
    // and a NUL-terminated string behind `license`, which both live until the call returns; without
    // a log buffer it writes nothing.
    unsafe { made(BPF_PROG_LOAD, &attributes) }
}

/// Attaches a program to a tracepoint, until the descriptor is closed.
pub(crate) fn attach_to_tracepoint(name: &CStr, program: &OwnedFd) -> io::Result<OwnedFd> {
    let attributes = TracepointAttributes {
        name: name.as_ptr() as u64,
        program: program.as_raw_fd().unsigned_abs(),
        ..TracepointAttributes::default()
    };
    // SAFETY: the kernel reads a NUL-terminated string behind `name`, which lives until the call
    // returns.
    unsafe { made(BPF_RAW_TRACEPOINT_OPEN, &attributes) }
}

/// A number that programs share with this process.
#[derive(Debug)]
pub(crate) struct Cell(OwnedFd);

impl Cell {
    pub(crate) fn new() -> io::Result<Self> {
        let attributes =
            MapAttributes { map_type: ARRAY, key_size: 4, value_size: 8, max_entries: 1, flags: 0 };
        // SAFETY: these attributes hold no address.
        unsafe { made(BPF_MAP_CREATE, &attributes) }.map(Self)
    }

    /// The two instructions that load its address into a register.
    pub(crate) fn address(&self, register: u8) -> [Instruction; 2] {
        const MAP_VALUE: u8 = 2;
        [Instruction(0x18, MAP_VALUE << 4 | register, 0, self.0.as_raw_fd()), Instruction(0, 0, 0, 0)]
    }

    pub(crate) fn read(&self) -> io::Result<u64> {
        let mut value = 0;
        self.element(BPF_MAP_LOOKUP_ELEM, &mut value).map(|()| value)
    }

    pub(crate) fn write(&self, mut value: u64) -> io::Result<()> {
        self.element(BPF_MAP_UPDATE_ELEM, &mut value)
    }

    fn element(&self, command: libc::c_long, value: &mut u64) -> io::Result<()> {
        let key = 0u32;
        let attributes = ElementAttributes {
            map: self.0.as_raw_fd().unsigned_abs(),
            key: std::ptr::from_ref(&key) as u64,
            value: std::ptr::from_mut(value) as u64,
            ..ElementAttributes::default()
        };
        // SAFETY: the kernel reads the 4 bytes of `key`, and reads or writes the 8 of `value`,
        // which both live until the call returns.
        unsafe { call(command, &attributes) }.map(drop)
    }
}

/// Makes a call that returns a descriptor.
///
/// # Safety
/// As [`call`].
unsafe fn made<T>(command: libc::c_long, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the caller guarantees it.
    let descriptor = unsafe { call(command, attributes) }?;
    // SAFETY: the kernel has just made this descriptor for us and no other code has it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Makes a call.
///
/// # Safety
/// `T` has the layout of the kernel's `union bpf_attr` for this command, and all addresses in it
/// are valid during the call.
unsafe fn call<T>(command: libc::c_long, attributes: &T) -> io::Result<RawFd> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of `attributes`; the caller guarantees the
    // rest.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>() as libc::c_long)
    };
    match RawFd::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The fields of `union bpf_attr` for `BPF_PROG_LOAD` in Linux 4.17; the kernel accepts shorter
/// ones and, if the rest is zero, longer ones. The same holds below.
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

#[repr(C)]
#[derive(Debug, Default)]
struct MapAttributes {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Debug, Default)]
struct ElementAttributes {
    map: u32,
    _padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Debug, Default)]
struct TracepointAttributes {
    name: u64,
    program: u32,
    _padding: u32,
}

// `enum bpf_cmd` and `enum bpf_map_type` (`include/uapi/linux/bpf.h`).
const BPF_MAP_CREATE: libc::c_long = 0;
const BPF_MAP_LOOKUP_ELEM: libc::c_long = 1;
const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_RAW_TRACEPOINT_OPEN: libc::c_long = 17;
const ARRAY: u32 = 2;
const LICENSE: &CStr = c"GPL";

/// `struct bpf_insn`: opcode, registers (the source in the upper half), offset, immediate.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instruction(pub(crate) u8, pub(crate) u8, pub(crate) i16, pub(crate) i32);

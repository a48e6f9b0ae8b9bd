//! The smallest XDP program, `return XDP_DROP`, loaded by the one system call and attached by netlink: no loader needed.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkXdp};
use nix::libc;

use crate::error::Error;
use crate::links::{Links, named};

/// Has the interface drop everything that arrives on it, before the network stack sees it. The program lives as long as the
/// interface.
///
/// # Errors
/// [`Error::Xdp`] if the kernel takes no program from this process; a refusal by netlink if the interface takes none.
pub(crate) fn drop_all(links: &mut Links, name: &str) -> Result<(), Error> {
    let program = load().map_err(|errno| Error::Xdp { errno })?;
    let mut message = named(name)?;
    message.attributes.push(LinkAttribute::Xdp(vec![LinkXdp::Fd(program.as_raw_fd())]));
    links.change(RouteNetlinkMessage::SetLink(message), 0, name, || {
        format!("have interface {name:?} drop what arrives (XDP)")
    })
}

fn load() -> io::Result<OwnedFd> {
    let attributes = LoadAttributes {
        program_type: BPF_PROG_TYPE_XDP,
        instruction_count: DROP.len() as u32,
        instructions: DROP.as_ptr() as u64,
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
const BPF_PROG_TYPE_XDP: u32 = 6;
const XDP_DROP: i32 = 1;
const LICENSE: &std::ffi::CStr = c"GPL";

/// `struct bpf_insn`: opcode, registers, offset, immediate.
#[repr(C)]
struct Instruction(u8, u8, i16, i32);

/// `r0 = XDP_DROP; exit`.
const DROP: [Instruction; 2] = [Instruction(0xb7, 0, 0, XDP_DROP), Instruction(0x95, 0, 0, 0)];

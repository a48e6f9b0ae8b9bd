//! The BPF system call: programs (as instructions), maps shared with them, and attachment.

mod map;
mod program;
mod query;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use nix::libc;
use nix::sys::resource::{RLIM_INFINITY, Resource, setrlimit};

pub use map::{Map, MapKind, Ring};
pub use program::{
    Attached, Instruction, Program, attach, attach_to_function, current_thread, load, load_return,
};
pub(crate) use query::{TCX, count_at};

/// `enum bpf_cmd` (`include/uapi/linux/bpf.h`).
#[derive(Debug, Clone, Copy)]
enum BpfCommand {
    CreateMap = 0,
    LookUp = 1,
    Update = 2,
    Load = 5,
    Run = 10,
    Query = 16,
    OpenRawTracepoint = 17,
}

/// # Safety
/// As [`call`].
unsafe fn made<T>(command: BpfCommand, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the caller guarantees it.
    let called = || unsafe { call(command, attributes) };
    let descriptor = match called() {
        // Before Linux 5.11 maps and programs are locked memory, usually limited to 64 KiB.
        Err(error) if error.raw_os_error() == Some(libc::EPERM) && unlimited() => called(),
        answer => answer,
    }?;
    // SAFETY: the kernel has just made this descriptor for us and no other code has it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn unlimited() -> bool {
    setrlimit(Resource::RLIMIT_MEMLOCK, RLIM_INFINITY, RLIM_INFINITY).is_ok()
}

/// # Safety
/// `T` has the layout of the kernel's `union bpf_attr` for this command, all addresses in it are
/// valid during the call, and the kernel may write to it where the command answers in it.
unsafe fn call<T>(command: BpfCommand, attributes: *const T) -> io::Result<RawFd> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of `attributes`; the caller guarantees the
    // rest.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command as libc::c_long, attributes, size_of::<T>() as libc::c_long)
    };
    match RawFd::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

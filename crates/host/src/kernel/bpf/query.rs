//! The BPF programs that other processes have loaded.

use std::io;
use std::os::fd::AsRawFd;

use super::{Command, call, made};

/// `BPF_TCX_INGRESS` and `BPF_TCX_EGRESS` (`enum bpf_attach_type`): traffic control without a
/// queueing discipline, since Linux 6.6.
pub(crate) const TCX: [u32; 2] = [46, 47];

// More programs at one place of an interface than the kernel allows (`BPF_MPROG_MAX`).
const MOST: usize = 64;

/// The names of the programs at a place of an interface, in the order in which they run.
///
/// # Errors
/// The kernel's error: `EINVAL` where it has no such place, `EPERM` without `CAP_NET_ADMIN`.
pub(crate) fn names_at(interface: u32, place: u32) -> io::Result<Vec<String>> {
    let mut numbers = [0u32; MOST];
    let mut query = QueryAttributes {
        interface,
        place,
        numbers: numbers.as_mut_ptr() as u64,
        count: MOST as u32,
        ..QueryAttributes::default()
    };
    // SAFETY: the kernel writes at most `count` numbers of 4 bytes behind `numbers`, and the fields
    // of the query itself: both live until the call returns, and nothing else refers to them.
    unsafe { call(Command::Query, &raw mut query) }?;
    Ok(numbers.iter().take(query.count as usize).map(|number| name(*number)).collect())
}

/// The name of a program by its number; `unnamed` if it has none, or if the kernel does not tell
/// it, as without `CAP_SYS_ADMIN`. The number itself changes with each start of the program.
pub(crate) fn name(number: u32) -> String {
    let told = || -> io::Result<ProgramInfo> {
        // SAFETY: the number of a program, that of the next one, flags: no address.
        let program = unsafe { made(Command::ProgramByNumber, &[number, 0, 0]) }?;
        let mut info = ProgramInfo::default();
        let attributes = InfoAttributes {
            descriptor: program.as_raw_fd().unsigned_abs(),
            length: size_of::<ProgramInfo>() as u32,
            info: (&raw mut info) as u64,
        };
        // SAFETY: the kernel writes at most `length` bytes behind `info`, which lives until the
        // call returns. Of what it could write elsewhere, all lengths are 0.
        unsafe { call(Command::Info, &attributes) }?;
        Ok(info)
    };
    let text = told().map(|info| {
        let name = info.name.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    });
    text.ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "unnamed".to_owned())
}

/// The fields of `union bpf_attr` for `BPF_PROG_QUERY`, up to the last one that the kernel writes:
/// it writes the revision whatever size it was told (`bpf_mprog_query`).
#[repr(C)]
#[derive(Debug, Default)]
struct QueryAttributes {
    interface: u32,
    place: u32,
    query_flags: u32,
    attach_flags: u32,
    numbers: u64,
    count: u32,
    _padding: u32,
    /// Addresses of flags and links, and the revision.
    _unused: [u64; 4],
}

/// The fields for `BPF_OBJ_GET_INFO_BY_FD`.
#[repr(C)]
#[derive(Debug)]
struct InfoAttributes {
    descriptor: u32,
    length: u32,
    info: u64,
}

/// The first fields of `struct bpf_prog_info`.
#[repr(C)]
#[derive(Debug, Default)]
struct ProgramInfo {
    /// Kind, number, tag, lengths and addresses of instructions, time, user, maps.
    _unused: [u64; 8],
    name: [u8; 16],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_the_kernel_writes_lies_beyond_what_it_is_given() {
        // The end of `query.revision`, and `bpf_prog_info.name` (linux/bpf.h).
        assert_eq!(size_of::<QueryAttributes>(), 56 + 8);
        assert_eq!(std::mem::offset_of!(ProgramInfo, name), 64);
    }
}

//! The BPF programs that other processes have loaded.

use std::io;

use super::{Command, call};

/// `BPF_TCX_INGRESS` and `BPF_TCX_EGRESS`: traffic control without a queueing discipline.
pub(crate) const TCX: [u32; 2] = [46, 47];

/// Fails with `EINVAL` where the kernel has no such place, `EPERM` without `CAP_NET_ADMIN`.
pub(crate) fn count_at(interface: u32, place: u32) -> io::Result<u32> {
    let mut query = QueryAttributes { interface, place, ..QueryAttributes::default() };
    // SAFETY: the query has no room for programs, so that the kernel writes only fields of the
    // query itself, which lives until the call returns; nothing else refers to it.
    unsafe { call(Command::Query, &raw mut query) }?;
    Ok(query.count)
}

/// The fields of `union bpf_attr` for `BPF_PROG_QUERY`, up to the last one that the kernel writes:
/// it writes the revision whatever size it was told (`bpf_mprog_query`).
#[repr(C)]
#[derive(Debug, Default)]
struct QueryAttributes {
    interface: u32,
    place: u32,
    /// Flags, and the address of the programs.
    _unused: [u64; 2],
    count: u32,
    _padding: u32,
    /// Addresses of flags and links, and the revision.
    _more: [u64; 4],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_the_kernel_writes_lies_beyond_what_it_is_given() {
        // The end of `query.revision`, and `query.prog_cnt` (linux/bpf.h).
        assert_eq!(size_of::<QueryAttributes>(), 56 + 8);
        assert_eq!(std::mem::offset_of!(QueryAttributes, count), 24);
    }
}

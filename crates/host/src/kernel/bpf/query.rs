//! The BPF programs that other processes have loaded.

use std::io;

use super::{BpfCommand, call};

/// `BPF_TCX_INGRESS` and `BPF_TCX_EGRESS`: traffic control without a queueing discipline.
pub(crate) const TCX: [u32; 2] = [46, 47];

// `union bpf_attr` for `BPF_PROG_QUERY`, in words of 32 bits: interface and place, flags and the
// address of programs, their count, and three addresses behind padding. The last is the revision,
// which the kernel writes whatever size it was told (`bpf_mprog_query`).
const WORDS: usize = 16;
const COUNT: usize = 6;

/// Fails with `EINVAL` where the kernel has no such place, `EPERM` without `CAP_NET_ADMIN`.
pub(crate) fn count_at(interface: u32, place: u32) -> io::Result<u32> {
    let mut query = [0u32; WORDS];
    query[..2].copy_from_slice(&[interface, place]);
    // SAFETY: the query has no room for programs, so that the kernel writes only fields of the
    // query itself, which lives until the call returns; nothing else refers to it.
    unsafe { call(BpfCommand::Query, &raw mut query) }?;
    Ok(query[COUNT])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_the_kernel_writes_lies_beyond_what_it_is_given() {
        // The end of `query.revision`, and `query.prog_cnt` (linux/bpf.h).
        assert_eq!(size_of::<[u32; WORDS]>(), 56 + 8);
        assert_eq!(size_of::<[u32; COUNT]>(), 24);
    }
}

//! How the kernel is asked: netlink, BPF, and the text files in which it describes itself.

pub(crate) mod attributes;
pub mod bpf;
pub(crate) mod counted;
pub(crate) mod files;
pub(crate) mod netlink;

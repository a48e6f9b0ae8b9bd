//! Interfaces to the kernel: netlink, BPF, and its text files.

pub(crate) mod attributes;
pub mod bpf;
pub(crate) mod counted;
pub(crate) mod event;
pub(crate) mod files;
pub(crate) mod netlink;
pub(crate) mod pages;

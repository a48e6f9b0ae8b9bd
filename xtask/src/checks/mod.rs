//! The checks that make up the job `test`.

pub(crate) mod browser;
pub(crate) mod cargo;
pub(crate) mod elf;
pub(crate) mod needs;
pub(crate) mod scripts;
pub(crate) mod static_binary;
pub(crate) mod tests;
pub(crate) mod tree;
pub(crate) mod workflows;

//! CPUs: their list, their times, and the threads that run on them.

#![expect(missing_docs, reason = "most fields and variants are clear by their names")]

pub mod affinity;
pub(crate) mod interrupts;
pub(crate) mod power;
pub(crate) mod quota;
pub(crate) mod tasks;
pub(crate) mod threads;
pub(crate) mod times;

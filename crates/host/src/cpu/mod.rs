//! CPUs: their list, their times, and the threads that run on them.

pub mod affinity;
pub(crate) mod clock;
pub(crate) mod interrupts;
pub(crate) mod latency;
pub(crate) mod mask;
pub(crate) mod power;
pub(crate) mod priority;
pub(crate) mod process_threads;
pub(crate) mod quota;
pub(crate) mod softirqs;
pub(crate) mod stat;
pub(crate) mod tasks;
pub(crate) mod thread_times;
pub(crate) mod times;

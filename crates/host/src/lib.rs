//! One machine, or one network namespace, as seen from inside: its interfaces and their offload features, what its CPUs and
//! protocols count, what it is, and what this process may do with it.
//!
//! Everything here is synchronous and is meant for an agent process that lives in a network namespace of its own. What the
//! kernel says, in netlink messages or in text files, is read by total functions that never panic.

mod attributes;
mod bitset;
mod bridge;
mod clock;
mod counted;
mod counters;
mod cpu;
mod cpu_list;
mod discard;
mod discipline;
mod disturbances;
mod environment;
mod error;
mod ethtool;
mod features;
mod files;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod interrupts;
mod least;
mod link;
mod link_limit;
mod links;
mod neighbours;
mod netlink;
mod privileges;
mod process_threads;
mod queue;
mod snmp;
mod softirqs;
mod tap;
mod tasks;
mod thread_times;
mod tunnel;
mod turn;
mod urgency;
mod xdp;

pub mod affinity;
pub mod bpf;
pub mod journal;
pub mod machine;
pub mod named;
pub mod namespace;
pub mod steering;

pub use clock::{ClockCheck, ClockReading};
pub use counters::{
    ContextSwitches, Counters, IpCounters, SoftnetCounters, TcpCounters, UdpCounters, WireCounters,
};
pub use cpu::{CpuTimes, CpuUsage};
pub use discard::{Discard, DiscardDevice};
pub use discipline::Discipline;
pub use disturbances::Disturbances;
pub use environment::{
    CpuEnvironment, Environment, IdleState, InterfaceEnvironment, KernelEnvironment, LoadEnvironment,
    MachineEnvironment, visible_sysctls,
};
pub use error::Error;
pub use ethtool::Ethtool;
pub use features::{FeatureChange, FeatureState, Features, FollowOn, Refusal, RefusalReason};
pub use interrupts::{Interrupt, Interrupts};
pub use least::{
    Capability, close_inherited, gain_no_privileges, keep_capabilities, lower_bounds, open_files,
};
pub use link::{Link, LinkCounters};
pub use link_limit::LinkLimit;
pub use links::{Links, forget_path_mtus};
pub use privileges::{Privileges, UserNamespaces};
pub use process_threads::ProcessThreads;
pub use queue::QueueCounters;
pub use softirqs::Softirqs;
pub use tap::create_tap;
pub use tasks::{Others, Spent, Tasks};
pub use thread_times::{ProcessTimes, ThreadTimes};
pub use tunnel::Vxlan;
pub use turn::{Holder, Turn};
pub use urgency::hurry_current_thread;

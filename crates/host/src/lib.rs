//! One machine, or one network namespace, from inside: interfaces and their offload features,
//! counters, description, privileges. Synchronous, for an agent process in a network namespace of
//! its own; total functions read the kernel's messages and text files, and never panic.

mod counters;
mod cpu;
mod environment;
mod error;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../fuzz/kernel.rs"]
pub mod fuzz;
mod kernel;
mod link;
mod measuring_lock;
mod privileges;

pub mod journal;
pub mod machine;
pub mod namespace;
pub mod perf;
pub mod user_file;

pub use counters::{
    ContextSwitches, Counters, DeviceCounters, DeviceReader, IpCounters, SnmpTable, SoftnetCounters,
    TcpCounters, UdpCounters, WireCounters,
};
pub use cpu::affinity::{self, prioritise_current_thread};
pub use cpu::interrupts::{InterruptKind, Interrupts, Softirqs};
pub use cpu::power::hold_latency;
pub use cpu::quota::{CpuQuota, QuotaGroup, Quotas, Throttled};
pub use cpu::tasks::{OtherProcesses, ProcessOnCpu, Tasks};
pub use cpu::threads::{ProcessThreads, ProcessTimes, ThreadTimes};
pub use cpu::times::{ClockCheck, ClockReading, CpuTimes};
pub use environment::{
    CpuEnvironment, Firewall, Hardware, HostEnvironment, IdleState, InterfaceEnvironment, KernelEnvironment,
    LoadEnvironment, MachineEnvironment, visible_sysctls,
};
pub use error::{Error, LockHolder};
pub use kernel::bpf;
#[doc(hidden)]
pub use kernel::counted::wrapping_since;
pub use kernel::files::threads_named;
pub use link::device::{DeviceChange, DeviceSettings, DeviceValue};
pub use link::discard::DiscardDevice;
pub use link::ethtool::Ethtool;
pub use link::features::{FeatureChange, FeatureState, Features, SettingsChange};
pub use link::impairment::Impairment;
pub use link::interface::{Link, LinkCounters};
pub use link::ipv6::LEAST_IPV6_MTU;
pub use link::limit::LinkLimit;
pub use link::links::{GROUP, Links, create_tap, forget_path_mtus};
pub use link::located::{LocatedInterface, PairFacts, TakenAddress, same_network};
pub use link::programs::{ProgramPlace, Programs};
pub use link::traffic_control::QueueCounters;
pub use link::tunnel::{NUMBERED, NUMBERS, Vxlan};
pub use measuring_lock::{take_lock_of_root, take_measuring_lock};
pub use privileges::{
    CapabilitySet, Privileges, close_inherited, gain_no_privileges, keep_capabilities, lower_bounds,
    open_files,
};

//! The options of a testbed.

use std::path::PathBuf;

use host::DiscardDevice;
use record::CpuSplit;
use study::{BootState, BySide, Family};

use crate::hosts::{Hosts, MachineSideSettings};

/// The options of a testbed.
#[derive(Debug, Clone)]
pub struct Options {
    /// The netassay binary, which becomes each agent.
    pub program: PathBuf,
    /// The CPUs of each host.
    pub cpus: CpuSplit,
    /// Use a user namespace even with privileges.
    pub rootless: bool,
    /// (discard) the device that discards the packets; `None`: the first that this kernel has.
    pub discard_device: Option<DiscardDevice>,
    /// The families of the traffic: interfaces get no address of another one.
    pub families: Vec<Family>,
    /// The state that only a fresh boot changes: the scenario, the tunnel's underlay, the virtual
    /// machines.
    pub state: BootState,
    /// Build it inside one virtual machine.
    pub inside_guest: bool,
    /// (inside a virtual machine) count instructions instead of time.
    pub exact: bool,
    /// The user's machines, for the scenarios that run between them.
    pub hosts: Option<Hosts>,
    /// The study's settings of these machines, made for each boot.
    pub machine: BySide<MachineSideSettings>,
}

impl Options {
    /// The default options.
    #[must_use]
    pub fn new(
        state: impl Into<BootState>,
        program: impl Into<PathBuf>,
        cpus: CpuSplit,
        rootless: bool,
    ) -> Self {
        Self {
            program: program.into(),
            cpus,
            rootless,
            discard_device: None,
            families: Family::ALL.to_vec(),
            state: state.into(),
            inside_guest: false,
            exact: false,
            hosts: None,
            machine: BySide::default(),
        }
    }
}

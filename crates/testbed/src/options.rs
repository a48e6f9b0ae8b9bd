//! How a testbed is to be built.

use std::path::PathBuf;

use host::DiscardDevice;
use record::CpuSplit;
use study::BootState;

/// How a testbed is to be built.
#[derive(Debug, Clone)]
pub struct Options {
    /// The netassay binary, which becomes each agent.
    pub program: PathBuf,
    /// The CPUs of each host.
    pub cpus: CpuSplit,
    /// Build it in a user namespace even where privileges would allow more.
    pub rootless: bool,
    /// (discard) what is to throw the packets away; `None`: the first that this kernel has.
    pub discard_device: Option<DiscardDevice>,
    /// What of it only a fresh boot changes: the kind of testbed, the tunnel's underlay, the
    /// virtual machines.
    pub state: BootState,
    /// Build it inside one virtual machine.
    pub inside_guest: bool,
    /// (inside a virtual machine) count instructions instead of time.
    pub exact: bool,
}

impl Options {
    /// A testbed without anything special.
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
            state: state.into(),
            inside_guest: false,
            exact: false,
        }
    }
}

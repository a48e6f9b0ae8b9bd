//! Scenarios: makes the hosts and the wire between them, starts their agents, and takes everything down again.
//!
//! A [`Testbed`] lives as long as its value: dropping it ends the agents, and with them the namespaces and links
//! that only they held. Nothing has a name that could outlive the controller.

mod builder;
mod cpus;
mod crowd;
mod discard;
mod drift;
mod end;
mod error;
mod exact;
mod launched;
mod local;
mod machines;
mod node;
mod options;
mod run;
mod switches;
mod testbed;
mod tunnel_mtu;
mod vm;
mod vxlan;

pub use cpus::{split, usable};
pub use crowd::crowded;
pub use drift::drift;
pub use end::End;
pub use error::Error;
pub use options::Options;
pub use record::{CpuSplit, RunAccount};
pub use run::RunOrder;
pub use switches::{Switches, UnderlaySwitches};
pub use testbed::Testbed;

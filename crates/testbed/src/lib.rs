//! Scenarios: makes the hosts and the path between them, starts their agents, and removes
//! everything again.
//!
//! A [`Testbed`] lives as long as its value: dropping it ends the agents, and with them the
//! namespaces and links that only they held. Nothing has a name that could outlive the controller.

mod build;
mod builder;
mod cpus;
mod crowd;
mod drift;
mod elsewhere;
mod end;
mod error;
mod exact;
mod guests;
mod hosts;
mod inside;
mod intended;
mod launched;
mod lodged;
mod machines;
mod options;
mod pair;
mod path;
mod placed;
mod preview;
mod restart;
mod run;
mod scenario;
mod settings;
mod staying;
mod switches;
mod testbed;
mod traced;
mod turns;
mod wire;

pub use cpus::{of_this_machine, split};
pub use crowd::crowded;
pub use drift::drift;
pub use end::End;
pub use error::Error;
pub use hosts::{HostPlace, Hosts, SideSettings};
pub use intended::Intended;
pub use options::Options;
pub use pair::{Checked, Crossing, Fault};
pub use reach::Boot;
pub use record::{CpuSplit, RunAccount};
pub use restart::Restarter;
pub use run::RunOrder;
pub use settings::MachineSettings;
pub use staying::{Staying, Wanted};
pub use switches::{Switches, UnderlaySwitches};
pub use testbed::Testbed;
pub use turns::{TakesTurns, TurnsOrder};
pub use wire::Found;

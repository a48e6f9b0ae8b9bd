//! Scenarios: makes the hosts and the path between them, starts their agents, and removes
//! everything again.
//!
//! A [`Testbed`] lives as long as its value: dropping it ends the agents, and with them the
//! namespaces and links that only they held. Nothing has a name that could outlive the controller.
//! [`reach`] has the ways to other machines, and [`guest`] the virtual machines.

mod build;
mod builder;
mod cpus;
mod drift;
mod end;
mod error;
mod exact;
pub mod guest;
mod guests;
mod hosts;
mod inside_guest;
mod intended_change;
mod lasting_settings;
mod launched_agent;
mod options;
mod oversubscription;
mod pair;
mod path;
mod path_traces;
mod placement;
mod preview;
pub mod reach;
mod remote_guests;
mod remote_namespaces;
mod restart;
mod run;
mod scenario;
mod settings;
mod switches;
mod testbed;
mod turns;
mod two_machines;
mod virtual_machines;

pub use cpus::{cpu_split_of_this_machine, split_cpus};
pub use drift::drift;
pub use end::End;
pub use error::Error;
pub use hosts::{HostPlace, Hosts, MachineSideSettings};
pub use intended_change::IntendedChange;
pub use lasting_settings::{InterfaceSettings, LastingSettings};
pub use options::Options;
pub use oversubscription::oversubscription;
pub use pair::{Crossing, PairCheck, PairFault};
pub use record::{CpuSplit, RunAccount};
pub use restart::Restarter;
pub use run::RunOrder;
pub use settings::SettingsAgent;
pub use switches::{Switches, UnderlaySwitches};
pub use testbed::Testbed;
pub use turns::{TurnCondition, TurnsOrder};
pub use two_machines::FoundMachine;

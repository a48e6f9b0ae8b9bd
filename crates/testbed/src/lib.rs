//! Scenarios: makes the hosts and the path between them, starts their agents, and removes
//! everything again.
//!
//! A [`Testbed`] lives as long as its value: dropping it ends the agents, and with them the
//! namespaces and links that only they held. Nothing has a name that could outlive the controller.
//! [`reach`] has the ways to other machines, and [`guest`] the virtual machines.

mod builder;
mod console;
mod cpus;
mod drift;
mod error;
mod exact;
pub mod guest;
mod guests;
mod hosts;
mod intended_change;
mod launched_agent;
mod pair;
mod path;
pub mod reach;
mod run;
mod scenario;
mod settings;
mod switches;
mod testbed;
mod turns;
mod two_machines;

pub use builder::Options;
pub use cpus::{cpu_split_of_this_machine, oversubscription, split_cpus};
pub use drift::drift;
pub use error::{Error, GuestFault};
pub use hosts::{HostPlace, Hosts, MachineSideSettings, Restarter};
pub use intended_change::IntendedChange;
pub use pair::{Crossing, PairCheck, PairFault};
pub use record::{CpuSplit, RunAccount};
pub use run::RunOrder;
pub use settings::{InterfaceSettings, LastingSettings, SettingsAgent};
pub use switches::{InterfaceSwitches, Switches};
pub use testbed::{End, Testbed};
pub use turns::{TurnCondition, TurnsOrder};
pub use two_machines::FoundMachine;

//! Makes the hosts and the path between them, and starts their agents. Dropping a [`Testbed`] ends
//! the agents, and with them all namespaces and links. [`reach`] has the ways to other machines,
//! [`guest`] the virtual machines.

mod builder;
mod console;
mod cpus;
mod crash;
mod drift;
mod error;
mod exact;
pub mod guest;
mod guests;
mod hosts;
mod intended_change;
mod launched_agent;
mod out_of_band;
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

pub use builder::TestbedOptions;
pub use cpus::{cpu_split_of_this_machine, oversubscription, split_cpus};
pub use drift::drift;
pub use error::{Error, GuestFault};
pub use hosts::{HostPlace, Hosts, MachineSideSettings, Restarter};
pub use intended_change::IntendedChange;
pub use out_of_band::{ManagementCommands, OutOfBand};
pub use pair::{Crossing, PairCheck, PairFault};
pub use record::{CpuSplit, RunAccount};
pub use run::RunOrder;
pub use settings::{FixedFeature, InterfaceSettings, SettingsAgent};
pub use switches::{InterfaceSwitches, Switches};
pub use testbed::{End, Testbed};
pub use turns::{TurnCondition, TurnsOrder};
pub use two_machines::FoundMachine;

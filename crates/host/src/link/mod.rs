//! Interfaces: their description, their settings, their counters.

pub(crate) mod bitset;
pub(crate) mod bridge;
pub(crate) mod device;
pub(crate) mod discard;
pub(crate) mod discipline;
pub(crate) mod driver;
pub(crate) mod entry;
pub(crate) mod ethtool;
pub(crate) mod features;
pub(crate) mod flow_hash;
pub(crate) mod impairment;
pub(crate) mod interface;
pub(crate) mod ioctl;
pub(crate) mod ipv6;
pub(crate) mod limit;
pub(crate) mod links;
pub(crate) mod located;
pub(crate) mod neighbours;
pub(crate) mod pair;
pub(crate) mod programs;
pub(crate) mod queue;
pub mod steering;
pub(crate) mod tap;
pub(crate) mod tunnel;

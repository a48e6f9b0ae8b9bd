//! Interfaces: their description, their settings, their counters.

#![expect(missing_docs, reason = "most fields and variants are clear by their names")]

pub(crate) mod device;
pub(crate) mod discard;
pub(crate) mod entry;
pub(crate) mod ethtool;
pub(crate) mod features;
pub(crate) mod impairment;
pub(crate) mod interface;
pub(crate) mod ioctl;
pub(crate) mod ipv6;
pub(crate) mod limit;
pub(crate) mod links;
pub(crate) mod located;
pub(crate) mod neighbours;
pub(crate) mod programs;
pub(crate) mod traffic_control;
pub(crate) mod tunnel;

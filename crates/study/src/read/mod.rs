//! From the text of a file to a valid study, or to everything that is wrong with it.

mod check;
mod comparison;
mod design;
pub(crate) mod diagnostic;
pub(crate) mod factor;
mod guest;
mod machine;
pub(crate) mod problems;
mod protocol;
mod selection;
mod study;
pub(crate) mod table;
mod testbed;
mod underlay;
mod value;
mod workload;

pub(crate) use comparison::KEYS as COMPARISON_KEYS;
pub(crate) use design::{KEYS as DESIGN_KEYS, LadderOrder};
pub(crate) use guest::KEYS as GUEST_KEYS;
#[cfg(test)]
pub(crate) use machine::KEYS as MACHINE_KEYS;
pub(crate) use protocol::{KEYS as PROTOCOL_KEYS, STOP_KEYS};
#[cfg(test)]
pub(crate) use study::KEYS as STUDY_KEYS;
pub(crate) use testbed::Inside;
pub(crate) use underlay::KEYS as UNDERLAY_KEYS;
pub(crate) use workload::keys as workload_keys;

//! Reads the text of a file as a valid study, or reports every problem in it.

mod check;
mod comparison;
mod design;
pub(crate) mod diagnostic;
pub(crate) mod factor;
mod machine;
mod obstacle;
mod part;
pub(crate) mod problems;
mod protocol;
mod selection;
mod study;
pub(crate) mod table;
mod testbed;
mod tracing;
mod value;
mod workload;

pub(crate) use workload::keys as workload_keys;

//! The model of a study.

pub(crate) mod boot_state;
pub(crate) mod design;
pub(crate) mod dropped;
pub(crate) mod factor;
pub(crate) mod grid;
pub(crate) mod guest;
pub(crate) mod limit;
pub(crate) mod literal;
pub(crate) mod machine;
pub(crate) mod name;
pub(crate) mod offloads;
pub(crate) mod protocol;
pub(crate) mod scope;
pub(crate) mod selection;
pub(crate) mod stop;
pub(crate) mod study;
pub(crate) mod switch;
pub(crate) mod tables;
pub(crate) mod tracing;

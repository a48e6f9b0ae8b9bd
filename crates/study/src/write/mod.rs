//! Study files that netassay writes.

pub(crate) mod starter;
pub(crate) mod twins;

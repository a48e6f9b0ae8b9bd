//! How numbers, lists and tables are written.

pub(crate) mod number;
pub(crate) mod phrases;
pub(crate) mod table;

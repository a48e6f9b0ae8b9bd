//! The form of numbers, lists and tables.

pub(crate) mod colour;
pub(crate) mod layout;
pub(crate) mod lists;
pub(crate) mod names;
pub(crate) mod number;
pub(crate) mod phrases;
pub(crate) mod table;

//! The form of numbers, lists and names.

pub(crate) mod lists;
pub(crate) mod number;
pub(crate) mod phrases;

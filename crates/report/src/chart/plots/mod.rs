//! The kinds of plots, a file for each.

pub(crate) mod bars;
pub(crate) mod curves;
pub(crate) mod dots;
pub(crate) mod flame;
pub(crate) mod forest;
pub(crate) mod histogram;
pub(crate) mod history;
pub(crate) mod lanes;

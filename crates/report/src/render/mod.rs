//! Pages, tables and sentences.

pub(crate) mod answer;
pub(crate) mod between;
pub(crate) mod classic;
pub(crate) mod column;
pub(crate) mod comparison;
pub(crate) mod copies;
pub(crate) mod credit;
pub(crate) mod environment;
pub(crate) mod explain;
pub(crate) mod false_positives;
pub(crate) mod group;
pub(crate) mod list;
pub(crate) mod method;
pub(crate) mod over_time;
mod overview;
mod page;
pub(crate) mod plan;
pub(crate) mod proof;
pub(crate) mod remarks;
pub(crate) mod results;
pub(crate) mod row;
pub(crate) mod runs;
pub(crate) mod sizing;
pub(crate) mod spread;
mod summary;
pub(crate) mod why;
mod workload;

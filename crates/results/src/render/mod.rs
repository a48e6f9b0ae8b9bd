//! Pages, tables and sentences.

pub(crate) mod between;
pub(crate) mod both_ways;
pub(crate) mod environment;
pub(crate) mod explained;
pub(crate) mod false_positives;
pub(crate) mod functions;
pub(crate) mod history;
pub(crate) mod over_time;
pub(crate) mod plan;
pub(crate) mod proof;
pub(crate) mod ranges;
mod result_parts;
pub(crate) mod sizing;
pub(crate) mod spread;
pub(crate) mod stages;
pub(crate) mod study_list;
pub(crate) mod switches;
pub(crate) mod titled_table;
pub(crate) mod why;

//! Pages, tables and sentences.

pub(crate) mod answer;
pub(crate) mod classic;
pub(crate) mod column;
pub(crate) mod comparison;
pub(crate) mod comparison_remarks;
pub(crate) mod comparison_row;
pub(crate) mod copies;
pub(crate) mod credit;
pub(crate) mod group;
pub(crate) mod method;
mod overview;
pub(crate) mod result_parts;
pub(crate) mod results;
pub(crate) mod runs;
pub(crate) mod spread;
mod study_page;
mod summary_table;
pub(crate) mod titled_table;
mod workload;

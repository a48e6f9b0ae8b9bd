//! Views: each makes blocks of results, which the writers of `document` put into a form. Where a
//! view can be whole, it has every figure, else as much as is read on one screen.

mod aa;
mod advice;
mod answer;
mod between;
mod compare;
mod comparison_table;
mod credit;
mod environment;
mod evidence;
mod explained;
mod gate;
mod history;
mod junit;
mod means_table;
mod method;
mod over_time;
mod overview;
mod plan;
mod runs;
mod sizing;
mod stage_ranges;
mod stages;
mod study;
mod study_list;

pub use aa::{both_ways, false_positives};
pub use advice::{PlannedSetting, PlannedSettings, advice, advice_script, advice_tables, planned_settings};
pub use between::between;
pub use compare::{classic, compare};
pub use environment::environment;
pub use evidence::{evidence, switch_states};
pub use gate::gate;
pub use history::history;
pub use junit::gate_junit;
pub use over_time::over_time;
pub(crate) use over_time::progress;
pub use plan::plan;
pub use runs::{left_out, runs};
pub use sizing::sizing;
pub use stage_ranges::stage_ranges;
pub use stages::stage_differences;
pub use study::show;
pub use study_list::study_list;

pub(crate) use answer::{answer, answers_in_full, facts};
pub(crate) use credit::{combinations, proven_credit};
pub(crate) use method::method;
pub(crate) use study::conditions;

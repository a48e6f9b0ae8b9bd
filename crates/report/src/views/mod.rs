//! Views: each is a function from results to the blocks of a page.

mod aa;
mod between;
mod environment;
mod evidence;
mod explained;
mod history;
mod over_time;
mod plan;
mod sizing;
mod stage_ranges;
mod stages;
mod study_list;

pub use aa::{both_ways, false_positives};
pub use between::between;
pub use environment::environment;
pub use evidence::{evidence, switch_states};
pub use history::history;
pub use over_time::over_time;
pub use plan::plan;
pub use sizing::sizing;
pub use stage_ranges::stage_ranges;
pub use stages::stage_differences;
pub use study_list::study_list;

//! Views: each makes blocks of results, which the writers of `document` put into a form.

mod advice;
mod gate;
mod junit;

pub use advice::{PlannedSetting, PlannedSettings, advice, advice_script, advice_tables, planned_settings};
pub use gate::gate;
pub use junit::gate_junit;

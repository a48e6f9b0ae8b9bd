//! What was found, in words, tables and JSON. Pure: takes what the store holds, gives text.
//!
//! [`Results`] is the page that a run ends with, [`Comparisons`] and [`Classic`] what `compare` prints,
//! [`PlanListing`] what `--dry-run` prints.

mod acted;
mod ambient;
mod classic;
mod column;
mod comparison;
mod congestion_control;
mod copies;
mod credit;
mod disturbed;
mod environment;
mod error;
mod exact;
mod false_positives;
mod group;
mod limits;
mod list;
mod looks;
mod means;
mod method;
mod metric;
mod missing;
mod notes;
mod number;
mod outcomes;
mod over_time;
mod plan;
mod proof;
mod remarks;
mod results;
mod runs;
mod sentence;
mod sizing;
mod spread;
mod stored;
mod subject;
mod table;
mod target;
mod truth;
mod unmeasured;
mod view;
mod why;

pub use classic::Classic;
pub use comparison::Comparisons;
pub use environment::environments;
pub use error::Error;
pub use false_positives::FalsePositives;
pub use list::{StudyList, list};
pub use looks::is_decided;
pub use metric::{primary_metrics, resolve_metric, unit_of};
pub use number::{counted, duration, figure, instant, percent, plain};
pub use over_time::over_time;
pub use plan::PlanListing;
pub use results::Results;
pub use sizing::{Sizing, SizingRequest, Spread};
pub use subject::{BootNames, Subject};
pub use table::Table;
pub use target::ComparisonRequest;
pub use view::{EffectiveView, PlanView, SettledView};

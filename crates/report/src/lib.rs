//! What was found, in words, tables and JSON. Pure: takes what the store holds, gives text.
//!
//! [`Results`] is the page that a run ends with, [`Comparisons`] and [`Classic`] what `compare` prints,
//! [`PlanListing`] what `--dry-run` prints.

mod classic;
mod comparison;
mod environment;
mod error;
mod group;
mod list;
mod means;
mod metric;
mod notes;
mod number;
mod plan;
mod proof;
mod results;
mod runs;
mod sentence;
mod table;
mod target;
mod view;

pub use classic::Classic;
pub use comparison::Comparisons;
pub use environment::environments;
pub use error::Error;
pub use list::{StudyList, list};
pub use metric::{primary_metrics, resolve_metric, unit_of};
pub use number::{counted, duration, figure, instant, percent};
pub use plan::PlanListing;
pub use results::Results;
pub use table::Table;
pub use target::ComparisonRequest;
pub use view::{EffectiveView, PlanView, SettledView};

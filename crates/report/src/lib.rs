//! Results as words, tables and JSON. Pure: takes stored data, returns text.
//!
//! [`Results`] is the page at the end of a run, [`Comparisons`] and [`Classic`] what `compare`
//! prints, [`PlanListing`] what `--dry-run` prints.

mod data;
mod render;
mod words;

pub use data::decided::is_decided;
pub use data::error::Error;
pub use data::metric::{primary_metrics, resolve_metric, unit_of};
pub use data::pairs::metrics_to_compare;
pub use data::subject::{BootNames, Subject};
pub use data::target::ComparisonRequest;
pub use render::between::BetweenStudies;
pub use render::classic::Classic;
pub use render::comparison::Comparisons;
pub use render::environment::environments;
pub use render::false_positives::FalsePositives;
pub use render::list::{StudyList, list};
pub use render::over_time::over_time;
pub use render::plan::PlanListing;
pub use render::results::Results;
pub use render::sizing::{Sizing, SizingRequest, Spread};
pub use render::switches::{Change, Context, Effect, Estimate, FeatureChange, Held, How, Outcome, Switches};
pub use words::colour::sequences as colours;
pub use words::layout::Layout;
pub use words::number::{counted, duration, figure, instant, percent, plain, range};
pub use words::phrases::{list as listed, short_words as metric_words};
pub use words::table::Table;

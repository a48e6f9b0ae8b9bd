//! Results as words, tables and JSON. Pure: takes stored data, returns text.
//!
//! [`Results`] is the page at the end of a run, [`Comparisons`] and [`Classic`] what `compare`
//! prints, [`PlanListing`] what `--dry-run` prints.

mod data;
pub mod document;
mod render;
mod words;

pub use data::acted::{Acted, Checksum};
pub use data::cases::{Against, Case, CaseAnswer, Cases};
pub use data::chosen::{Chosen, HistoryChoice, HistoryOrder};
pub use data::decided::is_decided;
pub use data::differences::Difference;
pub use data::error::Error;
pub use data::limits::LimitView;
pub use data::metric::{main_metrics, resolve_metric, unit_of};
pub use data::named::Named;
pub use data::pairs::metrics_to_compare;
pub use data::pilot::{Nearness, Spread};
pub use data::profiled::Stacks;
pub use data::series::Entry;
pub use data::subject::{BootNames, Subject};
pub use data::target::ComparisonRequest;
pub use render::between::BetweenStudies;
pub use render::both_ways::{BothWays, Outcome as Agreed};
pub use render::classic::Classic;
pub use render::comparison::Comparisons;
pub use render::credit::{Credit, Credits, EffectView, Interplay, Pair, Part, Whole};
pub use render::environment::{environments, first_environment, hosts_that_differ, machines};
pub use render::exhibit::Exhibit;
pub use render::false_positives::FalsePositives;
pub use render::group::{Group, Level};
pub use render::history::{History, Series};
pub use render::list::{StudyList, list};
pub use render::over_time::over_time;
pub use render::plan::PlanListing;
pub use render::ranges::StageRanges;
pub use render::results::{Condition, Results};
pub use render::row::Row;
pub use render::sizing::{Sizing, SizingRequest};
pub use render::stages::Stages;
pub use render::switches::{
    Alone, Change, Context, Effect, Estimate, FeatureChange, Held, How, Outcome, Switches,
};
pub use render::why::{Counter, Why};
pub use words::colour::{Tone, sequences as colours};
pub use words::layout::Layout;
pub use words::names::apart;
pub use words::number::{
    beyond_rounding, counted, duration, duration_of, figure, instant, percent, plain, range, rounded,
};
pub use words::phrases::{
    capital, first_of, list as listed, metric_name, short_words as metric_words, stages_by_end,
};
pub use words::table::Table;

//! Results as words, tables and JSON. Pure: takes stored data, returns text.
//!
//! [`Results`] is the page at the end of a run, [`Comparisons`] and [`ClassicTest`] are the pages
//! of `compare`, [`PlanListing`] is the page of `--dry-run`.

pub mod advice;
pub mod chart;
mod credit;
mod data;
pub mod document;
pub mod gate;
mod render;
mod words;

pub use credit::{
    CombinedGain, Credit, CreditPart, Credits, DesignEffect, Interplay, MissingState, SwitchPair,
    SwitchingOrders, change_words, gain_words,
};
pub use data::acted::{ActedOffloads, Checksum, flags as acted_flags};
pub use data::answer::answer_for;
pub use data::cases::{CaseAnswer, GateBaseline, GateCase, GateCases};
pub use data::classic::ClassicTest;
pub use data::comparison_group::{ComparisonGroup, ConditionMean};
pub use data::comparison_row::ComparisonRow;
pub use data::comparisons::Comparisons;
pub use data::differences::StudyDifference;
pub use data::early_stop::is_decided;
pub use data::error::Error;
pub use data::exact::no_verdicts;
pub use data::history_choice::{ChosenStudy, HistoryChoice, HistoryOrder};
pub use data::limits::ConditionLimit;
pub use data::metric::{main_metrics, resolve_metric, unit_of};
pub use data::missing::MissingRuns;
pub use data::pairs::metrics_to_compare;
pub use data::pilot::{Nearness, PilotSpread};
pub use data::profiled::Stacks;
pub use data::results::{ConditionResult, Results};
pub use data::series::HistoryEntry;
pub use data::study_ref::StudyRef;
pub use data::subject::{BootNames, Subject};
pub use data::target::ComparisonRequest;
pub use render::between::BetweenStudies;
pub use render::both_ways::{BothWays, WaysOutcome};
pub use render::environment::{environments, first_environment, hosts_that_differ, machines, programs};
pub use render::false_positives::FalsePositives;
pub use render::history::{HistorySeries, StudyHistory};
pub use render::over_time::over_time;
pub use render::plan::PlanListing;
pub use render::ranges::StageRanges;
pub use render::sizing::{Sizing, SizingRequest};
pub use render::stages::StageDifferences;
pub use render::study_list::{StudyList, list_studies};
pub use render::switches::{
    ChangeEstimate, ChangeOutcome, ConstantSetting, EffectMethod, FeatureReadBack, MetricChange,
    NarrowedStudy, SwitchContext, SwitchEffect, SwitchEffects,
};
pub use render::titled_table::TitledTable;
pub use render::why::{ExplainingCounter, Explanation};
pub use words::colour::{Tone, colour_sequences};
pub use words::layout::Layout;
pub use words::names::distinct_names;
pub use words::number::{
    beyond_rounding, counted, duration, duration_of, figure, instant, percent, plain, range, rounded,
};
pub use words::phrases::{
    before as workload_prefix, capital, first_of, heading as metric_heading, levels_without, listed,
    metric_name, metric_words, stages_by_end, title as metric_title,
};
pub use words::table::Table;

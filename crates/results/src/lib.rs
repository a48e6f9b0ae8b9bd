//! The findings of studies, runs, traces and machines, as data: this is the JSON. Pure.
//!
//! [`Results`] is about one study, [`Comparisons`] and [`ClassicTest`] are comparisons of values,
//! [`PlanListing`] is a study before it is measured, [`LoadRun`] one run, [`PathTraceReport`] the
//! trace of a path, [`Examination`] a machine.

pub mod advice;
mod credit;
mod data;
mod examination;
mod fleet;
mod fleet_status;
pub mod gate;
pub mod glossary;
mod history;
mod kernel_list;
mod latency_curve;
mod load_run;
mod path_trace;
mod switches;
mod why;
mod words;

pub use credit::{
    CombinedGain, Credit, CreditPart, Credits, DesignEffect, MissingState, SwitchingOrders, change_words,
    gain_words,
};
pub use data::acted::{ActedOffloads, flags as acted_flags};
pub use data::aligned::UnmatchedStage;
pub use data::answer::{answer_for, proven_for};
pub use data::between::BetweenStudies;
pub use data::both_ways::{BothWays, WaysComparison, WaysOutcome};
pub use data::cases::{GateBaseline, GateCase, GateCases};
pub use data::classic::ClassicTest;
pub use data::comparison_group::{ComparisonGroup, NamedEstimate};
pub use data::comparison_row::{ComparisonRow, quality_word, short_verdict};
pub use data::comparisons::Comparisons;
pub use data::differences::StudyDifference;
pub use data::early_stop::is_decided;
pub use data::environment::{machines, programs};
pub use data::error::Error;
pub use data::exact::{RESOLUTION as COUNT_RESOLUTION, no_verdicts};
pub use data::false_positives::{FalsePositiveRate, FalsePositives, MetricRates, TestMethod};
pub use data::leaves::{differing, leaves};
pub use data::limits::ConditionLimit;
pub use data::metric::{ComparedMetric, main_metrics, resolve_metric};
pub use data::missing::MissingRuns;
pub use data::origin::TraceOrigin;
pub use data::pairs::metrics_to_compare;
pub use data::path_comparison::{PathPair, UnclosedRuns, unfollowed_runs};
pub use data::pilot::{Nearness, PilotSpread};
pub use data::plan_listing::PlanListing;
pub use data::profiled::{ProfilePair, Stacks};
pub use data::results::{ConditionResult, Results};
pub use data::sizing::{Sizing, SizingRequest};
pub use data::stage_differences::StageDifferences;
pub use data::stage_ranges::{LeftOutRuns, StageRange, StageRanges, TraceSources, TracedPath};
pub use data::study_list::{ListedStudy, StudyRef};
pub use data::subject::{BootNames, Subject};
pub use data::target::ComparisonRequest;
pub use data::turns::{PARTS as TURN_PARTS, TurnsOfCondition, in_turns};
pub use examination::{Examination, ExaminedPair, Finding, FindingStatus, PairProperty};
pub use fleet::{
    EffectOverPairs, FleetReference, FleetResults, PairApart, PairOfFleet, PairStudies, PooledCampaigns,
};
pub use fleet_status::{FleetStatus, PairState, PairStatus};
pub use history::{
    ExcludedStudy, HistoryChoice, HistoryMember, HistoryOrder, HistorySeries, LevelChange, NewestStudy,
    StudyHistory, StudyMean,
};
pub use kernel_list::ListedKernel;
pub use latency_curve::{FIGURES, LatencyCurve, LoadPoint};
pub use load_run::LoadRun;
pub use path_trace::{ListedPath, PathList, PathTraceReport, Place, SizedTrace, TracedMachine, mixed_stages};
pub use switches::{
    ChangeEstimate, ChangeOutcome, ConstantSetting, EffectMethod, FactorLevel, MetricChange, SwitchContext,
    SwitchEffect, SwitchEffects,
};
pub use why::Explanation;
pub use words::lists::{distinct, grouped};
pub use words::number::{
    beyond_rounding, counted, duration, duration_of, figure, in_thousands, instant, interval_ends, percent,
    plain, range, rounded, spaced_duration, times, with_unit,
};
pub use words::phrases::{
    before as workload_prefix, capital, first_of, levels_without, listed, metric_heading, metric_name,
    metric_words, stages_by_end,
};

//! Fair credit: the effect of each offload of a study's design, for every combination of the other
//! factors, in the rate and in CPU per unit of work on each side.

mod combination;
mod measured;
mod parts;
mod sentences;

use serde::Serialize;
use stats::effects::Estimated;
use store::StoredStudy;
use study::metric::{Instructions, Metric};
use study::{DesignKind, Dropped, Kind, OffloadDesign, Unreachable};

use crate::data::exact::UnequalCounts;
use crate::data::truth::truth;
use crate::switches::switch_effect::rate_and_costs;
use crate::words::lists::distinct;
use crate::words::phrases::listed;

pub(crate) use combination::Combination;
pub use combination::MissingState;
pub(crate) use measured::{MeasuredCombination, SwitchPair, contexts};
pub use parts::{CombinedGain, CreditPart, DesignEffect, SwitchingOrders};
pub use sentences::{change_words, gain_words};

/// The credit of a study with a design.
#[derive(Debug, Serialize)]
pub struct Credits {
    /// The kind of design, which says the measured combinations.
    pub design: DesignKind,
    /// Combinations of the design that are not possible here, each once.
    pub unreachable: Vec<UnreachableState>,
    /// Offloads that left the design because they cannot be switched here.
    pub dropped: Vec<Dropped>,
    /// The kind of the figures, if not time on a machine.
    #[serde(skip)]
    pub truth: Option<&'static str>,
    /// One for each combination and metric.
    pub credits: Vec<Credit>,
}

/// A combination that is not possible.
#[derive(Debug, PartialEq, Serialize)]
pub struct UnreachableState {
    /// The offloads that were set on; the others were set off.
    pub asked: Vec<String>,
    /// The offloads that read back as on.
    pub reads: Vec<String>,
}

/// The credit under one combination of the levels of the other factors, in one metric.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Credit {
    pub workload: String,
    /// `family=ipv4 mtu=1500`; empty where the design's are the only factors.
    pub at: String,
    pub metric: Metric,
    pub unit: &'static str,
    /// The confidence of each interval by itself, as a probability.
    pub level: f64,
    /// Whether counts without noise are judged by the resolution, not by intervals.
    pub exact: bool,
    /// States whose counts do not repeat: with any, nothing is proven.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<UnequalCounts>,
    /// All on against all off; `None` if one of them was not planned or not measured.
    pub whole: Option<CombinedGain>,
    pub whole_is_not_known: Option<String>,
    pub parts: Vec<CreditPart>,
    pub adds_up: bool,
    /// The number of orders of switching on in the average of shares, and of all orders.
    pub orders: Option<SwitchingOrders>,
    pub planned_states: usize,
    /// The combinations that no run measured. Unreachable states are not planned.
    pub missing: Vec<MissingState>,
    /// Main effects and interactions; empty where the design tells none.
    pub effects: Vec<DesignEffect>,
    /// The outside limit of the rate both with all on and with all off: nothing can be gained.
    pub saturated: Option<&'static str>,
    /// Parts for which the same is true, by name.
    pub saturated_parts: Vec<String>,
    /// Notes for the reader, as sentences without full stops.
    pub remarks: Vec<String>,
    pub sentences: Vec<String>,
}

impl Credits {
    /// States whose counts do not repeat.
    pub fn unequal_counts(&self) -> impl Iterator<Item = &UnequalCounts> {
        self.credits.iter().flat_map(|credit| &credit.unlike)
    }

    pub(crate) fn from_stored(stored: &StoredStudy, metric: Option<Metric>, level: f64) -> Option<Self> {
        let design = stored.plan.design.as_ref()?;
        let mut credits = Vec::new();
        for combination in Combination::from_plan(&stored.plan) {
            let metrics =
                metric.map_or_else(|| metrics(combination.kind, stored.plan.exact), |metric| vec![metric]);
            let measured = |metric| MeasuredCombination::new(stored, &combination, metric, level);
            let measured = metrics.into_iter().filter_map(measured);
            credits.extend(measured.map(|one| Credit::from_measured(&one)));
        }
        Some(Self {
            design: design.kind,
            unreachable: unreachable(design),
            dropped: design.dropped.clone(),
            truth: truth(stored),
            credits,
        })
    }
}

fn unreachable(design: &OffloadDesign) -> Vec<UnreachableState> {
    let on = |states: &[bool]| {
        let factors = design.factors.iter().zip(states).filter(|(_, is_on)| **is_on);
        factors.map(|(name, _)| name.clone()).collect()
    };
    let state = |one: &Unreachable| UnreachableState { asked: on(&one.asked), reads: on(&one.reads) };
    distinct(design.unreachable.iter().map(state))
}

fn metrics(kind: Kind, exact: bool) -> Vec<Metric> {
    if exact {
        let Instructions { all, user, kernel, softirq } = kind.counted_work().instructions;
        return vec![all, user, kernel, softirq];
    }
    rate_and_costs(kind)
}

impl Credit {
    fn from_measured(measured: &MeasuredCombination) -> Self {
        let MeasuredCombination { stored, combination, metric, level, exact, .. } = *measured;
        let missing = combination.missing(stored, metric);
        let whole = CombinedGain::from_measured(measured);
        let mut credit = Self {
            workload: combination.workload.to_owned(),
            at: combination.at.clone(),
            metric,
            unit: metric.unit,
            level,
            exact,
            unlike: measured.unlike.clone(),
            whole_is_not_known: unknown(combination, &missing).filter(|_| whole.is_none()),
            saturated: whole.as_ref().and_then(|whole| measured.limit(&whole.ends)),
            whole,
            parts: Vec::new(),
            adds_up: false,
            orders: None,
            planned_states: combination.conditions.len(),
            missing,
            effects: Vec::new(),
            saturated_parts: Vec::new(),
            remarks: Vec::new(),
            sentences: Vec::new(),
        };
        credit.divide(measured);
        let is_saturated =
            |part: &&CreditPart| part.step.as_ref().is_some_and(|(_, ends)| measured.limit(ends).is_some());
        let saturated = credit.parts.iter().filter(is_saturated).map(|part| part.name.clone());
        credit.saturated_parts = saturated.collect();
        if !exact && credit.parts.iter().any(|part| part.change.interval.is_some()) {
            let level = stats::confidence(level);
            credit.remarks.push(format!("each interval holds with {level} % on its own"));
        }
        credit.remarks.extend(limited_states(measured));
        credit.sentences = credit.sentences();
        credit
    }

    /// Whether a change is more than chance, or than the resolution of counts.
    pub fn is_proven(&self, change: &Estimated) -> bool {
        measured::is_proven(change, self.exact, &self.unlike)
    }
}

/// The reason why a whole that was planned is not known.
fn unknown(combination: &Combination, missing: &[MissingState]) -> Option<String> {
    if !combination.plans_the_whole() {
        return None;
    }
    let ends: Vec<&str> = missing.iter().filter(|one| one.is_end).map(|one| one.state.as_str()).collect();
    Some(match ends.as_slice() {
        [] => "no boot measured all on and all off together".to_owned(),
        [one] => format!("{one} was not measured"),
        both => format!("{} were not measured", listed(both)),
    })
}

fn limited_states(measured: &MeasuredCombination) -> Option<String> {
    // Averages over the states hide that some of them were limited from outside.
    let of = measured.combination.conditions.len();
    let limits: Vec<&str> = (0..of).filter_map(|place| measured.limit(&[place])).collect();
    let (limit, count, key) = (limits.first()?, limits.len(), measured.metric.key);
    Some(format!(
        "{count} of {of} states ran at the limit of {limit}: it sets {key} there, not the offloads; their gain shows in the CPU per unit of work"
    ))
}

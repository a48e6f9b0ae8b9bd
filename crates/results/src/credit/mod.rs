//! Fair credit: the effect of each offload of a study's design, for every combination of the other
//! factors, in the rate and in CPU per unit of work on each side.

mod combination;
mod effects;
mod interplay;
mod parts;
mod sentences;

use serde::Serialize;
use store::StoredStudy;
use study::metric::{Instructions, Metric};
use study::{Design, DesignKind, Dropped, Kind};

use crate::data::exact::{self, RESOLUTION, UnequalCounts};
use crate::data::limits;
use crate::data::truth::truth;
use crate::switches::switch_effect::rate_and_costs;
pub(crate) use effects::contexts;

use combination::Combination;
pub use combination::MissingState;
pub use interplay::{Interplay, SwitchPair};
use parts::combined_gain;
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
pub struct Credit {
    /// The name of the workload.
    pub workload: String,
    /// `family=ipv4 mtu=1500`; empty where the design's are the only factors.
    pub at: String,
    /// The metric.
    pub metric: Metric,
    /// The metric's unit.
    pub unit: &'static str,
    /// The confidence of each interval by itself, as a probability.
    pub level: f64,
    /// Whether counts without noise are judged by the resolution, not by intervals.
    pub exact: bool,
    /// States whose counts do not repeat: with any, nothing is proven.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<UnequalCounts>,
    /// The mean over all runs here.
    #[serde(skip)]
    pub mean: f64,
    /// All on against all off; `None` if one of them was not planned or not measured.
    pub whole: Option<CombinedGain>,
    /// The reason why that is unknown.
    pub whole_is_not_known: Option<String>,
    /// By offload, or by step.
    pub parts: Vec<CreditPart>,
    /// Whether the parts add up to the whole.
    pub adds_up: bool,
    /// The number of orders of switching on in the average of shares, and of all orders.
    pub orders: Option<SwitchingOrders>,
    /// The number of planned states here.
    pub planned_states: usize,
    /// The combinations that no run measured. Unreachable states are not planned.
    pub missing: Vec<MissingState>,
    /// Main effects and interactions; empty where the design tells none.
    pub effects: Vec<DesignEffect>,
    /// The limit outside the hosts that set the rate both with all on and with all off: nothing can
    /// be gained then.
    pub saturated: Option<&'static str>,
    /// Parts for which the same is true, by name.
    pub saturated_parts: Vec<String>,
    /// Notes for the reader, as sentences without full stops.
    pub remarks: Vec<String>,
    /// The credit, in sentences.
    pub sentences: Vec<String>,
}

impl Credits {
    /// States whose counts do not repeat.
    pub fn unlike(&self) -> impl Iterator<Item = &UnequalCounts> {
        self.credits.iter().flat_map(|credit| &credit.unlike)
    }

    /// `None` for a study without a design. `metric` `None`: the rate and CPU per unit of work.
    pub(crate) fn from_stored(stored: &StoredStudy, metric: Option<Metric>, level: f64) -> Option<Self> {
        let design = stored.plan.design.as_ref()?;
        let mut credits = Vec::new();
        for combination in Combination::from_plan(&stored.plan) {
            let metrics =
                metric.map_or_else(|| metrics(combination.kind, stored.plan.exact), |metric| vec![metric]);
            let of_metric = |metric| Credit::for_combination(stored, &combination, metric, level);
            credits.extend(metrics.into_iter().filter_map(of_metric));
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

fn unreachable(design: &Design) -> Vec<UnreachableState> {
    let on = |states: &[bool]| {
        let factors = design.factors.iter().zip(states).filter(|(_, is_on)| **is_on);
        factors.map(|(name, _)| name.clone()).collect()
    };
    let mut unreachable: Vec<UnreachableState> = Vec::new();
    for one in &design.unreachable {
        let one = UnreachableState { asked: on(&one.asked), reads: on(&one.reads) };
        if !unreachable.contains(&one) {
            unreachable.push(one);
        }
    }
    unreachable
}

/// The metrics of credit; in exact mode the instructions per unit of work.
fn metrics(kind: Kind, exact: bool) -> Vec<Metric> {
    if exact {
        let Instructions { all, user, kernel, softirq } = kind.counted_work().instructions;
        return vec![all, user, kernel, softirq];
    }
    rate_and_costs(kind)
}

impl Credit {
    /// None where no run has the metric.
    fn for_combination(
        stored: &StoredStudy,
        combination: &Combination,
        metric: Metric,
        level: f64,
    ) -> Option<Self> {
        let runs = combination.observations(stored, metric);
        if runs.is_empty() {
            return None;
        }
        let missing = combination.missing(stored, metric);
        let whole = combined_gain(combination, &runs, level);
        let outside = |[one, other]: [usize; 2]| limits::set_from_outside(stored, metric, one, other);
        let exact = stored.plan.exact && exact::is_count(metric);
        let label = |place: usize| stored.plan.conditions[combination.conditions[place]].label.to_string();
        let mut credit = Self {
            workload: combination.workload.to_owned(),
            at: combination.at.clone(),
            metric,
            unit: metric.unit,
            level,
            exact,
            mean: stats::mean(&runs.iter().map(|run| run.value).collect::<Vec<_>>()),
            unlike: if exact { exact::unlike(&runs, metric, label) } else { Vec::new() },
            whole_is_not_known: unknown(combination, whole.as_ref(), &missing),
            saturated: whole.as_ref().and_then(|whole| outside(whole.ends)),
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
        credit.divide(combination, &runs);
        let is_saturated = |part: &&CreditPart| part.ends.is_some_and(|ends| outside(ends).is_some());
        let saturated = credit.parts.iter().filter(is_saturated).map(|part| part.name.clone());
        credit.saturated_parts = saturated.collect();
        if !credit.exact && credit.parts.iter().any(|part| part.change.interval.is_some()) {
            credit
                .remarks
                .push(format!("each interval holds with {} % on its own", stats::confidence(level)));
        }
        credit.remarks.extend(limited_states(stored, combination, metric));
        credit.sentences = credit.sentences();
        Some(credit)
    }

    /// Is the change more than chance, or, for counts without noise, more than their resolution?
    #[must_use]
    pub fn is_proven(&self, change: &stats::effects::Estimated) -> bool {
        if self.exact {
            return self.unlike.is_empty()
                && change.relative.is_some_and(|relative| relative.abs() > RESOLUTION);
        }
        change.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// The reason why a planned whole is unknown.
fn unknown(
    combination: &Combination,
    whole: Option<&CombinedGain>,
    missing: &[MissingState],
) -> Option<String> {
    if whole.is_some() || !combination.plans_the_whole() {
        return None;
    }
    let ends: Vec<&str> = missing.iter().filter(|one| one.is_end).map(|one| one.state.as_str()).collect();
    Some(match ends.as_slice() {
        [] => "no boot measured all on and all off together".to_owned(),
        [one] => format!("{one} was not measured"),
        both => format!("{} were not measured", crate::words::phrases::listed(both)),
    })
}

/// The remark where only some of the states were limited from outside: averages over them hide it.
fn limited_states(stored: &StoredStudy, combination: &Combination, metric: Metric) -> Option<String> {
    let limits: Vec<&str> = combination
        .conditions
        .iter()
        .filter_map(|condition| limits::set_from_outside(stored, metric, *condition, *condition))
        .collect();
    let (count, of) = (limits.len(), combination.conditions.len());
    let limit = limits.first()?;
    (count > 0).then(|| {
        format!(
            "{count} of {of} states ran at the limit of {limit}: it sets {metric} there, not the offloads; their gain shows in the CPU per unit of work"
        )
    })
}

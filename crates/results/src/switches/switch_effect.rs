//! The effect of a switch as data.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};
use stats::effects::Estimated;
use study::metric::{self, Better, Metric, MetricDefinition, UnitOfWork};
use study::{Kind, Scenario, Side};

/// One kind of traffic in one scenario, under the same levels of all factors but one.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct SwitchContext {
    pub scenario: Scenario,
    pub workload: String,
    pub kind: Kind,
    /// The levels of the other factors.
    pub levels: Vec<FactorLevel>,
    pub constant_settings: Vec<ConstantSetting>,
    pub boots: u32,
    /// The factors that a study holds at one level to measure it alone, as `--set` takes them.
    #[serde(skip)]
    pub(crate) narrowed: Vec<FactorLevel>,
    /// In seconds, of one boot of each state of the testbed together, with the runs that are left.
    #[serde(skip)]
    pub(crate) seconds_per_boot: f64,
    #[serde(skip)]
    pub effects: Vec<SwitchEffect>,
    /// The contradictions between counters and switches, in sentences without a full stop.
    pub flags: Vec<String>,
}

/// A factor at one of its levels: `mtu=1500`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FactorLevel {
    pub factor: String,
    pub level: String,
}

impl FactorLevel {
    pub(crate) fn new(factor: &str, level: &str) -> Self {
        Self { factor: factor.to_owned(), level: level.to_owned() }
    }
}

impl fmt::Display for FactorLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.factor, self.level)
    }
}

/// The effect of one switch.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct SwitchEffect {
    /// Names in the study of the switched factors: several where the kernel switches them together.
    pub factors: Vec<String>,
    pub from: String,
    pub to: String,
    pub how: EffectMethod,
    /// The features that read back otherwise after the change, and whether they are then on, of
    /// each side's interface, `true`: the one under the tunnel.
    pub features: BTreeMap<(Side, bool), Vec<(String, bool)>>,
    pub changes: Vec<MetricChange>,
}

/// The way in which the effect of a switch was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectMethod {
    /// Its fair (Shapley) share: the gain of switching it on, averaged over the orders in which all
    /// can be switched on.
    Share,
    /// Its main effect in a fraction of all states.
    MainEffect,
    /// Switched with all others on.
    OthersOn,
    /// A step of a ladder: those before it are off, those after it on.
    Step,
    /// Switched with everything else as it was.
    Alone,
}

/// The change of one metric.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct MetricChange {
    #[serde(flatten, serialize_with = "with_definition")]
    pub metric: Metric,
    /// From the level before to the level after.
    pub there: ChangeEstimate,
    pub back: ChangeEstimate,
    pub outcome: ChangeOutcome,
    /// The mean over all runs, in its unit: the scale for a difference that has no percentage.
    pub mean: f64,
    /// The standard error, in the metric's unit; `None` without an interval.
    pub standard_error: Option<f64>,
    /// The degrees of freedom of the interval; 0 without one.
    pub df: f64,
    /// The p-value by itself; `None` without an interval.
    pub p: Option<f64>,
}

/// The size of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeEstimate {
    /// In the metric's unit.
    pub value: f64,
    /// Its interval; `None` with too few boots, and for counts.
    pub interval: Option<(f64, f64)>,
    /// In % of the base; `None` where zero is in the base's interval.
    pub relative: Option<f64>,
    /// The interval of that.
    pub relative_interval: Option<(f64, f64)>,
    /// The state that percentages are of: `all off`, `tso=on`.
    pub base: String,
}

/// The knowledge of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeOutcome {
    /// A change exists, and its direction is sure.
    Proven,
    /// No change is proven by these data.
    NotProven,
    /// The rate was set from outside the hosts on both sides of the change, by this.
    Saturated(String),
    /// No statement is possible, for this reason.
    Unknown(String),
}

/// A setting that was the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConstantSetting {
    /// The setting: `message`, `MTU`, `congestion control`, `CPUs`.
    pub what: &'static str,
    /// Its value, with its unit.
    pub value: String,
}

pub(crate) fn metrics(kind: Kind, exact: bool) -> Vec<Metric> {
    // Exact mode has no time: the kernel's instructions per unit of work stand for all.
    if exact {
        return vec![kind.main_metric(true)];
    }
    let mut metrics = rate_and_costs(kind);
    metrics.splice(1..1, kind.is_rr().then_some(metric::LATENCY_P99));
    metrics
}

pub(crate) fn rate_and_costs(kind: Kind) -> Vec<Metric> {
    // Guests also cost CPU time of their host.
    let UnitOfWork { service_demand: own, host_service_demand: of_host, .. } = kind.unit_of_work();
    vec![kind.primary_metric(), own.transmitter, own.receiver, of_host.transmitter, of_host.receiver]
}

fn with_definition<S: Serializer>(metric: &Metric, serializer: S) -> Result<S::Ok, S::Error> {
    MetricDefinition::serialize(metric, serializer)
}

impl ChangeEstimate {
    pub(crate) fn from_estimated(estimated: &Estimated, base: &str) -> Self {
        Self {
            value: estimated.value,
            interval: estimated.interval,
            relative: estimated.relative,
            relative_interval: estimated.relative_interval,
            base: base.to_owned(),
        }
    }

    pub(crate) fn negated(&self) -> Self {
        let turned = |(low, high): (f64, f64)| (-high, -low);
        Self {
            value: -self.value,
            interval: self.interval.map(turned),
            relative: self.relative.map(|value| -value),
            relative_interval: self.relative_interval.map(turned),
            base: self.base.clone(),
        }
    }
}

impl SwitchEffect {
    /// The effect of switching back.
    pub fn reversed(&self) -> Self {
        let mut features = self.features.clone();
        features.values_mut().flatten().for_each(|(_, on)| *on = !*on);
        Self {
            from: self.to.clone(),
            to: self.from.clone(),
            changes: self.changes.iter().map(MetricChange::reversed).collect(),
            features,
            ..self.clone()
        }
    }

    pub(crate) fn changes_of<'e>(&'e self, metrics: &'e [Metric]) -> impl Iterator<Item = &'e MetricChange> {
        let change = move |metric: &Metric| self.changes.iter().find(|change| change.metric == *metric);
        metrics.iter().filter_map(change)
    }
}

impl MetricChange {
    /// The change of switching back.
    pub fn reversed(&self) -> Self {
        Self { there: self.back.clone(), back: self.there.clone(), ..self.clone() }
    }

    /// Whether it is proven, and an improvement (`Some(true)`) or the opposite.
    pub fn is_better(&self) -> Option<bool> {
        let is_more = self.there.value > 0.0;
        match (&self.outcome, self.metric.better) {
            (ChangeOutcome::Proven, Better::Higher) => Some(is_more),
            (ChangeOutcome::Proven, Better::Lower) => Some(!is_more),
            _ => None,
        }
    }
}

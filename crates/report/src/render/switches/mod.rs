//! What each switch of a study changes, as data: from which advice is drawn.

mod compared;
mod held;

use std::collections::BTreeSet;

use serde::Serialize;
use stats::effects::Estimated;
use store::StoredStudy;
use study::metric::{Better, Metric};
use study::{Dropped, Kind, Scenario, Switch};

use crate::data::error::Error;
use crate::data::exact;
use crate::data::truth::truth;
use crate::render::credit;

pub use held::Held;

/// What each switch of a stored study changes in its rate, its CPU time and its latency.
///
/// Whether a change is proven is decided for all of them together, by Holm's procedure over every
/// pair of a switch and a metric: with probability [`Switches::confidence`] no change is called
/// proven that does not exist. Each interval has the level of the last step of that procedure, so
/// that it excludes zero exactly where the change is proven.
#[derive(Debug, Clone, Serialize)]
pub struct Switches {
    /// The study's number.
    pub study: i64,
    /// Its name.
    pub name: String,
    /// Its question.
    pub question: String,
    /// The confidence of all proven changes together, as a probability.
    pub confidence: f64,
    /// The level of each interval by itself.
    pub level: f64,
    /// How many changes were judged together.
    pub judged: usize,
    /// What kind of figures they are, if not time on a machine.
    pub truth: Option<&'static str>,
    /// Whether instructions were counted, instead of time: then `confidence` and `level` have no
    /// meaning, and changes are judged by the resolution of counts.
    pub exact: bool,
    /// The mean time of one boot of each state of the testbed together, with all runs, in seconds.
    pub seconds_per_boot: f64,
    /// The traffic and the levels of all other factors under which the switches were tried.
    pub contexts: Vec<Context>,
    /// What was to be switched and could not be, with the reason.
    pub absent: Vec<Dropped>,
    /// The factors that vary and are no switch of a host: `message`, `sender`.
    pub others: Vec<String>,
}

/// One kind of traffic in one scenario, under the same levels of all factors but one.
#[derive(Debug, Clone, Serialize)]
pub struct Context {
    /// The kind of testbed.
    pub scenario: Scenario,
    /// The workload's name in the study.
    pub workload: String,
    /// Its kind.
    pub kind: Kind,
    /// The levels of the other factors: `mtu` and `1500`.
    pub at: Vec<(String, String)>,
    /// What was the same in all runs, and on which the result may depend.
    pub held: Vec<Held>,
    /// How many boots have a measurement.
    pub boots: u32,
    /// What each switch changes.
    pub effects: Vec<Effect>,
    /// Where the kernel's counters contradict what a switch reads back, in sentences without a full
    /// stop.
    pub flags: Vec<String>,
}

/// What one switch changes.
#[derive(Debug, Clone, Serialize)]
pub struct Effect {
    /// The factors that are switched, by their names in the study: more than one where the kernel
    /// switches them together.
    pub factors: Vec<String>,
    /// The level before.
    pub from: String,
    /// The level after.
    pub to: String,
    /// How it was found.
    pub how: How,
    /// The features that read back otherwise after the change.
    pub features: Vec<FeatureChange>,
    /// The change of each metric that was measured.
    pub changes: Vec<Change>,
}

/// How the effect of a switch was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Its fair (Shapley) share: the gain of switching it on, averaged over the orders in which all
    /// can be switched on.
    Share,
    /// Its main effect in a fraction of all states.
    MainEffect,
    /// Switched with all others on.
    OthersOn,
    /// Switched with all others off.
    OthersOff,
    /// A step of a ladder: those before it are off, those after it on.
    Step,
    /// Switched with everything else as it was.
    Alone,
}

/// A feature of an interface that reads back otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FeatureChange {
    /// The host.
    pub side: study::Side,
    /// Whether it is the interface under the tunnel.
    pub underlay: bool,
    /// The kernel's name of the feature.
    pub feature: String,
    /// Its state after the change.
    pub on: bool,
}

/// The change of one metric.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// The metric.
    #[serde(flatten)]
    pub metric: &'static Metric,
    /// From the level before to the level after.
    pub there: Estimate,
    /// The reverse.
    pub back: Estimate,
    /// What is known of it.
    pub outcome: Outcome,
    /// The mean of the metric over all runs of the context, in its unit: what a difference is small
    /// or large beside, where there is no percentage.
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
pub struct Estimate {
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

/// What is known of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is one, and its direction is sure.
    Proven,
    /// These data prove none.
    NotProven,
    /// The rate was set from outside the hosts on both sides of the change, by this.
    Saturated(String),
    /// Nothing can be said, for this reason.
    Unknown(String),
}

impl Switches {
    /// Works out what each switch of a stored study changes; all proven changes hold together with
    /// this confidence, a probability.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that no statistics can take, and a confidence outside of 0 to 1.
    pub fn of(stored: &StoredStudy, confidence: f64) -> Result<Self, Error> {
        let first = contexts(stored, confidence)?;
        let p: Vec<Vec<f64>> = changes(&first).filter_map(|change| Some(vec![change.p?])).collect();
        let last = stats::families::levels(&p, 1.0 - confidence).into_iter().fold(0.0, f64::max);
        let level = if p.is_empty() { confidence } else { 1.0 - last };
        let contexts = if level > confidence { contexts(stored, level)? } else { first };
        let design = stored.plan.design.as_ref();
        let mut absent: Vec<Dropped> = design.map_or_else(Vec::new, |design| design.dropped.clone());
        if design.is_none() {
            absent.extend(stored.plan.merged.iter().cloned());
        }
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question: stored.plan.asked.question.clone(),
            confidence,
            level,
            judged: p.len(),
            truth: truth(stored),
            exact: stored.plan.exact,
            seconds_per_boot: held::seconds_per_boot(stored),
            contexts,
            absent,
            others: others(stored),
        })
    }
}

fn changes(contexts: &[Context]) -> impl Iterator<Item = &Change> {
    contexts.iter().flat_map(|context| &context.effects).flat_map(|effect| &effect.changes)
}

fn contexts(stored: &StoredStudy, level: f64) -> Result<Vec<Context>, Error> {
    if stored.plan.design.is_some() {
        return Ok(credit::contexts(stored, level));
    }
    compared::contexts(stored, level)
}

/// Factors that vary and are no switches, in the order of the file.
fn others(stored: &StoredStudy) -> Vec<String> {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in stored.plan.conditions.iter().flat_map(|condition| &condition.levels) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let varies = |name: &str| {
        let levels = stored.plan.conditions.iter().flat_map(|condition| &condition.levels);
        levels.filter(|(of, _)| of == name).map(|(_, level)| level).collect::<BTreeSet<_>>().len() > 1
    };
    let is_other = |name: &&&String| {
        !["workload", "scenario", "twin"].contains(&name.as_str())
            && Switch::named(name).is_none()
            && varies(name)
    };
    names.iter().filter(is_other).map(|name| (*name).clone()).collect()
}

/// The metrics of advice: the rate, the tail of the latency, and CPU time per unit of work on each
/// side, of guests also the host's; in exact mode the instructions per unit of work.
pub(super) fn metrics(kind: Kind, exact: bool) -> Vec<&'static Metric> {
    if exact {
        return vec![kind.exact_metric()];
    }
    let per = exact::unit_of_work(kind);
    let mut keys = vec![kind.primary_metric().key.to_owned()];
    keys.extend(kind.is_rr().then(|| LATENCY.to_owned()));
    for host in ["", "host_"] {
        for side in study::Side::BOTH {
            keys.push(format!("{side}.{host}service_demand_{per}"));
        }
    }
    keys.iter().filter_map(|key| study::metric::find(key)).collect()
}

/// The metric of latency that advice is about.
const LATENCY: &str = "latency_p99";

impl Estimate {
    /// Of an estimate whose percentages are of `base`.
    pub(super) fn of(estimated: &Estimated, base: &str) -> Self {
        Self {
            value: estimated.value,
            interval: estimated.interval,
            relative: estimated.relative,
            relative_interval: estimated.relative_interval,
            base: base.to_owned(),
        }
    }

    /// The reverse change, in % of the same base.
    pub(super) fn negated(&self) -> Self {
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

impl Effect {
    /// The effect of switching back.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let turned = |change: &Change| Change {
            there: change.back.clone(),
            back: change.there.clone(),
            ..change.clone()
        };
        let turned_feature = |one: &FeatureChange| FeatureChange { on: !one.on, ..one.clone() };
        Self {
            from: self.to.clone(),
            to: self.from.clone(),
            changes: self.changes.iter().map(turned).collect(),
            features: self.features.iter().map(turned_feature).collect(),
            ..self.clone()
        }
    }

    /// The change of a metric.
    #[must_use]
    pub fn change(&self, metric: &str) -> Option<&Change> {
        self.changes.iter().find(|change| change.metric.key == metric)
    }
}

impl Change {
    /// Whether it is proven, and an improvement (`Some(true)`) or the opposite.
    #[must_use]
    pub fn is_better(&self) -> Option<bool> {
        let is_more = self.there.value > 0.0;
        match (&self.outcome, self.metric.better) {
            (Outcome::Proven, Better::Higher) => Some(is_more),
            (Outcome::Proven, Better::Lower) => Some(!is_more),
            _ => None,
        }
    }
}

//! The judgement of a switch for a goal.

use crate::{ChangeOutcome, MetricChange, SwitchEffect, distinct};
use serde::Serialize;
use study::metric::{Metric, MetricGroup};

/// The judgement of a switch for a goal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[expect(missing_docs, reason = "the names of its variants' fields say it")]
pub enum Standing {
    /// The switch is proven to serve the goal, and no loss elsewhere that matters is proven.
    Recommended,
    /// The switch is proven to serve the goal with the other switches as this advice leaves them,
    /// and not with one of them set otherwise: [`crate::advice::Recommendation::depends_on`] names
    /// that one.
    Conditional,
    /// The switch serves the goal, and other metrics are proven to lose.
    TradeOff { loses: Vec<Metric> },
    /// The switch is proven to serve the goal on average only: with the other switches as this
    /// advice leaves them the opposite is proven, or the effect depends on one of them and no
    /// benefit is proven there.
    Depends,
    /// A difference that matters is excluded.
    Tie,
    /// The data prove no difference, and exclude none that matters.
    NoEvidence,
    /// The rate was set from outside the hosts, by this: the switch could not change it.
    Saturated { limit: String },
    /// No judgement is possible, for this reason.
    Unknown { why: String },
}

impl Standing {
    /// Whether a level is named that serves the goal.
    pub fn is_proven(&self) -> bool {
        matches!(self, Self::Recommended | Self::Conditional | Self::TradeOff { .. })
    }
}

/// `ends` are the effects of the same two levels by several ways; the first is the main one.
pub(crate) fn judge(
    ends: Vec<SwitchEffect>,
    metrics: &[Metric],
    matters: f64,
) -> (Standing, Vec<SwitchEffect>) {
    let changes: Vec<&MetricChange> = ends.iter().flat_map(|effect| effect.changes_of(metrics)).collect();
    let says = |effect: &SwitchEffect, better: bool| {
        effect.changes_of(metrics).any(|change| change.is_better() == Some(better))
    };
    let standing = match [true, false].map(|better| ends.iter().any(|one| says(one, better))) {
        _ if changes.is_empty() => {
            let names: Vec<String> =
                metrics.iter().map(|metric| crate::metric_words(&(*metric).into())).collect();
            let is_cpu = metrics.iter().any(|metric| metric.group == MetricGroup::ServiceDemand);
            let why = if is_cpu { "; disturbed runs have no CPU time" } else { "" };
            Standing::Unknown { why: format!("no run has {}{why}", crate::listed(&names)) }
        }
        [false, false] => open(&changes, matters),
        // One way says both only where two sides have the goal's metric.
        [true, true] => match ends.iter().find(|one| says(one, true) && says(one, false)) {
            Some(both) => {
                let losing = both.changes_of(metrics).filter(|change| change.is_better() == Some(false));
                Standing::TradeOff { loses: losing.map(|change| change.metric).collect() }
            }
            None => Standing::Depends,
        },
        [better, _] => {
            let ends = if better { ends } else { ends.iter().map(SwitchEffect::reversed).collect() };
            let loses = losses(&ends, metrics, matters);
            let standing =
                if loses.is_empty() { Standing::Recommended } else { Standing::TradeOff { loses } };
            return (standing, ends);
        }
    };
    (standing, ends)
}

fn open(changes: &[&MetricChange], matters: f64) -> Standing {
    let reasons = changes.iter().filter_map(|change| match &change.outcome {
        ChangeOutcome::Saturated(limit) => Some(Standing::Saturated { limit: limit.clone() }),
        ChangeOutcome::Unknown(why) => Some(Standing::Unknown { why: why.clone() }),
        ChangeOutcome::Proven | ChangeOutcome::NotProven => None,
    });
    let is_tie = changes.iter().all(|change| is_small(change, matters));
    let open = if is_tie { Standing::Tie } else { Standing::NoEvidence };
    // A limit from outside says more than missing evidence.
    reasons.min_by_key(|reason| matches!(reason, Standing::Unknown { .. })).unwrap_or(open)
}

fn is_small(change: &MetricChange, matters: f64) -> bool {
    match (change.there.relative_interval, change.there.interval) {
        (Some((low, high)), _) => -matters < low && high < matters,
        // Without a percentage nothing tells whether it matters.
        (None, Some(_)) => false,
        // Counts have no interval; a change within their resolution is small.
        (None, None) => change.there.relative.is_some_and(|relative| relative.abs() < matters),
    }
}

fn losses(ends: &[SwitchEffect], metrics: &[Metric], matters: f64) -> Vec<Metric> {
    let is_loss = |change: &&MetricChange| {
        let is_of_goal = metrics.contains(&change.metric);
        // Without a percentage nothing says that it does not matter.
        let is_large = change.there.relative.is_none_or(|relative| relative.abs() >= matters);
        !is_of_goal && is_large && change.is_better() == Some(false)
    };
    let losses = ends.iter().flat_map(|effect| &effect.changes).filter(is_loss);
    distinct(losses.map(|change| change.metric))
}

/// Proven better than each other one of more than two levels. `effects` are the pairs of levels.
pub(crate) fn winner(effects: &[SwitchEffect], metrics: &[Metric]) -> Option<String> {
    let says = |effect: &SwitchEffect, better: bool| {
        let mut of_goal = effect.changes_of(metrics).peekable();
        // `all` of nothing is true: a pair without the goal's metric proves nothing.
        of_goal.peek().is_some() && of_goal.all(|change| change.is_better() == Some(better))
    };
    levels(effects).into_iter().find(|level| {
        let mut own = effects.iter().filter(|one| one.from == *level || one.to == *level);
        own.all(|one| says(one, one.to == *level))
    })
}

pub(crate) fn levels(effects: &[SwitchEffect]) -> Vec<String> {
    distinct(effects.iter().flat_map(|effect| [effect.from.clone(), effect.to.clone()]))
}

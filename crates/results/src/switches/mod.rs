//! The effect of each switch of a study, as data from which advice is drawn.

mod constant_settings;
mod factor_effects;
pub(crate) mod switch_effect;

use serde::Serialize;
use store::StoredStudy;
use study::{Dropped, Switch};

use crate::credit;
use crate::data::error::Error;
use crate::data::truth::truth;
use crate::words::lists::{distinct, grouped};

pub use switch_effect::{
    ChangeEstimate, ChangeOutcome, ConstantSetting, EffectMethod, FactorLevel, MetricChange, SwitchContext,
    SwitchEffect,
};

/// The effect of each switch of a stored study on its rate, its CPU time and its latency.
///
/// Whether a change is proven is decided for all of them together, by Holm's procedure over every
/// pair of a switch and a metric: with probability [`SwitchEffects::confidence`] no change is
/// called proven that does not exist. Each interval has the level of the last step of that
/// procedure, so that it excludes zero exactly where the change is proven.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct SwitchEffects {
    pub study: i64,
    pub name: String,
    pub question: String,
    /// The confidence of all proven changes together, as a probability.
    pub confidence: f64,
    /// The level of each interval by itself.
    pub level: f64,
    pub judged: usize,
    /// The kind of the figures, if it is not time on a machine.
    pub truth: Option<&'static str>,
    /// Whether instructions were counted: `confidence` and `level` then have no meaning.
    pub exact: bool,
    /// The mean time of one boot of each state of the testbed together, with all runs, in seconds.
    #[serde(skip)]
    pub seconds_per_boot: f64,
    /// The traffic and the levels of all other factors under which the switches were tried.
    #[serde(skip)]
    pub contexts: Vec<SwitchContext>,
    pub absent: Vec<Dropped>,
    /// The factors that vary and are no switch of a host: `message`, `sender`.
    pub others: Vec<String>,
}

impl SwitchEffects {
    /// Reads the effects: all proven changes hold together with this confidence, a probability.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that no statistics can take, and a confidence outside of 0 to 1.
    pub fn from_stored(stored: &StoredStudy, confidence: f64) -> Result<Self, Error> {
        let read = |level: f64| match stored.plan.design {
            Some(_) => Ok(credit::contexts(stored, level)),
            None => factor_effects::contexts(stored, level),
        };
        let (contexts, judged, level) = judged_together(confidence, read, |contexts| {
            let effects = contexts.iter().flat_map(|context| &context.effects);
            effects.flat_map(|effect| &effect.changes).filter_map(|change| change.p).collect()
        })?;
        let absent = stored.plan.design.as_ref().map_or(&stored.plan.merged, |design| &design.dropped);
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question: stored.plan.asked.question.clone(),
            confidence,
            level,
            judged,
            truth: truth(stored),
            exact: stored.plan.exact,
            seconds_per_boot: constant_settings::seconds_per_boot(stored, |_| true),
            contexts,
            absent: absent.clone(),
            others: others(stored),
        })
    }
}

/// At the level of the last step of Holm's procedure; with the number of changes, and the level.
pub(crate) fn judged_together<T, E>(
    confidence: f64,
    read: impl Fn(f64) -> Result<T, E>,
    p_values: impl Fn(&T) -> Vec<f64>,
) -> Result<(T, usize, f64), E> {
    let first = read(confidence)?;
    let p: Vec<Vec<f64>> = p_values(&first).into_iter().map(|p| vec![p]).collect();
    let last = stats::families::levels(&p, 1.0 - confidence).into_iter().fold(0.0, f64::max);
    let level = if p.is_empty() { confidence } else { 1.0 - last };
    Ok((if level > confidence { read(level)? } else { first }, p.len(), level))
}

fn others(stored: &StoredStudy) -> Vec<String> {
    let levels = distinct(stored.plan.conditions.iter().flat_map(|condition| &condition.levels));
    let is_other = |(name, levels): &(&String, Vec<&String>)| {
        levels.len() > 1
            && !["workload", "scenario", "twin"].contains(&name.as_str())
            && Switch::named(name).is_none()
    };
    let factors = grouped(levels.into_iter().map(|(name, level)| (name, level)));
    factors.into_iter().filter(is_other).map(|(name, _)| name.clone()).collect()
}

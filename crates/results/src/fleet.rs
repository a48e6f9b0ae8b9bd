//! One study on many pairs of machines: its effects over machines, and the pairs that stand apart.

mod apart;
mod effects;
mod pooled;
mod reference;

use std::collections::BTreeMap;

use serde::Serialize;
use stats::fleet::{FleetEffect, GroupedEffect, PairEffect, over_groups, over_pairs};
use store::{Outline, PairRow, StoredStudy, StudyId};
use study::metric::Better;

use crate::data::differences::{recorded, setting_names};
use crate::data::error::Error;
use crate::data::matched_conditions::MatchedConditions;
use crate::data::metric::ComparedMetric;
use crate::data::stage_ranges::{StageRanges, TraceSources};
use apart::PairsApart;
use effects::{EffectsOfPairs, GatheredEffect};

pub use apart::PairApart;
pub use pooled::PooledCampaigns;
pub use reference::FleetReference;

/// The results of one study on many pairs of machines.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FleetResults {
    pub campaign: String,
    pub name: String,
    pub question: String,
    /// The confidence of the intervals, as a probability.
    pub confidence: f64,
    /// The pairs with a study of which runs count, by name.
    pub pairs: Vec<PairOfFleet>,
    /// The other pairs.
    pub not_measured: Vec<PairOfFleet>,
    pub effects: Vec<EffectOverPairs>,
    /// The reference pair over the campaign, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<FleetReference>,
    /// The stages of traced paths over machines, if paths were traced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<StageRanges>,
}

/// A pair of machines: its study, and why it has none or only a part of one.
#[derive(Debug, Clone, Default, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct PairOfFleet {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<i64>,
    /// The tries of runs that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed_runs: u32,
    /// The tries of runs that were disturbed, and so do not count.
    #[serde(skip_serializing_if = "is_zero")]
    pub disturbed_runs: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

fn is_zero(runs: &u32) -> bool {
    *runs == 0
}

/// The effect of one condition on one metric, over all pairs that measured it.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct EffectOverPairs {
    pub workload: String,
    #[serde(flatten)]
    pub metric: ComparedMetric,
    pub better: Option<Better>,
    pub condition: String,
    pub baseline: String,
    /// Whether the sizes are natural logarithms of ratios to the baseline; else differences in the
    /// metric's unit.
    pub is_log_ratio: bool,
    /// The indices of [`FleetResults::pairs`] that measured it, in the order of `sizes.pairs`.
    pub pairs: Vec<usize>,
    pub sizes: FleetEffect,
    pub apart: Vec<PairApart>,
    /// By the values of a label or of a recorded setting, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupedEffect<String>>,
}

/// Where the studies of pairs are read from: one after the other, and of each no more than is
/// needed, so that a fleet may have thousands.
pub trait PairStudies {
    /// Errors of reading.
    type Error: From<Error>;

    /// A study with the means of its boots ([`store::Store::boot_means`]), of the metrics that its
    /// plan compares; or why this study is not stored, or not readable.
    ///
    /// # Errors
    /// Errors of reading anything.
    fn means(&self, study: StudyId) -> Result<Result<Outline, String>, Self::Error>;

    /// A study with its environments, and without values.
    ///
    /// # Errors
    /// Errors of reading.
    fn environments(&self, study: StudyId) -> Result<Outline, Self::Error>;

    /// A study with the values of its runs.
    ///
    /// # Errors
    /// Errors of reading.
    fn outline(&self, study: StudyId) -> Result<Outline, Self::Error>;

    /// A study with the accounts of its runs.
    ///
    /// # Errors
    /// Errors of reading.
    fn stored_study(&self, study: StudyId) -> Result<StoredStudy, Self::Error>;
}

impl FleetResults {
    /// Reads the pairs of a campaign one after the other: the reference pair with the values of its
    /// runs, and whole studies if paths were traced. `by`: the label, or the recorded setting, that
    /// makes groups.
    ///
    /// # Errors
    /// Errors of reading a study; [`Error::OtherPlans`], [`Error::NoGroups`]; [`Error::Stats`] for
    /// values that no statistics can take.
    pub fn new<S: PairStudies>(rows: &[PairRow], by: Option<&str>, studies: &S) -> Result<Self, S::Error> {
        let (mut pairs, mut not_measured): (Vec<PairOfFleet>, Vec<PairOfFleet>) = (Vec::new(), Vec::new());
        // Its later measurements count as no pairs.
        let reference = rows.iter().find(|row| row.pair.repeat > 1).map(|row| row.pair.name.as_str());
        let (mut repeats, mut not_repeated) = (Vec::new(), Vec::new());
        let mut traces = TraceSources::default();
        let mut effects = EffectsOfPairs::default();
        let mut first: Option<Outline> = None;
        let measured = || rows.iter().filter(|row| row.study.is_some() && row.pair.repeat == 1);
        let is_label = |word: &str| measured().any(|row| row.pair.labels.contains_key(word));
        let by = by.map(|word| (word, is_label(word)));
        let mut groups: Vec<String> = Vec::new();
        for row in rows {
            let mut pair = PairOfFleet::from_row(row);
            let is_repeat = row.pair.repeat > 1;
            let read = match row.study {
                Some(study) => studies.means(study)?,
                None => Err(pair.why.clone().unwrap_or_else(|| "it was not begun".to_owned())),
            };
            let means = match read {
                Ok(means) => means,
                Err(why) => {
                    let missing = if is_repeat { &mut not_repeated } else { &mut not_measured };
                    missing.push(PairOfFleet { why: Some(why), ..pair });
                    continue;
                }
            };
            let study = means.row.id;
            if reference == Some(row.pair.name.as_str()) {
                repeats.push((pair.name.clone(), studies.outline(study)?));
            }
            if is_repeat {
                continue;
            }
            (pair.failed_runs, pair.disturbed_runs) = (means.row.failed_runs, means.row.invalid_runs);
            if let (Some(pair), Some(known)) = (pairs.first(), &first) {
                refuse_another_plan((pair, known), &means, row)?;
            }
            if means.row.recorded_runs == 0 {
                let name = &pair.name;
                let why = pair.why.unwrap_or_else(|| {
                    format!(
                        "none of its runs counts (netassay show {study} --runs shows why; --pair {name} --resume {study} tries again)"
                    )
                });
                not_measured.push(PairOfFleet { why: Some(why), ..pair });
                continue;
            }
            if means.plan.tracing.is_some() {
                traces.add(&pair.name, &studies.stored_study(study)?);
            }
            effects.add(&means, pairs.len());
            match by {
                None => {}
                Some((word, true)) => groups.push(pair.labels.get(word).cloned().unwrap_or_default()),
                Some((word, false)) => {
                    groups.push(recorded(&studies.environments(study)?, word).join(" / "));
                }
            }
            pairs.push(pair);
            first.get_or_insert(means);
        }
        if let (Some((word, _)), Some(first)) = (by, &first)
            && groups.iter().all(String::is_empty)
        {
            let known = setting_names(&studies.environments(first.row.id)?);
            let labels = pairs.iter().flat_map(|pair| pair.labels.keys());
            let known = labels.chain(&known).map(String::as_str);
            let nearest = words::suggest::nearest(word, known).map(str::to_owned);
            return Err(Error::NoGroups { word: word.to_owned(), nearest }.into());
        }
        let confidence = 0.95;
        let groups = by.map(|_| groups.as_slice());
        let found = effects.measured().map(|effect| EffectOverPairs::new(effect, confidence, groups));
        let mut effects = found.collect::<Result<Vec<_>, Error>>()?;
        let mut apart = PairsApart::new(&pairs, studies);
        for effect in &mut effects {
            let places = &effect.sizes.apart;
            let described = places.iter().map(|place| apart.describe(*place, &effect.pairs, places));
            effect.apart = described.collect::<Result<_, _>>()?;
        }
        let asked = first.map(|outline| (outline.row.name, outline.plan.asked.question));
        let (name, question) = asked.unwrap_or_default();
        let campaign = rows.first().map(|row| row.pair.campaign.clone()).unwrap_or_default();
        let reference = reference.map(|name| FleetReference::new(name, repeats, not_repeated, confidence));
        let (reference, stages) = (reference.transpose()?.flatten(), traces.ranges(confidence)?);
        Ok(Self { campaign, name, question, confidence, pairs, not_measured, effects, reference, stages })
    }

    /// Whether all was measured, the repeats of the reference pair too.
    pub fn is_complete(&self) -> bool {
        let repeats = self.reference.iter().flat_map(|reference| &reference.not_measured);
        self.not_measured.is_empty() && repeats.count() == 0
    }
}

impl PairOfFleet {
    /// With labels and a reason short enough to be shown: another program may have stored longer
    /// ones.
    fn from_row(row: &PairRow) -> Self {
        let shown = |text: &String| words::shortened_reason(text);
        let labels = row.pair.labels.iter().map(|(key, value)| (shown(key), shown(value)));
        Self {
            name: row.pair.to_string(),
            labels: labels.collect(),
            study: row.study.map(|study| study.0),
            why: row.failure.as_deref().map(words::shortened_reason),
            ..Self::default()
        }
    }
}

/// # Errors
/// [`Error::OtherPlans`] for a pair that was measured by another plan than the first; a pair that
/// lacks a family has a part of the plan.
fn refuse_another_plan(
    (first, known): (&PairOfFleet, &Outline),
    outline: &Outline,
    row: &PairRow,
) -> Result<(), Error> {
    if outline.row.toml == known.row.toml {
        return Ok(());
    }
    let names = [known, outline].map(|one| &one.row.name);
    let families = known.plan.families();
    let why = if names[0] != names[1] {
        format!("its study is {:?}, not {:?}", names[1], names[0])
    } else if outline.plan.exact != known.plan.exact {
        "one of both counts instructions".to_owned()
    } else if !outline.plan.families().iter().any(|family| families.contains(family)) {
        return Ok(());
    } else {
        let Err(Error::NotComparable { why, .. }) = MatchedConditions::between(known, outline) else {
            return Ok(());
        };
        why
    };
    let (campaign, pair, study) = (row.pair.campaign.clone(), row.pair.to_string(), outline.row.id.0);
    Err(Error::OtherPlans { campaign, pair, study, first: first.name.clone(), why })
}

impl EffectOverPairs {
    /// Without the description of the pairs that stand apart.
    fn new(effect: GatheredEffect, confidence: f64, groups: Option<&[String]>) -> Result<Self, Error> {
        let GatheredEffect { workload, metric, condition, baseline, sizes } = effect;
        let logarithms: Option<Vec<PairEffect>> = sizes.iter().map(|one| one.logarithm).collect();
        let is_log_ratio = logarithms.is_some();
        let effects = logarithms.unwrap_or_else(|| sizes.iter().map(|one| one.difference).collect());
        let pairs: Vec<usize> = sizes.iter().map(|one| one.pair).collect();
        let groups = groups.map(|groups| {
            let group = |pair: &usize| groups[*pair].clone();
            let labelled: Vec<_> = pairs.iter().map(group).zip(effects.iter().copied()).collect();
            over_groups(&labelled, confidence)
        });
        Ok(Self {
            workload,
            metric: metric.into(),
            better: Some(metric.better),
            condition,
            baseline,
            is_log_ratio,
            apart: Vec::new(),
            pairs,
            groups: groups.transpose()?,
            sizes: over_pairs(&effects, confidence, None)?,
        })
    }

    /// A size as it is shown: in % of the baseline, or in the metric's unit.
    pub fn in_unit(&self, size: f64) -> f64 {
        if self.is_log_ratio { 100.0 * size.exp_m1() } else { size }
    }

    /// An interval of sizes, as it is shown.
    pub fn interval(&self, sizes: Option<(f64, f64)>) -> Option<(f64, f64)> {
        sizes.map(|(low, high)| (self.in_unit(low), self.in_unit(high)))
    }

    /// The unit of the sizes.
    pub fn unit(&self) -> &str {
        if self.is_log_ratio { "%" } else { self.metric.unit() }
    }
}

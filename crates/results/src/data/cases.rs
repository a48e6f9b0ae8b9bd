//! The cases of a gate: conditions beside their baselines, in some metrics, of two stored studies
//! or of one.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use stats::{Analysis, Correction, Design, Question, Spending};
use store::{Outline, StoredStudy};
use study::metric::{Metric, MetricNeeds};
use study::{Condition, NameWord, Plan};

use crate::data::differences::StudyDifference;
use crate::data::disturbed::kept_in;
use crate::data::error::Error;
use crate::data::exact;
use crate::data::matched_conditions::{self, MatchedConditions};
use crate::data::missing::{may_have_stopped, shortfall, why_without};
use crate::data::notes::kept_disturbed;
use crate::data::pairs::pairs;
use crate::data::stored::subjects;
use crate::data::study_list::StudyRef;
use crate::data::subject::Subject;
use crate::data::target::{ComparisonRequest, ComparisonTarget, condition, own_targets, rebase};
use crate::data::truth;
use crate::words::lists::distinct;
use crate::words::phrases::metric_name;

/// Conditions beside their baselines, in some metrics.
#[derive(Debug)]
pub struct GateCases {
    /// The study that is judged.
    pub study: StudyRef,
    /// The baseline: another study, or conditions of its own.
    pub baseline: GateBaseline,
    /// Each condition in each metric, metric by metric. Never empty.
    pub all: Vec<GateCase>,
    /// The reasons why the study is not complete, as sentences without full stops.
    pub lacks: Vec<String>,
    /// The differences between two studies' machines, testbeds and plans, the weightiest first.
    pub differences: Vec<StudyDifference>,
    /// Notes for the reader, as sentences without full stops.
    pub notes: Vec<String>,
    /// The kind of the values, if not time on a machine.
    pub truth: Option<&'static str>,
}

/// The baseline of a study.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateBaseline {
    /// Another stored study.
    Study(StudyRef),
    /// Conditions of the same study, as they were asked for: a label, or a factor with its level.
    Conditions(String),
}

/// A condition beside its baseline in one metric.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct GateCase {
    pub label: String,
    pub slug: String,
    pub against: String,
    pub metric: Metric,
    /// Whether each pair of machines counts as a boot.
    pub is_over_pairs: bool,
    measured: Result<Subject, String>,
    /// The values for percentages, where they are not the measured ones.
    in_ratios: Option<Subject>,
}

impl GateCases {
    /// Pairs a study's conditions with those of a baseline; both hold the values of `metrics`.
    ///
    /// # Errors
    /// [`Error::NotComparable`] for what cannot be compared, or a metric that no condition of both
    /// has; [`Error::NothingRecorded`] for a metric that was not measured in both.
    pub fn between(baseline: &Outline, study: &Outline, metrics: &[Metric]) -> Result<Self, Error> {
        let mut cases = Self::of_outlines([baseline, study], None, metrics)?;
        let both = [study, baseline];
        let lacks = both.into_iter().filter_map(|of| shortfall(&of.row, &of.plan));
        cases.lacks.splice(0..0, lacks);
        let both = [baseline, study];
        cases.notes.extend(both.into_iter().filter_map(|of| kept_in(&of.row, of.disturbed_runs)));
        cases.notes.extend(both.into_iter().filter_map(|of| may_have_stopped(&of.row, &of.plan)));
        cases.notes = distinct(cases.notes);
        Ok(cases)
    }

    /// Pairs the conditions of two campaigns ([`PooledCampaigns`](crate::PooledCampaigns)): each
    /// pair of machines is one value, in percentages that of its own baseline. `pairs`: their
    /// names. `lacks`: the reasons why the campaigns are not complete, as sentences without full
    /// stops.
    ///
    /// # Errors
    /// As [`GateCases::between`]; [`Error::NotComparable`] for a value that is no percentage of its
    /// baseline.
    pub fn over_pairs(
        [baseline, study]: [&Outline; 2],
        metrics: &[Metric],
        pairs: &[String],
        lacks: &[String],
    ) -> Result<Self, Error> {
        let mut cases = Self::of_outlines([baseline, study], Some(Design::Crossed), metrics)?;
        let campaign = |outline: &Outline| StudyRef {
            campaign: outline.row.pair.as_ref().map(|pair| pair.campaign.clone()),
            ..StudyRef::from_row(&outline.row)
        };
        cases.study = campaign(study);
        cases.baseline = GateBaseline::Study(campaign(baseline));
        for case in &mut cases.all {
            case.is_over_pairs = true;
            let ratios = case.keep_pairs().map(|subject| in_ratios(subject, pairs)).transpose();
            let why = |why: String| Error::not_comparable(baseline, study, format!("{}: {why}", case.label));
            case.in_ratios = ratios.map_err(why)?.flatten();
        }
        cases.lacks.extend_from_slice(lacks);
        cases.notes = distinct(cases.notes);
        Ok(cases)
    }

    fn of_outlines(
        [baseline, study]: [&Outline; 2],
        design: Option<Design>,
        metrics: &[Metric],
    ) -> Result<Self, Error> {
        let matched = MatchedConditions::between(baseline, study)?;
        let mut all = Vec::new();
        let mut notes = Vec::new();
        for &metric in metrics {
            let request = ComparisonRequest {
                metric: Some(metric),
                correction: Correction::None,
                design,
                ..ComparisonRequest::default()
            };
            let has = |outline: &Outline, index: usize| offers(&outline.plan, index, metric);
            let is_in_both = |(before, after): &(usize, usize)| has(baseline, *before) && has(study, *after);
            let both: Vec<(usize, usize)> = matched.pairs.iter().copied().filter(is_in_both).collect();
            if both.is_empty() {
                let why = without(&study.plan, metric);
                return Err(Error::not_comparable(baseline, study, why));
            }
            let mut measured = pairs(baseline, study, &matched, &request)?;
            notes.extend(measured.iter().flat_map(|(_, subject)| subject.notes.iter().cloned()));
            for (before, after) in both {
                let place = measured.iter().position(|(pair, _)| *pair == (before, after));
                let condition = &study.plan.conditions[after];
                let against = format!("study {}", baseline.row.id);
                let measured = place.map(|place| measured.swap_remove(place).1).ok_or_else(|| {
                    let is_in = |of: &&Outline, index| {
                        of.values.get(&metric).is_some_and(|all| all.iter().any(|(one, ..)| *one == index))
                    };
                    let lacking = if is_in(&study, after) { baseline } else { study };
                    format!("study {} has no value of it", lacking.row.id)
                });
                all.push(GateCase::new(condition, against, metric, measured));
            }
        }
        let label = |of: &Outline, index: &usize| of.plan.conditions[*index].label.to_string();
        let lost = matched.only_baseline.iter().map(|index| {
            let (name, lacking) = (label(baseline, index), study.row.id);
            format!("study {lacking} does not have the condition {name} of study {}", baseline.row.id)
        });
        let lacks = lost.collect();
        if !matched.only_study.is_empty() {
            let new: Vec<String> = matched.only_study.iter().map(|index| label(study, index)).collect();
            notes.push(format!("only in study {}, so not judged: {}", study.row.id, new.join("; ")));
        }
        let differences = matched_conditions::differences(baseline, study, Some(&matched));
        Ok(Self {
            study: StudyRef::from_row(&study.row),
            baseline: GateBaseline::Study(StudyRef::from_row(&baseline.row)),
            all,
            lacks,
            differences,
            notes,
            truth: truth::note(&study.plan, &study.environments),
        })
    }

    /// Pairs conditions of one study. `word` is a condition, for all that the study compares with
    /// it, or `FACTOR=LEVEL`, for every condition and the one that differs only in having that
    /// level.
    ///
    /// # Errors
    /// [`Error::UnknownCondition`], [`Error::NothingToJudge`] for a metric that no such condition
    /// has, [`Error::NothingRecorded`] for one that was not measured.
    pub fn within(stored: &StoredStudy, word: &str, metrics: &[Metric]) -> Result<Self, Error> {
        let pairs = paired_conditions(stored, word)?;
        let mut all: Vec<GateCase> = Vec::new();
        let mut notes: Vec<String> = kept_in(&stored.row, kept_disturbed(stored).0).into_iter().collect();
        for &metric in metrics {
            let first = all.len();
            for (baseline, index) in &pairs {
                if !offers(&stored.plan, *index, metric) || !offers(&stored.plan, *baseline, metric) {
                    continue;
                }
                let condition = &stored.plan.conditions[*index];
                let measured = subject(stored, (*baseline, *index), metric)?;
                notes.extend(measured.iter().flat_map(|subject| subject.notes.iter().cloned()));
                all.push(GateCase::new(condition, stored.label(*baseline), metric, measured));
            }
            let study = stored.row.id.0;
            if all.len() == first {
                return Err(Error::NothingToJudge { study, why: without(&stored.plan, metric) });
            }
            if let Some(why) =
                all[first..].iter().map(|case| case.why_unmeasured()).collect::<Option<Vec<_>>>()
            {
                let hint = why.first().copied().unwrap_or_default().to_owned();
                return Err(Error::NothingRecorded { study, metric: metric.to_string(), hint });
            }
        }
        Ok(Self {
            study: StudyRef::from_row(&stored.row),
            baseline: GateBaseline::Conditions(word.to_owned()),
            all,
            lacks: shortfall(&stored.row, &stored.plan).into_iter().collect(),
            differences: Vec::new(),
            notes: distinct(notes),
            truth: truth::truth(stored),
        })
    }
}

impl GateCase {
    fn new(
        condition: &Condition,
        against: String,
        metric: Metric,
        measured: Result<Subject, String>,
    ) -> Self {
        let (label, slug) = (condition.label.to_string(), condition.slug.clone());
        Self { label, slug, against, metric, is_over_pairs: false, measured, in_ratios: None }
    }

    /// Keeps the pairs of machines that have both values.
    fn keep_pairs(&mut self) -> Option<&Subject> {
        let subject = self.measured.as_mut().ok()?;
        let boots = |condition: usize| -> BTreeSet<u32> {
            let own = subject.observations.iter().filter(|one| one.condition == condition);
            own.map(|one| one.boot).collect()
        };
        let both: BTreeSet<u32> = boots(0).intersection(&boots(1)).copied().collect();
        subject.observations.retain(|one| both.contains(&one.boot));
        if both.is_empty() {
            self.measured = Err("no pair of machines has a value of it in both campaigns".to_owned());
        }
        self.measured.as_ref().ok()
    }

    /// The reason why nothing can be compared; `None` if both sides were measured.
    pub fn why_unmeasured(&self) -> Option<&str> {
        self.measured.as_ref().err().map(String::as_str)
    }

    /// Whether its values are counts, which are judged by their resolution.
    pub fn is_counted(&self) -> bool {
        self.measured.as_ref().is_ok_and(|subject| subject.resolution.is_some())
    }

    /// The interval has this one-sided error rate at both ends; `None` if a side was not measured.
    /// `in_percent`: of the baseline.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that the statistics refuse.
    pub(crate) fn answer(&self, share: f64, in_percent: bool) -> Result<Option<Analysis>, Error> {
        let Ok(measured) = &self.measured else { return Ok(None) };
        let subject = self.in_ratios.as_ref().filter(|_| in_percent).unwrap_or(measured);
        // A two-sided interval has half of its error rate at each end.
        let level = 1.0 - 2.0 * share;
        let question = Question { level, margin: None, correction: Correction::None, ..subject.question };
        let subject = Subject { question, ..subject.clone() };
        Ok(Some(subject.analyse(&Spending::default())?).filter(|found| !found.comparisons.is_empty()))
    }
}

/// Each pair's values in units of its own baseline, times the mean of all baselines, so that a fast
/// machine weighs no more in a percentage than a slow one. `None` if a baseline is not above zero.
///
/// # Errors
/// Names the pair with a baseline so small that no percentage of it can be stated.
fn in_ratios(subject: &Subject, pairs: &[String]) -> Result<Option<Subject>, String> {
    let baselines = subject.observations.iter().filter(|one| one.condition == 0);
    let baselines: BTreeMap<u32, f64> = baselines.map(|one| (one.boot, one.value)).collect();
    if baselines.values().any(|value| *value <= 0.0) {
        return Ok(None);
    }
    let mean = stats::mean(&baselines.values().copied().collect::<Vec<_>>());
    let mut scaled = subject.clone();
    for one in &mut scaled.observations {
        let (value, baseline) = (one.value, baselines[&one.boot]);
        one.value = value / baseline * mean;
        if !one.value.is_finite() {
            let (pair, metric) = (&pairs[one.boot as usize - 1], metric_name(&subject.metric));
            return Err(format!(
                "on pair {pair} {metric} is {value:e}, too much for a percentage of its baseline, {baseline:e}: measure the pair again"
            ));
        }
    }
    Ok(Some(scaled))
}

fn offers(plan: &Plan, index: usize, metric: Metric) -> bool {
    let condition = &plan.conditions[index];
    condition.workload.traffic.produces(metric)
        && metric.needs.is_met(condition.boot.scenario, plan.exact)
        && (!plan.exact || exact::is_count(metric))
}

fn without(plan: &Plan, metric: Metric) -> String {
    match (plan.exact, metric.needs) {
        (true, needs) if needs != MetricNeeds::Exact => {
            format!("it counts instructions, and {metric} is none of the counts of exact mode")
        }
        (false, MetricNeeds::Exact) => format!("{metric} is counted in exact mode only (exact = true)"),
        _ => format!("no condition that is compared gives {metric}"),
    }
}

fn subject(
    stored: &StoredStudy,
    (baseline, index): (usize, usize),
    metric: Metric,
) -> Result<Result<Subject, String>, Error> {
    let is_measured = |one: usize| stored.values(metric).any(|(condition, ..)| condition == one);
    if let Some(lacking) = [index, baseline].into_iter().find(|one| !is_measured(*one)) {
        let why = why_without(stored, lacking, metric);
        return Ok(Err(format!("{}: {why}", stored.label(lacking))));
    }
    let workload = stored.plan.conditions[index].workload.name.clone();
    let target = ComparisonTarget { workload, metric, baseline, conditions: vec![index], equivalent: None };
    let request = ComparisonRequest { correction: Correction::None, ..ComparisonRequest::default() };
    let subject = subjects(stored, &[target], &request)?.into_iter().next();
    Ok(subject.ok_or_else(|| "it is not compared".to_owned()))
}

fn paired_conditions(stored: &StoredStudy, word: &str) -> Result<Vec<(usize, usize)>, Error> {
    let plan = &stored.plan;
    let named = condition(stored.row.id.0, plan, word);
    let mut found: Vec<(usize, usize)> = match &named {
        Ok(baseline) => {
            let mut targets = own_targets(plan);
            targets.iter_mut().for_each(|target| rebase(target, *baseline));
            let own = targets.into_iter().filter(|target| target.baseline == *baseline);
            own.flat_map(|target| target.conditions).map(|one| (*baseline, one)).collect()
        }
        Err(_) => by_level(plan, word),
    };
    found.sort_unstable_by_key(|(_, condition)| *condition);
    found.dedup();
    match (found.is_empty(), named) {
        (false, _) => Ok(found),
        (true, Err(unknown)) => Err(unknown),
        (true, Ok(_)) => {
            let why = format!("it compares no other condition with {word:?}");
            Err(Error::NothingToJudge { study: stored.row.id.0, why })
        }
    }
}

/// Pairs every condition with the one that has this `FACTOR=LEVEL` and all its other levels.
fn by_level(plan: &Plan, word: &str) -> Vec<(usize, usize)> {
    let Some((factor, level)) = word.split_once('=') else { return Vec::new() };
    // As the study's file has it, or as a label does: a kernel by its release.
    let is_it = |word: &NameWord| word.factor.as_deref() == Some(factor) && word.level == level;
    let has = |one: &&Condition| {
        one.levels.iter().any(|(own, value)| own == factor && value == level)
            || one.label.words().iter().any(is_it)
    };
    let others = |one: &Condition| -> Vec<(String, String)> {
        one.levels.iter().filter(|(own, _)| own != factor).cloned().collect()
    };
    let baselines: Vec<&Condition> = plan.conditions.iter().filter(has).collect();
    let rest = plan.conditions.iter().filter(|one| !has(one));
    rest.filter_map(|one| {
        let baseline = baselines
            .iter()
            .find(|base| others(base) == others(one) && base.workload.name == one.workload.name)?;
        Some((baseline.index, one.index))
    })
    .collect()
}

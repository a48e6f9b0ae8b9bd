//! The comparison of conditions measured in turns with the same conditions measured in runs of
//! their own.

use serde::Serialize;
use stats::agreement::{Agreement, EitherWay, agree};
use stats::distribution::fisher;
use store::StoredStudy;
use study::{Alternate, Plan, metric::Metric};

use crate::data::error::Error;
use crate::data::missing::hint;
use crate::data::target::own_targets;
use crate::data::turns::uncounted;
use crate::words::lists::distinct;

// The confidence of the intervals; those of the disagreements hold together.
const LEVEL: f64 = 0.95;

/// The effects by both ways of measuring the conditions of a study, and whether they agree.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct BothWays {
    pub study: i64,
    pub name: String,
    /// The turns that were planned.
    #[serde(flatten)]
    pub alternate: Alternate,
    /// The part of turns that is not counted; `None` where none were taken.
    pub uncounted: Option<String>,
    /// The confidence, as a probability.
    pub level: f64,
    pub comparisons: Vec<WaysComparison>,
}

/// One condition against another of its flow, in one metric.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct WaysComparison {
    pub condition: String,
    pub baseline: String,
    pub metric: Metric,
    pub verdict: WaysOutcome,
    /// In % of the baseline, `first` in turns and `second` in runs; none if not comparable.
    #[serde(flatten)]
    pub agreement: Option<Agreement>,
    /// The time of turns for an equal interval, as a share of that of runs, with its interval.
    pub time: Option<(f64, (f64, f64))>,
    /// Runs with turns, of either condition.
    pub runs_in_turns: usize,
}

words::vocabulary! {
    /// Whether both ways agree on a difference.
    pub enum WaysOutcome: "an outcome" {
        /// The interval of their disagreement includes 0.
        Agree = "agree";
        /// Both ways disagree.
        Disagree = "disagree";
        /// Fewer than two boots measured the difference both ways.
        NotCompared = "not_compared";
    }
}

impl BothWays {
    /// Compares both ways in a study that measured both (`apart = true`).
    ///
    /// # Errors
    /// [`Error::NothingToJudge`] for another study, [`Error::NothingRecorded`] without a run.
    pub fn new(stored: &StoredStudy) -> Result<Self, Error> {
        let id = stored.row.id.0;
        let nothing = |why: &str| Error::NothingToJudge { study: id, why: why.to_owned() };
        let protocol = &stored.plan.asked.protocol;
        let Some(alternate) = protocol.alternate.filter(|_| protocol.apart) else {
            return Err(nothing("its conditions were not measured both in turns and in runs of their own"));
        };
        let pairs = pairs(&stored.plan);
        if pairs.is_empty() {
            return Err(nothing("no two of its conditions can take turns here"));
        }
        let runs: Vec<Vec<EitherWay>> = pairs.iter().map(|pair| runs(stored, *pair)).collect();
        if runs.iter().all(Vec::is_empty) {
            let metric = pairs[0].2.to_string();
            return Err(Error::NothingRecorded { study: id, metric, hint: hint(stored, 0) });
        }
        let compared = |((pair, runs), agreement): ((&MeasuredPair, &Vec<EitherWay>), Option<Agreement>)| {
            let (condition, baseline, metric) = *pair;
            let label = |index: usize| stored.plan.conditions[index].label.to_string();
            WaysComparison {
                condition: label(condition),
                baseline: label(baseline),
                metric,
                verdict: match agreement {
                    Some(found) if found.agree => WaysOutcome::Agree,
                    Some(_) => WaysOutcome::Disagree,
                    None => WaysOutcome::NotCompared,
                },
                time: agreement.as_ref().and_then(|found| time(&stored.plan, condition, found)),
                agreement,
                runs_in_turns: runs.iter().filter(|run| !run.second).count(),
            }
        };
        let comparisons = pairs.iter().zip(&runs).zip(agree(&runs, LEVEL)).map(compared).collect();
        Ok(Self {
            study: id,
            name: stored.row.name.clone(),
            alternate,
            uncounted: uncounted(stored),
            level: LEVEL,
            comparisons,
        })
    }

    /// The outcome of all: a disagreement decides, then a comparison that could not be made.
    pub fn outcome(&self) -> WaysOutcome {
        let is_found = |outcome: &WaysOutcome| self.comparisons.iter().any(|one| one.verdict == *outcome);
        let found = [WaysOutcome::Disagree, WaysOutcome::NotCompared].into_iter().find(is_found);
        found.unwrap_or(WaysOutcome::Agree)
    }
}

type MeasuredPair = (usize, usize, Metric);

fn runs(stored: &StoredStudy, (of_pair, baseline, metric): MeasuredPair) -> Vec<EitherWay> {
    let own = stored.measurements().filter(|run| [of_pair, baseline].contains(&run.condition));
    own.filter_map(|run| {
        Some(EitherWay {
            boot: run.boot,
            // The second way is in runs of their own.
            second: run.detail.turns().is_none(),
            of_condition: run.condition == of_pair,
            value: run.metrics.get(metric)?,
        })
    })
    .collect()
}

fn pairs(plan: &Plan) -> Vec<MeasuredPair> {
    let mut pairs = Vec::new();
    for flow in plan.flows().shared() {
        let is_of_it = |workload: &str| plan.conditions[flow[0]].workload.name == workload;
        for target in own_targets(plan).into_iter().filter(|target| is_of_it(&target.workload)) {
            // A flow without the study's baseline has the condition with most of its levels.
            let levels = &plan.conditions[target.baseline].levels;
            let alike = |index: &usize| {
                plan.conditions[*index].levels.iter().filter(|level| levels.contains(level)).count()
            };
            // Of several the first.
            let Some(baseline) = flow.iter().copied().rev().max_by_key(alike) else { continue };
            for condition in flow.iter().copied().filter(|index| *index != baseline) {
                pairs.push((condition, baseline, target.metric));
            }
        }
    }
    distinct(pairs)
}

/// The time of turns for an equal interval, as a share of the runs' time.
fn time(plan: &Plan, condition: usize, found: &Agreement) -> Option<(f64, (f64, f64))> {
    let workload = &plan.conditions[condition].workload;
    let own = workload.ramp.saturating_add(workload.duration);
    let times = plan.share_of_flow(condition, plan.flows().containing(condition).len())?.as_secs_f64()
        / own.as_secs_f64();
    // The number of boots for an equal interval grows as the variance of boots.
    let share = times * (found.first.standard_error / found.second.standard_error).powi(2);
    let df = found.boots as f64 - 1.0;
    let wide = fisher::quantile((1.0 + LEVEL) / 2.0, df, df)?;
    share.is_finite().then_some((share, (share / wide, share * wide)))
}

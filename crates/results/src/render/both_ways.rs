//! The comparison of conditions measured in turns with the same conditions measured in runs of
//! their own.

use serde::Serialize;
use stats::agreement::{Agreement, EitherWay, PercentEstimate, agree};
use stats::distribution::fisher;
use store::StoredStudy;
use study::{Alternate, Plan, format_duration, metric::Metric};

use crate::data::error::Error;
use crate::data::missing::hint;
use crate::data::target::own_targets;
use crate::data::turns::uncounted;
use crate::words::layout::Layout;
use crate::words::number::{counted, percent, range, times};
use crate::words::table::Table;

// The confidence of the intervals; those of the disagreements hold together.
const LEVEL: f64 = 0.95;

/// The effects by both ways of measuring the conditions of a study, and whether they agree.
#[derive(Debug, Serialize)]
pub struct BothWays {
    study: i64,
    name: String,
    #[serde(flatten)]
    alternate: Alternate,
    /// The part of turns that is not counted; `None` where none were taken.
    uncounted: Option<String>,
    /// The confidence, as a probability.
    level: f64,
    comparisons: Vec<WaysComparison>,
}

/// One condition against another of its flow, in one metric.
#[derive(Debug, Serialize)]
struct WaysComparison {
    condition: String,
    baseline: String,
    metric: &'static str,
    verdict: WaysOutcome,
    /// Both ways in % of the baseline, `first` in turns and `second` in runs; none if they cannot
    /// be compared.
    #[serde(flatten)]
    agreement: Option<Agreement>,
    /// The time that turns need for an interval as narrow as with runs, as a share of the time of
    /// runs, with its interval.
    time: Option<(f64, (f64, f64))>,
    /// Runs with turns, of either condition.
    runs_in_turns: usize,
}

/// Whether both ways agree on a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaysOutcome {
    /// The interval of their disagreement includes 0.
    Agree,
    /// Both ways disagree.
    Disagree,
    /// Fewer than two boots measured the difference both ways.
    NotCompared,
}

impl WaysOutcome {
    fn words(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Disagree => "disagree",
            Self::NotCompared => "not compared",
        }
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
        let runs: Vec<Vec<EitherWay>> = pairs.iter().map(|pair| pair.runs(stored)).collect();
        if runs.iter().all(Vec::is_empty) {
            let metric = pairs[0].metric.key.to_owned();
            return Err(Error::NothingRecorded { study: id, metric, hint: hint(stored, 0) });
        }
        let compared = |((pair, runs), agreement): ((&MeasuredPair, &Vec<EitherWay>), Option<Agreement>)| {
            let label = |index: usize| stored.plan.conditions[index].label.to_string();
            WaysComparison {
                condition: label(pair.condition),
                baseline: label(pair.baseline),
                metric: pair.metric.key,
                verdict: match agreement {
                    Some(found) if found.agree => WaysOutcome::Agree,
                    Some(_) => WaysOutcome::Disagree,
                    None => WaysOutcome::NotCompared,
                },
                time: agreement.as_ref().and_then(|found| time(&stored.plan, pair.condition, found)),
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

    /// The outcome of all comparisons: a disagreement decides, and then a comparison that could not
    /// be made.
    #[must_use]
    pub fn outcome(&self) -> WaysOutcome {
        let is_found = |outcome: &WaysOutcome| self.comparisons.iter().any(|one| one.verdict == *outcome);
        [WaysOutcome::Disagree, WaysOutcome::NotCompared]
            .into_iter()
            .find(is_found)
            .unwrap_or(WaysOutcome::Agree)
    }

    /// The comparison as text.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let uncounted = self.uncounted.as_ref().map(|part| format!(" (of which {part} are not counted)"));
        let mut text = format!(
            "study {} ({}): differences in % of the baseline, measured in the same boots in turns of {}{} and in runs of their own\n\n",
            self.study,
            self.name,
            format_duration(self.alternate.turn),
            uncounted.unwrap_or_default(),
        );
        let heads = [
            "condition",
            "against",
            "metric",
            "verdict",
            "in turns",
            "in runs",
            "turns - runs",
            "boots",
            "time",
        ];
        let time = heads.len() - 1;
        let mut table = Table::new(&heads).named(0).optional(&[time, 7, 2]);
        for one in &self.comparisons {
            let shown = |share: fn(&Agreement) -> PercentEstimate| {
                let share = one.agreement.as_ref().map(share);
                share.map_or("-".to_owned(), |share| {
                    format!("{} ({})", percent(share.value), range(Some(share.interval), percent))
                })
            };
            table.row(&[
                &one.condition,
                &one.baseline,
                one.metric,
                one.verdict.words(),
                &shown(|found| found.first),
                &shown(|found| found.second),
                &shown(|found| found.apart),
                &one.agreement.map_or("-".to_owned(), |found| found.boots.to_string()),
                &one.time.map_or("-".to_owned(), |(share, interval)| {
                    format!("{} ({})", times(share), range(Some(interval), times))
                }),
            ]);
        }
        text.push_str(&table.fit(layout));
        text.push_str(&format!(
            "\nIntervals have {:.0} %; those of turns - runs hold together: where both ways agree on everything, {:.0} % of such checks or fewer find that they disagree (Holm).\n",
            100.0 * self.level,
            100.0 * (1.0 - self.level)
        ));
        let has_time = self.comparisons.iter().any(|one| one.time.is_some());
        if has_time && table.columns(layout).contains(&time) {
            text.push_str(
                "time: what turns need for an interval as narrow as that of runs, as a share of what runs need.\n",
            );
        }
        let missing = self.comparisons.iter().filter(|one| one.verdict == WaysOutcome::NotCompared);
        let (missing, without): (usize, usize) =
            missing.fold((0, 0), |(all, none), one| (all + 1, none + usize::from(one.runs_in_turns == 0)));
        if without > 0 {
            text.push_str(&format!(
                "{} took no turns: a switch reset the link, was not read back as planned, or acts for longer than is not counted, or a pace was not kept.\n",
                counted(without, "condition")
            ));
        }
        if missing > without {
            text.push_str(&format!(
                "{}: fewer than two boots measured both ways.\n",
                counted(missing - without, "comparison")
            ));
        }
        text.push_str(match self.outcome() {
            WaysOutcome::Agree => "Turns and runs agree: no difference between them is proven.\n",
            WaysOutcome::Disagree => {
                "Turns and runs disagree: do not rely on differences of these conditions in turns; write `alternate = \"off\"`, or a longer `alternate` or `settle`. Where a TCP stream has no `socket_buffer`, set one: else its turns share a receive buffer that TCP made as large as any of them needs.\n"
            }
            WaysOutcome::NotCompared => "Not everything was compared both ways.\n",
        });
        text
    }
}

/// A condition, another of its flow that it is compared with, and the metric.
#[derive(PartialEq)]
struct MeasuredPair {
    condition: usize,
    baseline: usize,
    metric: &'static Metric,
}

impl MeasuredPair {
    /// Its runs that count; the second way is in runs of their own.
    fn runs(&self, stored: &StoredStudy) -> Vec<EitherWay> {
        let own =
            stored.measurements().filter(|run| [self.condition, self.baseline].contains(&run.condition));
        own.filter_map(|run| {
            Some(EitherWay {
                boot: run.boot,
                second: run.detail.turns().is_none(),
                of_condition: run.condition == self.condition,
                value: *run.metrics.get(self.metric.key)?,
            })
        })
        .collect()
    }
}

/// Each condition of a flow against one of them, in the metrics of the study. That is the study's
/// baseline or, in flows without it, the condition that has most of its levels.
fn pairs(plan: &Plan) -> Vec<MeasuredPair> {
    let mut pairs = Vec::new();
    for flow in plan.flows().shared() {
        let is_of_it = |workload: &str| plan.conditions[flow[0]].workload.name == workload;
        for target in own_targets(plan).into_iter().filter(|target| is_of_it(&target.workload)) {
            let levels = &plan.conditions[target.baseline].levels;
            let alike = |index: &usize| {
                plan.conditions[*index].levels.iter().filter(|level| levels.contains(level)).count()
            };
            // Of several the first.
            let Some(baseline) = flow.iter().copied().rev().max_by_key(alike) else { continue };
            for condition in flow.iter().copied().filter(|index| *index != baseline) {
                let pair = MeasuredPair { condition, baseline, metric: target.metric };
                if !pairs.contains(&pair) {
                    pairs.push(pair);
                }
            }
        }
    }
    pairs
}

/// The time that turns need for an interval as narrow as that of runs, as a share of theirs. It is
/// the ratio of two variances of boots, times that of the times of a run.
fn time(plan: &Plan, condition: usize, found: &Agreement) -> Option<(f64, (f64, f64))> {
    let workload = &plan.conditions[condition].workload;
    let own = workload.ramp.saturating_add(workload.duration);
    let times = plan.share_of_flow(condition, plan.flows().containing(condition).len())?.as_secs_f64()
        / own.as_secs_f64();
    let share = times * (found.first.standard_error / found.second.standard_error).powi(2);
    let df = found.boots as f64 - 1.0;
    let wide = fisher::quantile((1.0 + LEVEL) / 2.0, df, df)?;
    share.is_finite().then_some((share, (share / wide, share * wide)))
}

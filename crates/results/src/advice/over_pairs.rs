//! Advice over machines: the recommendations of the pairs of a campaign beside each other.

use std::collections::BTreeMap;

use serde::Serialize;
use stats::Verdict;
use stats::fleet::{FleetEffect, PairEffect, over_pairs};
use store::StoredStudy;
use study::metric::{Better, Metric};
use study::{Kind, Percent, Scenario, Side};

use crate::advice::advise::{Advice, AdviceRequest, GoalAdvice, WorkloadAdvice};
use crate::advice::command::HostCommand;
use crate::advice::goal::AdviceGoal;
use crate::advice::judge::Standing;
use crate::advice::recommendation::Recommendation;
use crate::switches::switch_effect::FactorLevel;
use crate::{Error, MetricChange, distinct};

/// Advice drawn from the studies of a campaign's pairs.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FleetAdvice {
    pub campaign: String,
    pub name: String,
    pub question: String,
    /// The confidence of all rows together, as a probability.
    pub confidence: f64,
    /// The smallest difference that matters to a pair's own advice, in % of its base.
    pub matters: Percent,
    pub pairs: usize,
    /// The recommended ones first, the largest effect first.
    pub rows: Vec<FleetAdviceRow>,
}

/// A switch, for one goal and one kind of traffic, over the pairs that tried it.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FleetAdviceRow {
    pub scenario: Scenario,
    pub workload: String,
    pub kind: Kind,
    /// The levels of the other factors.
    pub levels: Vec<FactorLevel>,
    pub goal: AdviceGoal,
    pub metric: Metric,
    /// The factors that are switched together.
    pub factors: Vec<String>,
    /// The host; `None`: both.
    pub side: Option<Side>,
    /// The level that is better on average over machines.
    pub to: String,
    pub from: String,
    /// Whether that is proven over machines.
    pub is_recommended: bool,
    /// The unit of `sizes`: `%` of each pair's base, or the metric's where a base is not known.
    pub unit: &'static str,
    /// The change from `from` to `to`: over machines, and of each pair in the order of `pairs`.
    pub sizes: FleetEffect,
    /// The pairs that tried both levels.
    pub pairs: Vec<String>,
    /// The pairs on which it is not proven to serve the goal.
    pub except: Vec<ExceptedPair>,
    /// Other metrics that are proven to lose on a pair.
    pub loses: Vec<Metric>,
    /// The commands that set it; empty if it is not recommended.
    pub apply: Vec<HostCommand>,
    /// The commands that set it back.
    pub undo: Vec<HostCommand>,
}

/// A pair to which a recommendation does not apply.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ExceptedPair {
    pub name: String,
    pub why: String,
}

/// The advice of a pair on one switch, for one metric of a goal.
#[derive(Debug)]
struct PairAdvice {
    pair: String,
    goal: AdviceGoal,
    metric: Metric,
    case: (Scenario, String, Kind, Vec<FactorLevel>),
    advice: Recommendation,
    change: MetricChange,
}

/// The advice of pairs, as their studies are read one after the other.
#[derive(Debug)]
pub struct PairsAdvice {
    campaign: String,
    request: AdviceRequest,
    /// The study's name and question.
    asked: Option<(String, String)>,
    pairs: usize,
    /// By switch, traffic, goal and metric, in words.
    found: BTreeMap<String, Vec<PairAdvice>>,
}

impl PairsAdvice {
    /// Begins with no pair.
    pub fn new(campaign: &str, request: AdviceRequest) -> Self {
        let campaign = campaign.to_owned();
        Self { campaign, request, asked: None, pairs: 0, found: BTreeMap::new() }
    }

    /// Adds the advice of a pair's study.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that no statistics can take.
    pub fn add(&mut self, pair: &str, stored: &StoredStudy) -> Result<(), Error> {
        self.pairs += 1;
        if self.asked.is_none() {
            self.asked = Some((stored.row.name.clone(), stored.plan.asked.question.clone()));
        }
        for study in Advice::from_studies([stored], &self.request)?.studies {
            for WorkloadAdvice { context, goals, .. } in study.cases {
                let all = goals.into_iter().flat_map(|GoalAdvice { goal, recommendations }| {
                    recommendations.into_iter().map(move |one| (goal, one))
                });
                for (goal, advice) in all {
                    for change in advice.expected.clone() {
                        let (metric, levels) = (change.metric, context.levels.clone());
                        let case = (context.scenario, context.workload.clone(), context.kind, levels);
                        let key = format!("{case:?} {goal} {:?} {}", advice.factors, metric.key);
                        let (pair, advice) = (pair.to_owned(), advice.clone());
                        let own = PairAdvice { pair, goal, metric, case, advice, change };
                        self.found.entry(key).or_default().push(own);
                    }
                }
            }
        }
        Ok(())
    }

    /// The advice over all pairs.
    ///
    /// # Errors
    /// [`Error::Stats`] for a confidence outside of 0 to 1.
    pub fn over_machines(self) -> Result<FleetAdvice, Error> {
        let confidence = self.request.confidence;
        // Bonferroni's correction: all rows hold together.
        let each = 1.0 - (1.0 - confidence) / self.found.len().max(1) as f64;
        let rows = self.found.into_values().map(|all| FleetAdviceRow::new(all, each));
        let mut rows = rows.collect::<Result<Vec<FleetAdviceRow>, Error>>()?;
        let size = |row: &FleetAdviceRow| row.sizes.mean.estimate.abs();
        rows.sort_by(|one, other| {
            let order = other.is_recommended.cmp(&one.is_recommended);
            order.then(size(other).total_cmp(&size(one)))
        });
        let (campaign, matters, pairs) = (self.campaign, self.request.matters, self.pairs);
        let (name, question) = self.asked.unwrap_or_default();
        Ok(FleetAdvice { campaign, name, question, confidence, matters, pairs, rows })
    }
}

impl FleetAdviceRow {
    /// `all` has at least one pair.
    fn new(all: Vec<PairAdvice>, confidence: f64) -> Result<Self, Error> {
        // The levels of a pair that has a proven change, if there is one.
        let first = all.iter().find(|one| one.advice.standing.is_proven()).unwrap_or(&all[0]);
        let forth = [first.advice.from.clone(), first.advice.to.clone()];
        let back = [forth[1].clone(), forth[0].clone()];
        let better = first.metric.better;
        let is_worse = |sizes: &FleetEffect| match better {
            Better::Higher => sizes.mean.estimate < 0.0,
            Better::Lower => sizes.mean.estimate > 0.0,
            Better::Neither => false,
        };
        let (mut levels, mut effects) = (&forth, effects(&all, &forth));
        let mut sizes = over_pairs(&effects.sizes, confidence, None)?;
        if is_worse(&sizes) {
            (levels, effects) = (&back, self::effects(&all, &back));
            sizes = over_pairs(&effects.sizes, confidence, None)?;
        }
        let serves = |verdict: Verdict| match better {
            Better::Higher => verdict == Verdict::Higher,
            Better::Lower => verdict == Verdict::Lower,
            Better::Neither => false,
        };
        let is_recommended = serves(sizes.mean.verdict);
        let verdicts: BTreeMap<&str, Verdict> =
            effects.pairs.iter().copied().zip(sizes.pairs.iter().map(|own| own.verdict)).collect();
        let excepted = all.iter().filter_map(|one| {
            let why = match verdicts.get(one.pair.as_str()) {
                Some(verdict) if serves(*verdict) => return None,
                Some(Verdict::Higher | Verdict::Lower) => format!("{} is better there", levels[0]),
                Some(_) => why_not(&one.advice.standing),
                None => format!("{} is compared with {} there", one.advice.to, one.advice.from),
            };
            Some(ExceptedPair { name: one.pair.clone(), why })
        });
        let mut advice = all.iter().map(|one| &one.advice);
        let proven = advice.find(|one| one.to == levels[1] && !one.apply.is_empty());
        let commands = proven.filter(|_| is_recommended);
        let loses = all.iter().filter_map(|one| match &one.advice.standing {
            Standing::TradeOff { loses } if one.advice.to == levels[1] => Some(loses),
            _ => None,
        });
        let (scenario, workload, kind, other_levels) = first.case.clone();
        Ok(Self {
            scenario,
            workload,
            kind,
            levels: other_levels,
            goal: first.goal,
            metric: first.metric,
            factors: first.advice.factors.clone(),
            side: first.advice.side,
            to: levels[1].clone(),
            from: levels[0].clone(),
            is_recommended,
            unit: effects.unit,
            except: excepted.collect(),
            loses: distinct(loses.flatten().copied()),
            apply: commands.map(|one| one.apply.clone()).unwrap_or_default(),
            undo: commands.map(|one| one.undo.clone()).unwrap_or_default(),
            pairs: effects.pairs.iter().map(|pair| (*pair).to_owned()).collect(),
            sizes,
        })
    }
}

/// The changes of the pairs that tried both levels.
struct Effects<'a> {
    pairs: Vec<&'a str>,
    sizes: Vec<PairEffect>,
    unit: &'static str,
}

fn effects<'a>(all: &'a [PairAdvice], levels: &[String; 2]) -> Effects<'a> {
    let changes = all.iter().filter_map(|one| {
        let [from, to] = levels;
        let own = (&one.advice.from, &one.advice.to);
        let is_reversed = own == (to, from);
        let change = || if is_reversed { one.change.reversed() } else { one.change.clone() };
        (is_reversed || own == (from, to)).then(|| (one.pair.as_str(), change()))
    });
    let (pairs, changes): (Vec<&str>, Vec<MetricChange>) = changes.unzip();
    let in_percent = changes.iter().all(|change| change.there.relative.is_some());
    let size = |change: &MetricChange| {
        let (value, relative) = (change.there.value, change.there.relative.unwrap_or(0.0));
        let (estimate, scale) = match in_percent {
            // The base of a change of zero is near the mean of both levels.
            true if value == 0.0 || relative == 0.0 => (relative, 100.0 / change.mean.abs()),
            true => (relative, (relative / value).abs()),
            false => (value, 1.0),
        };
        let standard_error =
            change.standard_error.map(|error| error * scale).filter(|error| error.is_finite());
        PairEffect {
            estimate,
            standard_error: standard_error.unwrap_or(0.0),
            degrees_of_freedom: standard_error.map_or(0.0, |_| change.df),
        }
    };
    let sizes = changes.iter().map(size).collect();
    let unit = if in_percent { "%" } else { all[0].metric.unit };
    Effects { pairs, sizes, unit }
}

fn why_not(standing: &Standing) -> String {
    match standing {
        Standing::Recommended | Standing::Conditional | Standing::TradeOff { .. } => {
            "not proven there with the error rate of all pairs".to_owned()
        }
        Standing::Depends => "it depends on the other switches there".to_owned(),
        Standing::Tie => "a tie there".to_owned(),
        Standing::NoEvidence => "no evidence there".to_owned(),
        Standing::Saturated { limit } => format!("saturated there: {limit}"),
        Standing::Unknown { why } => format!("unknown there: {why}"),
    }
}

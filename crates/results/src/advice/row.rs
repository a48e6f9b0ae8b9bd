//! A switch in the table of recommendations.

use crate::{EffectMethod, FactorLevel, MetricChange, distinct, grouped};
use serde::Serialize;
use study::metric::Metric;
use study::{Kind, Side, Switch};

use crate::advice::advise::WorkloadAdvice;
use crate::advice::command::HostCommand;
use crate::advice::goal::AdviceGoal;
use crate::advice::judge::Standing;
use crate::advice::recommendation::Recommendation;

/// One switch for one goal and kind of traffic, over all message sizes, MTUs and other factors.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct AdviceRow {
    pub kind: Kind,
    pub goal: AdviceGoal,
    /// The factors that are switched together; empty where nothing is recommended.
    pub factors: Vec<String>,
    /// The host; `None`: both.
    pub side: Option<Side>,
    /// The level to set; `None` where it depends.
    pub to: Option<String>,
    /// The level proven to serve the goal in the other cases, if the switch depends and they agree.
    pub otherwise: Option<String>,
    /// In how many of the cases it is proven.
    pub proven: usize,
    /// In how many cases it was tried.
    pub tried: usize,
    /// The least and the largest proven change of the goal's metric.
    pub change: Option<(f64, f64)>,
    /// These changes in % of `to`, as an answer of a study has them whose baseline is `to`.
    #[serde(skip)]
    pub answered: Option<(f64, f64)>,
    /// From the lowest to the highest end of these changes' intervals; `None` where one has none.
    pub interval: Option<(f64, f64)>,
    /// The unit of `change`: `%` of the bases, or the metric's where a base is not known.
    pub unit: &'static str,
    /// The base of the percentages, if all have the same.
    pub base: Option<String>,
    /// Whether each change is a fair share: an average over states.
    pub is_share: bool,
    pub loses: Vec<Metric>,
    /// The factor and level that all cases in which it is proven have, and no other one.
    pub proven_with: Option<FactorLevel>,
    /// The factors and levels that a case needs; without `to`, those that the effect depends on.
    pub depends_on: Vec<FactorLevel>,
    /// The words of the cell if no change is proven.
    pub why: Option<String>,
    /// The commands that set it, once each; empty where it depends.
    pub apply: Vec<HostCommand>,
}

type SwitchCase<'a> = (&'a WorkloadAdvice, &'a Recommendation);

impl AdviceRow {
    pub(crate) fn by_traffic_and_goal(cases: &[&WorkloadAdvice], goals: &[AdviceGoal]) -> Vec<Self> {
        let kinds = grouped(cases.iter().map(|one| (one.context.kind, *one)));
        let kinds = kinds.iter().flat_map(|(kind, own)| goals.iter().map(move |goal| (*kind, own, *goal)));
        kinds.flat_map(|(kind, own, goal)| of_goal(own, kind, goal)).collect()
    }
}

fn of_goal(cases: &[&WorkloadAdvice], kind: Kind, goal: AdviceGoal) -> Vec<AdviceRow> {
    let cases = cases.iter().flat_map(|case| {
        let own = case.goals.iter().filter(move |one| one.goal == goal);
        own.flat_map(|one| &one.recommendations).map(move |one| (one.factors.as_slice(), (*case, one)))
    });
    let groups: Vec<(&[String], Vec<SwitchCase<'_>>)> = grouped(cases);
    let mut rows: Vec<AdviceRow> =
        groups.iter().filter_map(|(factors, cases)| row(kind, goal, factors, cases)).collect();
    let size = |row: &AdviceRow| row.change.map_or(0.0, |(low, high)| low.abs().max(high.abs()));
    rows.sort_by(|one, other| {
        (one.to.is_none()).cmp(&other.to.is_none()).then(size(other).total_cmp(&size(one)))
    });
    if rows.is_empty() {
        let cases: Vec<SwitchCase<'_>> = groups.iter().flat_map(|(_, cases)| cases).copied().collect();
        rows.push(nothing(kind, goal, &cases));
    }
    rows
}

fn row(kind: Kind, goal: AdviceGoal, factors: &[String], cases: &[SwitchCase<'_>]) -> Option<AdviceRow> {
    let judged = |is_of: fn(&Standing) -> bool| -> Vec<&Recommendation> {
        cases.iter().map(|case| case.1).filter(|one| is_of(&one.standing)).collect()
    };
    let (proven, depends) = (judged(Standing::is_proven), judged(|standing| *standing == Standing::Depends));
    if proven.is_empty() && depends.is_empty() {
        return None;
    }
    let first = proven.first().filter(|first| proven.iter().all(|one| one.to == first.to));
    let agreed = first.map(|first| first.to.clone());
    // A switch that depends in one case has no level for all of them.
    let (to, otherwise) = if depends.is_empty() { (agreed, None) } else { (None, agreed) };
    let on = if to.is_some() { &proven } else { &depends };
    let on = on.iter().flat_map(|one| &one.depends_on);
    let depends_on = distinct(on.map(|on| FactorLevel::new(&on.factor, &on.left)));
    let changes = proven.iter().flat_map(|one| &one.expected);
    let gains: Vec<&MetricChange> = changes.filter(|change| change.is_better() == Some(true)).collect();
    // All changes of a row are in one unit, or their range would mean nothing.
    let without_percentage = gains.iter().find(|change| change.there.relative.is_none());
    let unit = without_percentage.map_or("%", |change| change.metric.unit);
    let bases = distinct(gains.iter().map(|change| &change.there.base));
    let row = AdviceRow {
        factors: factors.to_vec(),
        side: cases.first().and_then(|case| case.1.side),
        otherwise,
        proven: proven.len(),
        unit,
        base: bases.first().filter(|_| bases.len() == 1).map(|base| (*base).clone()),
        is_share: proven.iter().all(|one| one.how == EffectMethod::Share),
        why: (to.is_none() && depends_on.is_empty()).then(|| "cases differ".to_owned()),
        depends_on,
        ..nothing(kind, goal, cases)
    };
    let Some(to) = to else { return Some(row) };
    let sizes = gains.iter().map(|change| match (unit, change.there.relative) {
        ("%", Some(relative)) => (relative, change.there.relative_interval),
        _ => (change.there.value, change.there.interval),
    });
    let intervals: Option<Vec<(f64, f64)>> = sizes.clone().map(|(_, interval)| interval).collect();
    let loses = proven.iter().filter_map(|one| match &one.standing {
        Standing::TradeOff { loses } => Some(loses),
        _ => None,
    });
    Some(AdviceRow {
        to: Some(to),
        change: sizes.map(|(size, _)| (size, size)).reduce(hull),
        answered: answered(cases).filter(|_| unit == "%"),
        interval: intervals.and_then(|all| all.into_iter().reduce(hull)),
        loses: distinct(loses.flatten().cloned()),
        proven_with: proven_with(cases),
        apply: distinct(proven.iter().flat_map(|one| &one.apply).cloned()),
        ..row
    })
}

/// `None` where the answer has the changes from the other level, too.
fn answered(cases: &[SwitchCase<'_>]) -> Option<(f64, f64)> {
    // An effect goes from the earlier level of the plan, the baseline, to the later one.
    let is_from_baseline = |(case, one): &&SwitchCase<'_>| {
        case.context.effects.iter().any(|effect| {
            let is_back = (&effect.from, &effect.to) == (&one.to, &one.from);
            effect.how == EffectMethod::Alone && effect.factors == one.factors && is_back
        })
    };
    let proven = cases.iter().filter(|case| case.1.standing.is_proven()).filter(is_from_baseline);
    let gains = proven.flat_map(|case| &case.1.expected).filter(|change| change.is_better() == Some(true));
    let shares: Option<Vec<f64>> = gains.map(|change| change.back.relative).collect();
    shares?.into_iter().map(|share| (share, share)).reduce(hull)
}

fn hull((low, high): (f64, f64), (one, other): (f64, f64)) -> (f64, f64) {
    (low.min(one), high.max(other))
}

fn proven_with(cases: &[SwitchCase<'_>]) -> Option<FactorLevel> {
    let levels = |case: &SwitchCase<'_>| -> Vec<FactorLevel> {
        let context = &case.0.context;
        let mut levels = context.levels.clone();
        // The first that fits is named, so a level of a switch comes first: it can be set.
        levels.sort_by_key(|one| Switch::named(&one.factor).is_none());
        levels.push(FactorLevel::new("scenario", &context.scenario.to_string()));
        levels.push(FactorLevel::new("workload", &context.workload));
        levels
    };
    let (proven, open): (Vec<&SwitchCase<'_>>, Vec<&SwitchCase<'_>>) =
        cases.iter().partition(|case| case.1.standing.is_proven());
    // Where it is proven in all cases, no level is a condition of it.
    let of_first = levels(proven.first().filter(|_| !open.is_empty())?);
    of_first.into_iter().find(|level| {
        proven.iter().all(|case| levels(case).contains(level))
            && !open.iter().any(|case| levels(case).contains(level))
    })
}

fn nothing(kind: Kind, goal: AdviceGoal, cases: &[SwitchCase<'_>]) -> AdviceRow {
    let limit = cases.iter().find_map(|case| match &case.1.standing {
        Standing::Saturated { limit } => Some(limit),
        _ => None,
    });
    let is = |of: fn(&Standing) -> bool| cases.iter().any(|case| of(&case.1.standing));
    let why = match limit {
        Some(limit) => format!("saturated: {limit}"),
        None if goal.missing(kind, false).is_some() => "not measured by this traffic".to_owned(),
        None if is(|one| *one == Standing::NoEvidence) => "no evidence".to_owned(),
        None if is(|one| *one == Standing::Tie) => "a tie".to_owned(),
        None if is(|one| matches!(one, Standing::Unknown { .. })) => "no evidence".to_owned(),
        None => "not measured".to_owned(),
    };
    AdviceRow {
        kind,
        goal,
        factors: Vec::new(),
        side: None,
        to: None,
        otherwise: None,
        proven: 0,
        tried: cases.len(),
        change: None,
        answered: None,
        interval: None,
        unit: "%",
        base: None,
        is_share: false,
        loses: Vec::new(),
        proven_with: None,
        depends_on: Vec::new(),
        why: Some(why),
        apply: Vec::new(),
    }
}

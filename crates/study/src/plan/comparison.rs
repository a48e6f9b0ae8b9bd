//! Comparisons of conditions.

use serde::{Deserialize, Serialize};
use words::{Percent, grouped};

use crate::model::combinations::chooses;
use crate::model::{ComparisonSpec, LevelIndexes};
use crate::plan::Condition;

/// Conditions of one workload and one way to count copies, compared with one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedComparison {
    /// The name of the workload.
    pub workload: String,
    /// The key of the metric, in full: `transmitter.cpu`.
    pub metric: String,
    /// The condition compared with, as an index into the plan.
    pub baseline: usize,
    /// The conditions compared, in plan order, without the baseline. Never empty.
    pub conditions: Vec<usize>,
    /// Differences up to this share of the baseline do not matter; none: the study does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equivalent: Option<Percent>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unresolved {
    NoBaseline,
    ManyBaselines(usize),
    NothingToCompare,
}

/// One for each workload and way to count copies that yields the metric and has the baseline.
///
/// # Errors
/// [`Unresolved`], if no workload has the baseline, one has several, or none has another condition.
pub(crate) fn resolve(
    request: &ComparisonSpec,
    planned: &[(LevelIndexes, &Condition)],
    exact: bool,
) -> Result<Vec<PlannedComparison>, Unresolved> {
    let mut comparisons = Vec::new();
    let mut found = false;
    let by_world = planned.iter().map(|one| ((&one.1.workload.name, one.1.copies()), one));
    for ((name, _), members) in grouped(by_world) {
        let kind = members[0].1.workload.traffic.kind;
        let metric = request.metric.unwrap_or_else(|| kind.main_metric(exact));
        let takes_part = |(cell, condition): &&(LevelIndexes, &Condition)| {
            condition.workload.traffic.produces(metric)
                && metric.needs.is_met(condition.boot.scenario, exact)
                && chooses(&request.only, cell)
        };
        let members: Vec<&(LevelIndexes, &Condition)> = members.into_iter().filter(takes_part).collect();
        let Some(baseline) = baseline(request, &members)? else { continue };
        found = true;
        let conditions: Vec<usize> =
            members.iter().map(|(_, condition)| condition.index).filter(|index| *index != baseline).collect();
        if !conditions.is_empty() {
            let (workload, metric, equivalent) = (name.clone(), metric.to_string(), request.equivalent);
            comparisons.push(PlannedComparison { workload, metric, baseline, conditions, equivalent });
        }
    }
    match (found, comparisons.is_empty()) {
        (false, _) => Err(Unresolved::NoBaseline),
        (true, true) => Err(Unresolved::NothingToCompare),
        (true, false) => Ok(comparisons),
    }
}

fn baseline(
    request: &ComparisonSpec,
    members: &[&(LevelIndexes, &Condition)],
) -> Result<Option<usize>, Unresolved> {
    let Some(selection) = &request.baseline else {
        return Ok(members.first().map(|(_, condition)| condition.index));
    };
    let mut chosen = members.iter().filter(|(cell, _)| chooses(selection, cell));
    match (chosen.next(), chosen.count()) {
        (None, _) => Ok(None),
        (Some((_, one)), 0) => Ok(Some(one.index)),
        (Some(_), more) => Err(Unresolved::ManyBaselines(1 + more)),
    }
}

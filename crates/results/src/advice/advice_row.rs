//! A switch in the table of recommendations.

use crate::{EffectMethod, MetricChange, listed};
use serde::Serialize;
use study::{Kind, Side, Switch};

use crate::advice::command::HostCommand;
use crate::advice::goal::AdviceGoal;
use crate::advice::judge::Standing;
use crate::advice::phrase;
use crate::advice::recommendation::Recommendation;
use crate::advice::workload_advice::WorkloadAdvice;

/// One switch for one goal and kind of traffic, over all message sizes, MTUs and other factors.
#[derive(Debug, Clone, Serialize)]
pub struct AdviceRow {
    /// The kind of traffic.
    pub kind: Kind,
    /// The goal.
    pub goal: AdviceGoal,
    /// The factors that are switched together; empty where nothing is recommended.
    pub factors: Vec<String>,
    /// The host; `None`: both.
    pub side: Option<Side>,
    /// The level to set; `None` where it depends.
    pub to: Option<String>,
    /// The level that is proven to serve the goal in the other cases, if the switch depends and
    /// these cases agree.
    pub otherwise: Option<String>,
    /// In how many of the cases it is proven.
    pub proven: usize,
    /// In how many cases it was tried.
    pub tried: usize,
    /// The least and the largest proven change of the goal's metric.
    pub change: Option<(f64, f64)>,
    /// From the lowest to the highest end of the intervals of these changes, in the same unit; of
    /// one case its interval. `None` where one of them has none, as counts have none.
    pub interval: Option<(f64, f64)>,
    /// The unit of `change`: `%` of the bases, or the metric's where a base is not known well
    /// enough.
    pub unit: &'static str,
    /// The base of the percentages, if all have the same.
    pub base: Option<String>,
    /// Whether each change is a fair share: an average over states, which with all others on may
    /// differ.
    pub is_share: bool,
    /// The metrics, by their keys, that are proven to lose in at least one case.
    pub loses: Vec<String>,
    /// The level of another factor that all cases in which it is proven have, and no other one: the
    /// name and the level.
    pub proven_with: Option<(String, String)>,
    /// The levels of other switches that at least one case needs; if `to` is `None`, the switches
    /// on which the effect depends.
    pub depends_on: Vec<SwitchLevel>,
    /// The words of the cell if no change is proven.
    pub why: Option<String>,
    /// The commands that set it, once each; empty where it depends.
    pub apply: Vec<HostCommand>,
}

/// A switch at a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SwitchLevel {
    /// The factor of the study.
    pub factor: String,
    /// Its level.
    pub level: String,
}

#[derive(Debug, Clone, Copy)]
struct SwitchCase<'a> {
    under: &'a WorkloadAdvice,
    said: &'a Recommendation,
}

impl AdviceRow {
    /// By traffic and goal, the largest gain first.
    pub(crate) fn by_traffic_and_goal(under: &[&WorkloadAdvice], goals: &[AdviceGoal]) -> Vec<Self> {
        let mut kinds: Vec<Kind> = Vec::new();
        for one in under {
            if !kinds.contains(&one.kind) {
                kinds.push(one.kind);
            }
        }
        let of_kind = |kind| goals.iter().flat_map(move |goal| of_goal(under, kind, *goal));
        kinds.into_iter().flat_map(of_kind).collect()
    }

    /// The largest change, for the order: in the row's unit.
    fn size(&self) -> f64 {
        self.change.map_or(0.0, |(low, high)| low.abs().max(high.abs()))
    }

    /// The levels of a host's other switches that it needs.
    pub(crate) fn needs(&self) -> Vec<SwitchLevel> {
        let with = self.proven_with.iter().filter(|(name, _)| Switch::named(name).is_some());
        let with = with.map(|(name, level)| SwitchLevel { factor: name.clone(), level: level.clone() });
        let own = self.depends_on.iter().filter(|_| self.to.is_some()).cloned();
        own.chain(with).collect()
    }

    /// The level that it needs and another row sets otherwise.
    pub(crate) fn is_broken_by(&self, other: &Self) -> Option<SwitchLevel> {
        let breaks = |needed: &SwitchLevel| {
            other.factors.contains(&needed.factor) && other.to.as_ref().is_some_and(|to| *to != needed.level)
        };
        self.needs().into_iter().find(breaks)
    }

    /// The mark of a change whose note names the level of another switch that it needs.
    pub(crate) const CONDITIONAL: &'static str = " *";

    /// The unit of `change`, with the work that CPU time is of.
    fn unit(&self) -> String {
        match self.goal {
            AdviceGoal::Cpu if self.unit != "%" => format!("{}/{}", self.unit, self.kind.unit_of_work()),
            _ => self.unit.to_owned(),
        }
    }

    /// The note for which its cells have no room: the level of another factor under which it is
    /// proven, and the switches on which it depends.
    pub(crate) fn note(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some((name, level)) = &self.proven_with {
            parts.push(format!(
                "proven with {}={}",
                words::sanitised_line(name),
                words::sanitised_line(level)
            ));
        }
        let conditions = || self.depends_on.iter();
        match self.to {
            _ if self.depends_on.is_empty() => {}
            Some(_) => {
                let each = conditions().map(|one| phrase::set_at(&one.factor, &one.level));
                parts.push(format!("only with {}", listed(&each.collect::<Vec<_>>())));
            }
            None => {
                let on = phrase::switches_at(conditions().map(|one| &one.factor));
                parts.push(format!("depends on {on}"));
            }
        }
        if let Some(to) = &self.otherwise {
            parts.push(format!(
                "{} is proven in {} of {} cases",
                words::sanitised_line(to),
                self.proven,
                self.tried
            ));
        }
        let mark = if self.to.is_some() && !self.depends_on.is_empty() { "* " } else { "" };
        let set = match &self.to {
            Some(to) => phrase::set(&self.factors, to),
            None => phrase::switches(&self.factors),
        };
        (!parts.is_empty()).then(|| format!("{mark}{set}: {}", parts.join(", ")))
    }

    /// Its cells under `Summary::HEAD`.
    pub(crate) fn cells(&self) -> [String; 6] {
        let set = match (&self.to, self.factors.is_empty()) {
            (_, true) => "nothing".to_owned(),
            (Some(to), false) => phrase::set(&self.factors, to),
            (None, false) => format!("{}: depends", phrase::switches(&self.factors)),
        };
        let on = match (self.side, self.factors.is_empty()) {
            (_, true) => String::new(),
            (Some(side), false) => side.to_string(),
            (None, false) => "both".to_owned(),
        };
        let mut said = self.change.map_or_else(String::new, |ends| phrase::sizes(ends, &self.unit()));
        if self.proven < self.tried && self.to.is_some() {
            said.push_str(&format!(" (in {} of {})", self.proven, self.tried));
        }
        if !self.depends_on.is_empty() {
            said.push_str(if self.to.is_some() { Self::CONDITIONAL } else { "on others" });
        }
        if !self.loses.is_empty() {
            said.push_str(", trade-off");
        }
        said.push_str(self.why.as_deref().unwrap_or_default());
        let interval = self.interval.map_or_else(String::new, |ends| phrase::interval(ends, self.unit));
        [self.kind.to_string(), self.goal.to_string(), set, on, said.trim_start().to_owned(), interval]
    }
}

fn of_goal<'a>(under: &[&'a WorkloadAdvice], kind: Kind, goal: AdviceGoal) -> Vec<AdviceRow> {
    let own = under.iter().filter(|one| one.kind == kind);
    let of_goal = |under: &'a WorkloadAdvice| {
        let own = under.recommendations.iter().filter(move |(of, _)| *of == goal);
        own.flat_map(|(_, all)| all).map(move |said| SwitchCase { under, said })
    };
    let mut groups: Vec<(&[String], Vec<SwitchCase<'_>>)> = Vec::new();
    for case in own.flat_map(|under| of_goal(under)) {
        match groups.iter_mut().find(|(factors, _)| *factors == case.said.factors) {
            Some((_, cases)) => cases.push(case),
            None => groups.push((&case.said.factors, vec![case])),
        }
    }
    let mut rows: Vec<AdviceRow> =
        groups.iter().filter_map(|(factors, cases)| row(kind, goal, factors, cases)).collect();
    rows.sort_by(|one, other| {
        (one.to.is_none()).cmp(&other.to.is_none()).then(other.size().total_cmp(&one.size()))
    });
    if rows.is_empty() {
        let cases: Vec<SwitchCase<'_>> = groups.iter().flat_map(|(_, cases)| cases).copied().collect();
        rows.push(nothing(kind, goal, &cases));
    }
    rows
}

/// A switch that is proven to do something; `None` for others.
fn row(kind: Kind, goal: AdviceGoal, factors: &[String], cases: &[SwitchCase<'_>]) -> Option<AdviceRow> {
    let of = |is_of: fn(&Standing) -> bool| -> Vec<&Recommendation> {
        cases.iter().map(|case| case.said).filter(|said| is_of(&said.standing)).collect()
    };
    let (proven, depends) = (of(Standing::is_proven), of(|standing| *standing == Standing::Depends));
    let first = proven.first();
    let agree = proven.iter().all(|one| Some(&one.to) == first.map(|first| &first.to));
    if first.is_none() && depends.is_empty() {
        return None;
    }
    let to = first.filter(|_| agree && depends.is_empty()).map(|first| first.to.clone());
    let mut loses: Vec<String> = Vec::new();
    let mut apply: Vec<HostCommand> = Vec::new();
    for one in &proven {
        if let Standing::TradeOff(metrics) = &one.standing {
            loses
                .extend(metrics.iter().filter(|metric| !loses.contains(metric)).cloned().collect::<Vec<_>>());
        }
        let new: Vec<HostCommand> =
            one.apply.iter().filter(|command| !apply.contains(command)).cloned().collect();
        apply.extend(new);
    }
    let mut depends_on: Vec<SwitchLevel> = Vec::new();
    for on in if to.is_some() { &proven } else { &depends }.iter().flat_map(|one| &one.depends_on) {
        let condition = SwitchLevel { factor: on.factor.clone(), level: on.left.clone() };
        if !depends_on.contains(&condition) {
            depends_on.push(condition);
        }
    }
    let changes = proven.iter().flat_map(|one| &one.expected);
    let gains: Vec<&MetricChange> = changes.filter(|change| change.is_better() == Some(true)).collect();
    let unit = match gains.iter().find(|change| change.there.relative.is_none()) {
        Some(change) => change.metric.unit,
        None => "%",
    };
    let size =
        |change: &&MetricChange| change.there.relative.filter(|_| unit == "%").unwrap_or(change.there.value);
    let ends = hull(gains.iter().map(size).map(|size| (size, size)));
    let interval_of = |change: &&MetricChange| match unit {
        "%" => change.there.relative_interval,
        _ => change.there.interval,
    };
    let intervals: Option<Vec<(f64, f64)>> = gains.iter().map(interval_of).collect();
    let mut bases: Vec<&str> = gains.iter().map(|change| change.there.base.as_str()).collect();
    bases.dedup();
    let base = match bases.as_slice() {
        [one] => Some((*one).to_owned()),
        _ => None,
    };
    Some(AdviceRow {
        kind,
        goal,
        factors: factors.to_vec(),
        side: cases.first().and_then(|case| case.said.side),
        otherwise: first.filter(|_| agree && to.is_none()).map(|first| first.to.clone()),
        proven: proven.len(),
        tried: cases.len(),
        change: ends.filter(|_| to.is_some()),
        interval: intervals.and_then(|all| hull(all.into_iter())).filter(|_| to.is_some()),
        unit,
        base,
        is_share: proven.iter().all(|one| one.how == EffectMethod::Share),
        why: (to.is_none() && depends_on.is_empty()).then(|| "cases differ".to_owned()),
        proven_with: proven_with(cases).filter(|_| to.is_some()),
        depends_on,
        apply: if to.is_some() { apply } else { Vec::new() },
        loses: if to.is_some() { loses } else { Vec::new() },
        to,
    })
}

/// From the lowest to the highest of these ends; `None` without any.
fn hull(mut all: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    let first = all.next()?;
    Some(all.fold(first, |(low, high), (one, other)| (low.min(one), high.max(other))))
}

/// The level of another factor that the cases where a switch is proven share, and no other case
/// has; a level of a switch first, because it can be set.
fn proven_with(cases: &[SwitchCase<'_>]) -> Option<(String, String)> {
    let levels = |case: &SwitchCase<'_>| -> Vec<(String, String)> {
        let mut levels = case.under.at.clone();
        levels.sort_by_key(|(name, _)| Switch::named(name).is_none());
        levels.push(("scenario".to_owned(), case.under.scenario.to_string()));
        levels.push(("workload".to_owned(), case.under.workload.clone()));
        levels
    };
    let (proven, open): (Vec<&SwitchCase<'_>>, Vec<&SwitchCase<'_>>) =
        cases.iter().partition(|case| case.said.standing.is_proven());
    let of_first = levels(proven.first().filter(|_| !open.is_empty())?);
    of_first.into_iter().find(|level| {
        proven.iter().all(|case| levels(case).contains(level))
            && !open.iter().any(|case| levels(case).contains(level))
    })
}

/// The row of a goal for which no change is proven, with the most telling reason.
fn nothing(kind: Kind, goal: AdviceGoal, cases: &[SwitchCase<'_>]) -> AdviceRow {
    let find = |of: fn(&Standing) -> Option<&String>| cases.iter().find_map(|case| of(&case.said.standing));
    let limit = find(|standing| match standing {
        Standing::Saturated(limit) => Some(limit),
        _ => None,
    });
    let unknown = find(|standing| match standing {
        Standing::Unknown(why) => Some(why),
        _ => None,
    });
    let is = |standing: &Standing| cases.iter().any(|case| case.said.standing == *standing);
    let can = goal.missing(kind, false).is_none();
    let why = match (limit, unknown) {
        (None, _) if !can => "not measured by this traffic".to_owned(),
        (Some(limit), _) => format!("saturated: {limit}"),
        _ if is(&Standing::NoEvidence) => "no evidence".to_owned(),
        _ if is(&Standing::Tie) => "a tie".to_owned(),
        (None, Some(_)) => "no evidence".to_owned(),
        _ => "not measured".to_owned(),
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

//! The recommendations in short: goal, side, switch, by scenario and over all.

use report::{Change, How, Layout, Table};
use serde::Serialize;
use study::{Kind, Scenario, Side};

use crate::command::Command;
use crate::found::{StudyAdvice, Under};
use crate::goal::Goal;
use crate::judge::Standing;
use crate::phrase;
use crate::recommendation::Recommendation;

/// The recommendations of one scenario, or of all, in short.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// What it is over.
    pub scope: Scope,
    /// By traffic and goal, the largest gain first.
    pub rows: Vec<Row>,
}

/// What a summary is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One scenario.
    Scenario(Scenario),
    /// All scenarios that were measured.
    All,
}

/// One switch for one goal and kind of traffic, over all message sizes, MTUs and other factors.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The kind of traffic.
    pub kind: Kind,
    /// The goal.
    pub goal: Goal,
    /// The factors that are switched together; empty where nothing is recommended.
    pub factors: Vec<String>,
    /// The host; `None`: both.
    pub side: Option<Side>,
    /// The level to set; `None` where it depends.
    pub to: Option<String>,
    /// In how many of the cases it is proven.
    pub proven: usize,
    /// In how many cases it was tried.
    pub tried: usize,
    /// The least and the largest proven change of the goal's metric.
    pub change: Option<(f64, f64)>,
    /// The unit of `change`: `%` of the bases, or the metric's where a base is not known well
    /// enough.
    pub unit: &'static str,
    /// The base of the percentages, if all have the same.
    pub base: Option<String>,
    /// Whether each change is a fair share: an average over states, which with all others on may
    /// differ.
    pub is_share: bool,
    /// What is proven to lose in one case at least, by the metrics' keys.
    pub loses: Vec<String>,
    /// What to say where nothing is proven.
    pub why: Option<String>,
    /// The commands that set it, once each; empty where it depends.
    pub apply: Vec<Command>,
}

/// A switch under one combination.
type Case<'a> = &'a Recommendation;

impl Summary {
    /// One for each scenario, then one over all if there are several.
    pub(crate) fn all(studies: &[StudyAdvice], goals: &[Goal]) -> Vec<Self> {
        let under: Vec<&Under> = studies.iter().flat_map(|study| &study.under).collect();
        let mut scenarios: Vec<Scenario> = Vec::new();
        for one in &under {
            if !scenarios.contains(&one.scenario) {
                scenarios.push(one.scenario);
            }
        }
        let mut summaries: Vec<Self> = scenarios
            .iter()
            .map(|scenario| {
                let own: Vec<&Under> =
                    under.iter().filter(|one| one.scenario == *scenario).copied().collect();
                Self { scope: Scope::Scenario(*scenario), rows: rows(&own, goals) }
            })
            .collect();
        if scenarios.len() > 1 {
            summaries.push(Self { scope: Scope::All, rows: rows(&under, goals) });
        }
        summaries
    }

    /// Its heading.
    #[must_use]
    pub fn title(&self) -> String {
        match self.scope {
            Scope::Scenario(scenario) => scenario.to_string(),
            Scope::All => "over all scenarios".to_owned(),
        }
    }

    /// The line below the table: what percentages are of; `None` where nothing is proven.
    #[must_use]
    pub fn base(&self) -> Option<String> {
        let proven = || self.rows.iter().filter(|row| row.change.is_some());
        let first = proven().next()?;
        let is_same = proven().all(|row| row.base == first.base);
        let of = match first.base.as_ref().filter(|_| is_same) {
            Some(base) => format!("of {}", text::line(base)),
            None => "each of its own base".to_owned(),
        };
        let share = match proven().all(|row| row.is_share) {
            true => "fair share, ",
            false => "",
        };
        Some(format!("change: {share}{of}, the least to the largest of all cases"))
    }

    /// The heading of the columns of [`Row::cells`].
    pub const HEAD: [&'static str; 5] = ["traffic", "goal", "set", "on the", "change"];

    /// The table; a kind of traffic and a goal stand in their first row only.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new(&Self::HEAD);
        let mut before: Option<(Kind, Goal)> = None;
        for row in &self.rows {
            let mut cells = row.cells();
            if before == Some((row.kind, row.goal)) {
                cells[0].clear();
                cells[1].clear();
            }
            before = Some((row.kind, row.goal));
            table.row(&cells.each_ref().map(String::as_str));
        }
        table
    }

    /// The table with its base, for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let base = self.base().map_or_else(String::new, |base| format!("({base})\n"));
        self.table().fit(layout) + &base
    }
}

impl Row {
    /// Its cells under [`Summary::HEAD`].
    #[must_use]
    pub fn cells(&self) -> [String; 5] {
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
        let mut said = self.change.map_or_else(String::new, |ends| phrase::sizes(ends, self.unit));
        if self.proven < self.tried && self.to.is_some() {
            said.push_str(&format!(" (in {} of {})", self.proven, self.tried));
        }
        if !self.loses.is_empty() {
            said.push_str(", trade-off");
        }
        said.push_str(self.why.as_deref().unwrap_or_default());
        [self.kind.to_string(), self.goal.to_string(), set, on, said.trim_start().to_owned()]
    }
}

fn rows(under: &[&Under], goals: &[Goal]) -> Vec<Row> {
    let mut kinds: Vec<Kind> = Vec::new();
    for one in under {
        if !kinds.contains(&one.kind) {
            kinds.push(one.kind);
        }
    }
    let mut rows = Vec::new();
    for kind in kinds {
        for goal in goals {
            rows.extend(of_goal(under, kind, *goal));
        }
    }
    rows
}

fn of_goal(under: &[&Under], kind: Kind, goal: Goal) -> Vec<Row> {
    let own = under.iter().filter(|one| one.kind == kind);
    let of_goal = own.flat_map(|one| one.recommendations.iter().filter(|(of, _)| *of == goal));
    let mut groups: Vec<(&[String], Vec<Case<'_>>)> = Vec::new();
    for case in of_goal.flat_map(|(_, cases)| cases) {
        match groups.iter_mut().find(|(factors, _)| *factors == case.factors) {
            Some((_, cases)) => cases.push(case),
            None => groups.push((&case.factors, vec![case])),
        }
    }
    let mut rows: Vec<Row> =
        groups.iter().filter_map(|(factors, cases)| row(kind, goal, factors, cases)).collect();
    let size = |row: &Row| row.change.map_or(0.0, |(low, high)| low.abs().max(high.abs()));
    rows.sort_by(|one, other| {
        (one.to.is_none()).cmp(&other.to.is_none()).then(size(other).total_cmp(&size(one)))
    });
    if rows.is_empty() {
        let cases: Vec<Case<'_>> = groups.iter().flat_map(|(_, cases)| cases).copied().collect();
        rows.push(nothing(kind, goal, &cases));
    }
    rows
}

/// A switch that is proven to do something; `None` for others.
fn row(kind: Kind, goal: Goal, factors: &[String], cases: &[Case<'_>]) -> Option<Row> {
    let proven: Vec<Case<'_>> = cases.iter().filter(|one| one.standing.is_proven()).copied().collect();
    let depends = cases.iter().any(|one| one.standing == Standing::Depends);
    let first = proven.first();
    let agree = proven.iter().all(|one| Some(&one.to) == first.map(|first| &first.to));
    if first.is_none() && !depends {
        return None;
    }
    let to = first.filter(|_| agree && !depends).map(|first| first.to.clone());
    let mut loses: Vec<String> = Vec::new();
    let mut apply: Vec<Command> = Vec::new();
    for one in &proven {
        if let Standing::TradeOff(metrics) = &one.standing {
            loses
                .extend(metrics.iter().filter(|metric| !loses.contains(metric)).cloned().collect::<Vec<_>>());
        }
        let new: Vec<Command> =
            one.apply.iter().filter(|command| !apply.contains(command)).cloned().collect();
        apply.extend(new);
    }
    let changes = proven.iter().flat_map(|one| &one.expected);
    let gains: Vec<&Change> = changes.filter(|change| change.is_better() == Some(true)).collect();
    let unit = match gains.iter().find(|change| change.there.relative.is_none()) {
        Some(change) => change.metric.unit,
        None => "%",
    };
    let size = |change: &&Change| change.there.relative.filter(|_| unit == "%").unwrap_or(change.there.value);
    let ends = gains.iter().map(size).fold(None, |ends: Option<(f64, f64)>, size| {
        Some(ends.map_or((size, size), |(low, high)| (low.min(size), high.max(size))))
    });
    let mut bases: Vec<&str> = gains.iter().map(|change| change.there.base.as_str()).collect();
    bases.dedup();
    let base = match bases.as_slice() {
        [one] => Some((*one).to_owned()),
        _ => None,
    };
    Some(Row {
        kind,
        goal,
        factors: factors.to_vec(),
        side: cases.first().and_then(|case| case.side),
        proven: proven.len(),
        tried: cases.len(),
        change: ends.filter(|_| to.is_some()),
        unit,
        base,
        is_share: proven.iter().all(|one| one.how == How::Share),
        why: to.is_none().then(|| "cases differ".to_owned()),
        apply: if to.is_some() { apply } else { Vec::new() },
        loses: if to.is_some() { loses } else { Vec::new() },
        to,
    })
}

/// What to say where nothing is proven: the most telling reason.
fn nothing(kind: Kind, goal: Goal, cases: &[Case<'_>]) -> Row {
    let find = |of: fn(&Standing) -> Option<&String>| cases.iter().find_map(|case| of(&case.standing));
    let limit = find(|standing| match standing {
        Standing::Saturated(limit) => Some(limit),
        _ => None,
    });
    let unknown = find(|standing| match standing {
        Standing::Unknown(why) => Some(why),
        _ => None,
    });
    let is = |standing: &Standing| cases.iter().any(|case| case.standing == *standing);
    let can = goal.missing(kind, false).is_none();
    let why = match (limit, unknown) {
        (None, _) if !can => "not measured by this traffic".to_owned(),
        (Some(limit), _) => format!("saturated: {limit}"),
        _ if is(&Standing::NoEvidence) => "no evidence".to_owned(),
        _ if is(&Standing::Tie) => "a tie".to_owned(),
        (None, Some(_)) => "no evidence".to_owned(),
        _ => "not measured".to_owned(),
    };
    Row {
        kind,
        goal,
        factors: Vec::new(),
        side: None,
        to: None,
        proven: 0,
        tried: cases.len(),
        change: None,
        unit: "%",
        base: None,
        is_share: false,
        loses: Vec::new(),
        why: Some(why),
        apply: Vec::new(),
    }
}

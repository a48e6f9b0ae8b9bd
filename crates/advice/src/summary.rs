//! The recommendations in short: goal, side, switch, by scenario and over all.

use report::{Table, listed};
use serde::Serialize;
use study::{Kind, Scenario};

use crate::found::StudyAdvice;
use crate::goal::Goal;
use crate::row::Row;
use crate::workload_advice::WorkloadAdvice;

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

impl Summary {
    /// One for each scenario, then one over all if there are several.
    pub(crate) fn all(studies: &[StudyAdvice], goals: &[Goal]) -> Vec<Self> {
        let under: Vec<&WorkloadAdvice> = studies.iter().flat_map(|study| &study.under).collect();
        let mut scenarios: Vec<Scenario> = Vec::new();
        for one in &under {
            if !scenarios.contains(&one.scenario) {
                scenarios.push(one.scenario);
            }
        }
        let mut summaries: Vec<Self> = scenarios
            .iter()
            .map(|scenario| {
                let own: Vec<&WorkloadAdvice> =
                    under.iter().filter(|one| one.scenario == *scenario).copied().collect();
                Self { scope: Scope::Scenario(*scenario), rows: Row::all(&own, goals) }
            })
            .collect();
        if scenarios.len() > 1 {
            summaries.push(Self { scope: Scope::All, rows: Row::all(&under, goals) });
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

    /// The lines below the table: what changes are of, and what each row holds for, without full
    /// stops; empty where nothing is said of any switch.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        // What holds for several kinds of traffic and goals is said once.
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for row in &self.rows {
            let Some(note) = row.note() else { continue };
            let of = format!("{} {}", row.kind, row.goal);
            match found.iter_mut().find(|(known, _)| *known == note) {
                Some((_, all)) => all.push(of),
                None => found.push((note, vec![of])),
            }
        }
        let found = found.into_iter().map(|(note, of)| format!("{note}; for {}", listed(&of)));
        self.base().into_iter().chain(found).collect()
    }

    /// What percentages are of; `None` where nothing is proven.
    fn base(&self) -> Option<String> {
        let proven = || self.rows.iter().filter(|row| row.change.is_some());
        let first = proven().next()?;
        let is_same = proven().all(|row| row.base == first.base);
        let from = match first.base.as_ref().filter(|_| is_same) {
            Some(base) => format!("from {}", text::line(base)),
            None => "each from its own base".to_owned(),
        };
        let share = if proven().all(|row| row.is_share) { ", the switch's fair share" } else { "" };
        let range = if proven().any(|row| row.change.is_some_and(|(low, high)| low < high)) {
            "; the least to the largest of all cases"
        } else {
            ""
        };
        let is_interval = |row: &&Row| row.interval.is_some();
        let interval = match (proven().any(|row| is_interval(&row)), range.is_empty()) {
            (false, _) => "",
            (true, true) => "; interval: of that change by itself",
            (true, false) => "; interval: from the lowest to the highest end of theirs",
        };
        Some(format!("change: {from}{share}{range}{interval}"))
    }

    /// The heading of the columns of [`Row::cells`].
    pub const HEAD: [&'static str; 6] = ["traffic", "goal", "set", "on the", "change", "interval"];

    /// The table; a kind of traffic and a goal stand in their first row only.
    #[must_use]
    pub fn table(&self) -> Table {
        let has_intervals = self.rows.iter().any(|row| row.interval.is_some());
        let columns = Self::HEAD.len() - usize::from(!has_intervals);
        // Each case has its interval below the table, too.
        let mut table = Table::new(&Self::HEAD[..columns]).optional(&[Self::HEAD.len() - 1]);
        let mut before: Option<(Kind, Goal)> = None;
        for row in &self.rows {
            let mut cells = row.cells();
            if before == Some((row.kind, row.goal)) {
                cells[0].clear();
                cells[1].clear();
            }
            before = Some((row.kind, row.goal));
            table.row(&cells.each_ref().map(String::as_str)[..columns]);
        }
        table
    }
}

//! The recommendations in short: goal, side, switch, by scenario and over all.

use crate::{Table, listed};
use serde::Serialize;
use study::{Kind, Scenario};

use crate::advice::advice_row::AdviceRow;
use crate::advice::goal::AdviceGoal;
use crate::advice::study_advice::StudyAdvice;
use crate::advice::workload_advice::WorkloadAdvice;

/// The recommendations of one scenario, or of all, in short.
#[derive(Debug, Clone, Serialize)]
pub struct AdviceSummary {
    /// One scenario, or all.
    pub scope: SummaryScope,
    /// By traffic and goal, the largest gain first.
    pub rows: Vec<AdviceRow>,
}

/// The scope of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryScope {
    /// One scenario.
    Scenario(Scenario),
    /// All scenarios that were measured.
    All,
}

impl AdviceSummary {
    /// One for each scenario, then one over all if there are several.
    pub(crate) fn by_scenario(studies: &[StudyAdvice], goals: &[AdviceGoal]) -> Vec<Self> {
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
                Self {
                    scope: SummaryScope::Scenario(*scenario),
                    rows: AdviceRow::by_traffic_and_goal(&own, goals),
                }
            })
            .collect();
        if scenarios.len() > 1 {
            summaries
                .push(Self { scope: SummaryScope::All, rows: AdviceRow::by_traffic_and_goal(&under, goals) });
        }
        summaries
    }

    /// Its heading.
    pub(crate) fn title(&self) -> String {
        match self.scope {
            SummaryScope::Scenario(scenario) => scenario.to_string(),
            SummaryScope::All => "over all scenarios".to_owned(),
        }
    }

    /// The lines below the table: the base of the changes, and the conditions of each row, without
    /// full stops; empty if no row has a change or a note.
    pub(crate) fn notes(&self) -> Vec<String> {
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

    /// The bases of the percentages; `None` if no change is proven.
    fn base(&self) -> Option<String> {
        let proven = || self.rows.iter().filter(|row| row.change.is_some());
        let first = proven().next()?;
        let is_same = proven().all(|row| row.base == first.base);
        let from = match first.base.as_ref().filter(|_| is_same) {
            Some(base) => format!("from {}", words::sanitised_line(base)),
            None => "each from its own base".to_owned(),
        };
        let share = if proven().all(|row| row.is_share) { ", the switch's fair share" } else { "" };
        let range = if proven().any(|row| row.change.is_some_and(|(low, high)| low < high)) {
            "; the least to the largest of all cases"
        } else {
            ""
        };
        let is_interval = |row: &&AdviceRow| row.interval.is_some();
        let interval = match (proven().any(|row| is_interval(&row)), range.is_empty()) {
            (false, _) => "",
            (true, true) => "; interval: of that change by itself",
            (true, false) => "; interval: from the lowest to the highest end of theirs",
        };
        Some(format!("change: {from}{share}{range}{interval}"))
    }

    /// The heading of the columns of [`AdviceRow::cells`].
    pub(crate) const HEAD: [&'static str; 6] = ["traffic", "goal", "set", "on the", "change", "interval"];

    /// The table; a kind of traffic and a goal stand in their first row only.
    pub(crate) fn table(&self) -> Table {
        let has_intervals = self.rows.iter().any(|row| row.interval.is_some());
        let columns = Self::HEAD.len() - usize::from(!has_intervals);
        // Each case has its interval below the table, too.
        let mut table = Table::new(&Self::HEAD[..columns]).optional(&[Self::HEAD.len() - 1]);
        let mut before: Option<(Kind, AdviceGoal)> = None;
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

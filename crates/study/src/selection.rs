//! A choice of conditions by levels: `{ family = "ipv6", offloads = "none" }`.

use crate::grid::Cell;

/// Some levels of some factors, by index. A condition is chosen if it has one of the levels of each factor named;
/// the empty selection chooses all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selection(pub(crate) Vec<(usize, Vec<usize>)>);

impl Selection {
    /// Whether a combination is chosen.
    pub(crate) fn chooses(&self, cell: &Cell) -> bool {
        self.0.iter().all(|(factor, levels)| cell.get(*factor).is_some_and(|level| levels.contains(level)))
    }
}

/// Conditions that the file takes out of the study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exclusion {
    pub(crate) selection: Selection,
    pub(crate) reason: Option<String>,
}

impl Exclusion {
    /// Why its conditions are not in the plan.
    pub(crate) fn why(&self) -> String {
        self.reason.clone().unwrap_or_else(|| "excluded by the study".to_owned())
    }
}

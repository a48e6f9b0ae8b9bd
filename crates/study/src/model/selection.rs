//! Conditions that a file chooses by levels, `{ family = "ipv6", offloads = "none" }`, and what
//! for.

use words::{Percent, metric::Metric};

use crate::model::grid::Cell;

/// Some levels of some factors, by index. A condition is chosen if it has one of the levels of each
/// factor named; the empty selection chooses all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selection {
    /// For each factor named, whether each of its levels is.
    masks: Vec<(usize, Vec<bool>)>,
}

impl Selection {
    /// Chooses by these levels of these factors.
    pub(crate) fn new(levels: Vec<(usize, Vec<usize>)>) -> Self {
        let masks = levels.into_iter().map(|(factor, levels)| {
            let mut mask = vec![false; levels.iter().max().map_or(0, |most| most + 1)];
            levels.into_iter().for_each(|level| mask[level] = true);
            (factor, mask)
        });
        Self { masks: masks.collect() }
    }

    /// Whether a combination is chosen.
    pub(crate) fn chooses(&self, cell: &Cell) -> bool {
        self.masks.iter().all(|(factor, mask)| {
            let named = cell.get(*factor).and_then(|level| mask.get(*level));
            named.is_some_and(|named| *named)
        })
    }
}

/// A comparison as the file asks for it. `Request::default()` is the one of a file that asks for
/// none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Request {
    /// The metric; if absent, the workload's primary one, in exact mode the instructions for it.
    pub(crate) metric: Option<&'static Metric>,
    /// The condition compared with; the first one if absent.
    pub(crate) baseline: Option<Selection>,
    /// The conditions that take part.
    pub(crate) only: Selection,
    /// The largest difference that does not matter.
    pub(crate) equivalent: Option<Percent>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_factor_named_must_agree() {
        let selection = Selection::new(vec![(0, vec![1]), (2, vec![0, 2])]);
        assert!(selection.chooses(&vec![1, 9, 2]));
        assert!(!selection.chooses(&vec![0, 9, 2]));
        assert!(!selection.chooses(&vec![1, 9, 1]));
        assert!(!selection.chooses(&vec![1, 9, 3]), "a level beyond those named");
        assert!(Selection::default().chooses(&vec![5]));
        assert!(!Selection::new(vec![(0, vec![])]).chooses(&vec![0]));
    }
}

//! Conditions that a file selects by levels, `{ family = "ipv6", offloads = "none" }`.

use words::{Percent, metric::Metric};

use crate::model::grid::Cell;

/// Levels of factors, by index. A condition is selected if it has one of the levels of each factor
/// named; the empty selection selects all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selection {
    /// The selected levels of each named factor.
    masks: Vec<(usize, Vec<bool>)>,
}

impl Selection {
    pub(crate) fn new(levels: Vec<(usize, Vec<usize>)>) -> Self {
        let masks = levels.into_iter().map(|(factor, levels)| {
            let mut mask = vec![false; levels.iter().max().map_or(0, |most| most + 1)];
            levels.into_iter().for_each(|level| mask[level] = true);
            (factor, mask)
        });
        Self { masks: masks.collect() }
    }

    pub(crate) fn chooses(&self, cell: &Cell) -> bool {
        self.masks.iter().all(|(factor, mask)| {
            let named = cell.get(*factor).and_then(|level| mask.get(*level));
            named.is_some_and(|named| *named)
        })
    }
}

/// A comparison as the file asks for it. `ComparisonRequest::default()` is that of a file without
/// any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ComparisonRequest {
    /// The metric; if absent, the workload's main one, in exact mode the kernel's
    /// instructions.
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

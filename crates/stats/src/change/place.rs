//! The place of a change, and the range of its possible places.

use super::levels::Levels;
use super::point::{FEWEST, Own};
use super::search::Split;

/// The most passes over all places: each depends on its neighbours.
const ROUNDS: usize = 4;

/// Moves each change to the place between its neighbours that explains most. The search put it
/// where two windows differ most, which may not know all of their points.
pub(super) fn settle(points: &[Own], splits: &mut [Split]) {
    for _ in 0..ROUNDS {
        let levels = Levels::fit(points, splits.iter().map(|split| split.first).collect());
        let mut has_moved = false;
        for index in 0..splits.len() {
            let start = index.checked_sub(1).map_or(0, |before| splits[before].first);
            let end = splits.get(index + 1).map_or(points.len(), |after| after.first);
            let size = |first: usize| levels.contrasts.between(start, first, end);
            let here = splits[index].first;
            let best = (start + FEWEST..=end - FEWEST)
                .fold(here, |best, first| if size(first) > size(best) { first } else { best });
            has_moved |= best != here;
            splits[index].first = best;
        }
        if !has_moved {
            return;
        }
    }
}

/// The first and the last place that a change may have, at this confidence: those around its best
/// place. A place stays if moving the change there costs no more likelihood than the true place
/// does with this confidence (B. E. Hansen, Sample splitting and threshold estimation, Econometrica
/// 68, 2000, whose limit holds for small changes and is wider than needed for large ones).
pub(super) fn interval(levels: &Levels, change: usize, level: f64) -> (usize, usize) {
    let [start, here, end] = levels.around(change);
    let limit = -2.0 * (1.0 - level.sqrt()).ln();
    let most = levels.contrasts.between(start, here, end);
    let costs = |first: usize| {
        let lost = (most - levels.contrasts.between(start, first, end)).max(0.0);
        // The likelihood of normal points whose spread is not known.
        if levels.residual > 0.0 {
            levels.df * (lost / levels.residual).ln_1p()
        } else {
            f64::INFINITY * lost
        }
    };
    let may_be = |first: &usize| costs(*first) <= limit;
    let before = (start + 1..here).rev().take_while(may_be).count();
    let after = (here + 1..end).take_while(may_be).count();
    (here - before, here + after)
}

//! Effects over machines as forests: all pairs of a small fleet, of a large one the pairs that
//! stand apart and the ends.

use results::{EffectOverPairs, FleetResults, capital, metric_name};
use stats::fleet::JudgedEffect;

use super::Ids;
use super::words::{metric_quantity, paragraph, percent_of};
use crate::chart::{Figure, Forest, ForestRow, Interval};
use crate::views;

// The largest fleet of which every pair has a row.
const MOST: usize = 40;

// Of a larger fleet this many pairs at each end have a row.
const AT_ENDS: usize = 5;

/// A figure for each effect.
pub fn fleet(found: &FleetResults) -> Vec<Figure> {
    let mut ids = Ids::default();
    found.effects.iter().map(|effect| figure(found, effect, &mut ids)).collect()
}

fn figure(found: &FleetResults, effect: &EffectOverPairs, ids: &mut Ids) -> Figure {
    let metric = metric_name(&effect.metric);
    let quantity = match effect.is_log_ratio {
        true => percent_of(&format!("difference of {metric}"), &format!("of {}", effect.baseline)),
        false => metric_quantity(&effect.metric),
    };
    let row = |name: String, own: &JudgedEffect| ForestRow {
        name,
        verdict: views::fleet_verdict(effect, own).to_owned(),
        size: None,
        interval: Some(Interval::new(effect.in_unit(own.estimate), effect.interval(own.interval))),
    };
    let mut rows = vec![row("over machines".to_owned(), &effect.sizes.mean)];
    let name = |place: usize| found.pairs[effect.pairs[place]].name.as_str();
    let places = pairs_with_rows(effect);
    rows.extend(places.iter().map(|place| {
        let is_apart = effect.sizes.apart.contains(place);
        let name = if is_apart { format!("{} (apart)", name(*place)) } else { name(*place).to_owned() };
        row(name, &effect.sizes.pairs[*place])
    }));
    let hidden = effect.pairs.len() - places.len();
    let ends = (hidden > 0).then(|| {
        format!("Of {} pairs those are drawn that stand apart, and {AT_ENDS} at each end", effect.pairs.len())
    });
    let forest = Forest {
        quantity,
        interval: format!("{} % interval", stats::confidence(found.confidence)),
        margin: None,
        effects: rows,
    };
    let title = format!("{} of {} over machines", capital(&metric), effect.condition);
    let description = paragraph([views::fleet_sentence(effect)].into_iter().chain(ends));
    let id = ids.unique(&format!("fleet {} {}", effect.metric.key(), effect.condition));
    Figure::new(id, &title, &description, forest)
}

/// The places of the pairs with a row, from the smallest effect to the largest.
fn pairs_with_rows(effect: &EffectOverPairs) -> Vec<usize> {
    let mut places: Vec<usize> = (0..effect.pairs.len()).collect();
    let size = |place: &usize| effect.sizes.pairs[*place].estimate;
    places.sort_by(|one, other| size(one).total_cmp(&size(other)));
    let (all, last) = (places.len(), places.len().saturating_sub(AT_ENDS));
    let is_shown = |(at, place): &(usize, usize)| {
        all <= MOST || *at < AT_ENDS || *at >= last || effect.sizes.apart.contains(place)
    };
    places.into_iter().enumerate().filter(is_shown).map(|(_, place)| place).collect()
}

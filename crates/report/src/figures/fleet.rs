//! Effects over machines as forests: all pairs of a small fleet, of a large one the pairs that
//! stand apart, and others at equal steps from the smallest effect to the largest.

use std::collections::BTreeSet;

use results::{EffectOverPairs, FleetReference, FleetResults, capital, metric_name};
use stats::fleet::JudgedEffect;

use super::Ids;
use super::words::{metric_quantity, paragraph, percent_of};
use crate::chart::{Figure, Forest, ForestRow, Interval};
use crate::views::{self, FLEET_ROWS};

/// A figure for each effect, and the reference pair over the campaign.
pub fn fleet(found: &FleetResults) -> Vec<Figure> {
    let mut ids = Ids::default();
    let effects = found.effects.iter().map(|effect| figure(found, effect, &mut ids));
    effects.chain(found.reference.as_ref().and_then(reference)).collect()
}

fn reference(found: &FleetReference) -> Option<Figure> {
    let figure = super::history(found.history.as_ref()?)?;
    Some(Figure { title: format!("The reference pair {} over the campaign", found.name), ..figure })
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
    let thinned = (hidden > 0).then(|| {
        format!(
            "Of {} pairs {} are drawn: pairs that stand apart, and others at equal steps from the smallest effect to the largest",
            effect.pairs.len(),
            places.len()
        )
    });
    let forest = Forest {
        quantity,
        interval: format!("{} % interval", stats::confidence(found.confidence)),
        margin: None,
        effects: rows,
    };
    let title = format!("{} of {} over machines", capital(&metric), effect.condition);
    let description = paragraph([views::fleet_sentence(effect)].into_iter().chain(thinned));
    let id = ids.unique(&format!("fleet {} {}", effect.metric.key(), effect.condition));
    Figure::new(id, &title, &description, forest)
}

/// The places of the pairs with a row, [`FLEET_ROWS`] at most, from the smallest effect to the
/// largest.
fn pairs_with_rows(effect: &EffectOverPairs) -> Vec<usize> {
    let size = |place: usize| effect.sizes.pairs[place].estimate;
    let mut places: Vec<usize> = (0..effect.pairs.len()).collect();
    places.sort_by(|one, other| size(*one).total_cmp(&size(*other)));
    if places.len() <= FLEET_ROWS {
        return places;
    }
    // The farthest ones, if many stand apart.
    let distance = |place: &usize| (size(*place) - effect.sizes.mean.estimate).abs();
    let mut apart = effect.sizes.apart.clone();
    apart.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
    apart.truncate(FLEET_ROWS / 2);
    let (steps, last) = (FLEET_ROWS - apart.len(), places.len() - 1);
    let drawn: BTreeSet<usize> =
        (0..steps).map(|step| places[step * last / (steps - 1)]).chain(apart).collect();
    places.retain(|place| drawn.contains(place));
    places
}

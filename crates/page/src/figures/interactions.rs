//! What pairs of offloads do together, as small matrices.

use chart::{Figure, Interaction, Matrix, Panel};
use report::{Credit, EffectView, metric_name, percent};

use super::change::{percentage, place, proven};
use super::ids::Ids;
use super::measure::Measure;
use super::view::View;
use super::words::{capital, paragraph};

/// A sentence names at most so many pairs.
const NAMED: usize = 3;
/// Of more pairs only those with a proven interaction are drawn.
const MOST: usize = 6;

/// What the section says where pairs are left out.
pub(super) const ONLY_PROVEN: &str =
    "Of more than six pairs of offloads, only those are drawn whose interaction is proven.";

pub(super) fn figure(view: &View<'_>, credits: &[Credit], ids: &mut Ids) -> Option<Figure> {
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for credit in credits {
        if pairs(credit).next().is_none() {
            continue;
        }
        let metric = metric_name(credit.metric);
        seen.push(format!("{}: {}", capital(&metric), words(credit)));
        let Some(matrix) = matrix(view, credit) else { continue };
        panels.push(Panel { title: capital(&metric), plot: Box::new(matrix) });
    }
    let place = place(credits.first()?);
    (!panels.is_empty()).then(|| Figure {
        id: ids.unique(&view.titled(&format!("interactions {place}"))),
        title: view.titled(&format!("Offloads that help or hinder each other: {place}")),
        description: paragraph(seen),
        panels,
    })
}

/// The pairs of a credit, each with its place in the design.
fn pairs(credit: &Credit) -> impl Iterator<Item = ([usize; 2], &EffectView)> {
    credit.effects.iter().filter_map(|one| {
        let [first, second] = one.factors.as_slice() else { return None };
        Some(([*first, *second], one))
    })
}

/// Whether pairs without a proven interaction are left out.
pub(super) fn is_choice(credits: &[Credit]) -> bool {
    credits.iter().any(|credit| pairs(credit).count() > MOST)
}

fn matrix(view: &View<'_>, credit: &Credit) -> Option<Matrix> {
    let design = view.stored.plan.design.as_ref()?;
    let pair = |(factors, one): ([usize; 2], &EffectView)| {
        let value = percentage(credit, &one.effect)?;
        Some(Interaction { factors, value, verdict: proven(credit, &one.effect).to_owned() })
    };
    let is_choice = pairs(credit).count() > MOST;
    let drawn = pairs(credit).filter(|(_, one)| !is_choice || credit.is_proven(&one.effect));
    let pairs: Vec<Interaction> = drawn.filter_map(pair).collect();
    (!pairs.is_empty()).then(|| Matrix {
        quantity: Measure::percent(
            "interaction",
            &format!("of the mean {} of all states", metric_name(credit.metric)),
        )
        .quantity,
        interval: format!("{} % interval, by itself", stats::confidence(credit.level)),
        names: design.factors.clone(),
        pairs,
    })
}

/// The proven pairs, the largest first.
fn words(credit: &Credit) -> String {
    let mut sure: Vec<&EffectView> =
        pairs(credit).map(|(_, one)| one).filter(|one| credit.is_proven(&one.effect)).collect();
    sure.sort_by(|one, other| other.effect.value.abs().total_cmp(&one.effect.value.abs()));
    let of = pairs(credit).count();
    if sure.is_empty() {
        return format!("none of the {of} pairs has a proven interaction");
    }
    let said = |one: &&EffectView| {
        let size = one.effect.relative.map(|size| format!(" {} %", stats::signed(percent(size))));
        format!("{}{}", one.name, size.unwrap_or_default())
    };
    let named: Vec<String> = sure.iter().take(NAMED).map(said).collect();
    format!("{} of {of} pairs are proven, the largest: {}", sure.len(), named.join(", "))
}

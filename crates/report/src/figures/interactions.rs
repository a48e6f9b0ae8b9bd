//! Figures of the interactions of pairs of offloads.

use results::chart::{Figure, Forest, ForestRow, Panel};
use results::{Credit, DesignEffect, capital, metric_name, percent};

use super::credit::{percentage, place, proven};
use super::ids::Ids;
use super::measure::Measure;
use super::view::StudyView;
use super::words::paragraph;

// The largest number of pairs in a sentence.
const NAMED: usize = 3;
// The largest number of pairs of which those without a proven interaction are drawn too.
const MOST: usize = 6;

/// The note of the section if pairs are left out.
pub(super) const ONLY_PROVEN: &str =
    "Of more than six pairs of offloads, only those are drawn whose interaction is proven.";

pub(super) fn figure(view: &StudyView<'_>, credits: &[Credit], ids: &mut Ids) -> Option<Figure> {
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for credit in credits {
        if pairs(credit).next().is_none() {
            continue;
        }
        let metric = metric_name(credit.metric);
        seen.push(format!("{}: {}", capital(&metric), words(credit)));
        let Some(forest) = forest(credit) else { continue };
        panels.push(Panel { title: capital(&metric), plot: Box::new(forest) });
    }
    let place = place(credits.first()?);
    (!panels.is_empty()).then(|| Figure {
        id: ids.unique(&view.titled(&format!("interactions {place}"))),
        title: view.titled(&format!("Offloads that help or hinder each other: {place}")),
        description: paragraph(seen),
        panels,
    })
}

/// The interactions of two offloads.
fn pairs(credit: &Credit) -> impl Iterator<Item = &DesignEffect> {
    credit.effects.iter().filter(|one| one.factors.len() == 2)
}

/// Whether pairs without a proven interaction are left out.
pub(super) fn is_choice(credits: &[Credit]) -> bool {
    credits.iter().any(|credit| pairs(credit).count() > MOST)
}

fn forest(credit: &Credit) -> Option<Forest> {
    let effect = |one: &DesignEffect| {
        let interval = percentage(credit, &one.effect)?;
        let verdict = proven(credit, &one.effect).to_owned();
        Some(ForestRow { name: one.name.clone(), interval: Some(interval), verdict })
    };
    let is_choice = pairs(credit).count() > MOST;
    let drawn = pairs(credit).filter(|one| !is_choice || credit.is_proven(&one.effect));
    let effects: Vec<ForestRow> = drawn.filter_map(effect).collect();
    (!effects.is_empty()).then(|| Forest {
        quantity: Measure::percent(
            "interaction",
            &format!("of the mean {} of all states", metric_name(credit.metric)),
        )
        .quantity,
        interval: format!("{} % interval, by itself", stats::confidence(credit.level)),
        margin: None,
        effects,
    })
}

/// The proven pairs, the largest first.
fn words(credit: &Credit) -> String {
    let mut sure: Vec<&DesignEffect> = pairs(credit).filter(|one| credit.is_proven(&one.effect)).collect();
    sure.sort_by(|one, other| other.effect.value.abs().total_cmp(&one.effect.value.abs()));
    let of = pairs(credit).count();
    if sure.is_empty() {
        return format!("none of the {of} pairs has a proven interaction");
    }
    let said = |one: &&DesignEffect| {
        let size = one.effect.relative.map(|size| format!(" {} %", stats::signed(percent(size))));
        format!("{}{}", one.name, size.unwrap_or_default())
    };
    let named: Vec<String> = sure.iter().take(NAMED).map(said).collect();
    format!("{} of {of} pairs are proven, the largest: {}", sure.len(), named.join(", "))
}

//! What each offload of a design gives, its parts with intervals: the rate beside the CPU per unit
//! of work of both sides.

use chart::{Bars, Effect, Figure, Finite, Forest, Interval, Panel, Plot};
use report::{Credit, Part, capital, listed, metric_name, percent};
use stats::effects::Estimated;
use study::DesignKind;

use super::change::{percentage, place, proven};
use super::ids::Ids;
use super::interactions;
use super::measure::Measure;
use super::view::View;
use super::words::paragraph;
use crate::section::Section;

pub(super) fn section(views: &[View<'_>], ids: &mut Ids) -> Option<Section> {
    let id = ids.unique("credit");
    let (mut figures, mut folded, mut about) = (Vec::new(), Vec::new(), Vec::new());
    for view in views {
        let Some(credits) = view.results.credit() else { continue };
        about.extend(explained(credits.design).map(str::to_owned));
        for credits in
            credits.credits.chunk_by(|one, other| (&one.workload, &one.at) == (&other.workload, &other.at))
        {
            figures.extend(figure(view, credits, ids));
            folded.extend(interactions::figure(view, credits, ids));
            if interactions::is_choice(credits) && !about.iter().any(|one| one == interactions::ONLY_PROVEN) {
                about.push(interactions::ONLY_PROVEN.to_owned());
            }
        }
    }
    about.dedup();
    Some(Section { id, title: "What each offload gives".to_owned(), about, figures, folded })
}

/// How the credit of a design is divided.
fn explained(design: DesignKind) -> Option<&'static str> {
    Some(match design {
        DesignKind::Factorial => {
            "The share of an offload is what switching it on brings, averaged over all orders of switching on \
             (Shapley); the shares of a metric add up to the change from all off to all on."
        }
        DesignKind::Ladder => {
            "Offloads go off one after the other. A step is credited with what it takes at its place: in another \
             order its credit may be another."
        }
        DesignKind::Fractional => {
            "Main effects: the mean with an offload on less that with it off, over the measured fraction of the \
             states; interactions are taken as zero."
        }
    })
}

fn figure(view: &View<'_>, credits: &[Credit], ids: &mut Ids) -> Option<Figure> {
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for credit in credits {
        let Some(plot) = plot(view, credit) else { continue };
        let metric = metric_name(credit.metric);
        let saturated = credit.saturated.map(|by| format!(" (limited by {by}, all on and all off)"));
        panels.push(Panel { title: capital(&format!("{metric}{}", saturated.unwrap_or_default())), plot });
        seen.push(format!("{}: {}", capital(&metric), words(credit)));
    }
    let place = place(credits.first()?);
    (!panels.is_empty()).then(|| Figure {
        id: ids.unique(&view.titled(&format!("credit {place}"))),
        title: view.titled(&format!("Credit of each offload: {place}")),
        description: paragraph(seen),
        panels,
    })
}

fn plot(view: &View<'_>, credit: &Credit) -> Option<Box<dyn Plot>> {
    if credit.parts.is_empty() {
        return None;
    }
    match view.results.credit()?.design {
        DesignKind::Factorial => shares(credit).map(|plot| Box::new(plot) as Box<dyn Plot>),
        DesignKind::Ladder | DesignKind::Fractional => Some(Box::new(parts(credit))),
    }
}

fn interval_words(credit: &Credit) -> String {
    format!("{} % interval, by itself", stats::confidence(credit.level))
}

/// Shapley's shares in % of all off, or in the metric's unit where there is no percentage.
fn shares(credit: &Credit) -> Option<Bars> {
    let metric = metric_name(credit.metric);
    let relative: Option<Vec<(String, Interval)>> = credit
        .parts
        .iter()
        .map(|part| {
            let alone = |relative| Some(Interval { estimate: Finite::new(relative)?, low: None, high: None });
            let shown = percentage(credit, &part.change).or_else(|| alone(part.change.relative?));
            Some((part.name.clone(), shown?))
        })
        .collect();
    let (measure, shares) = match relative {
        Some(shares) => (
            Measure::percent(
                &format!("change of {metric} when switched on"),
                &format!("of {}", base(credit)),
            ),
            shares,
        ),
        None => {
            let measure = Measure::of(credit.metric);
            let of = |part: &Part| {
                Some((part.name.clone(), measure.interval(part.change.value, part.change.interval)?))
            };
            let shares = credit.parts.iter().filter_map(of).collect();
            (measure, shares)
        }
    };
    Some(Bars::shares(measure.quantity, &interval_words(credit), shares))
}

/// The parts of a design whose parts do not add up.
fn parts(credit: &Credit) -> Forest {
    let base = format!("of {}", base(credit));
    let effect = |part: &Part| Effect {
        name: part.name.clone(),
        interval: percentage(credit, &part.change),
        verdict: match percentage(credit, &part.change) {
            Some(_) => proven(credit, &part.change).to_owned(),
            None => format!("{}, {}", size(credit, &part.change), proven(credit, &part.change)),
        },
    };
    Forest {
        quantity: Measure::percent(&format!("change of {}", metric_name(credit.metric)), &base).quantity,
        interval: interval_words(credit),
        margin: None,
        effects: credit.parts.iter().map(effect).collect(),
    }
}

/// What the percentages of the parts are of.
fn base(credit: &Credit) -> String {
    match credit.parts.first().map_or("off", |part| part.base) {
        all @ ("on" | "off") => format!("all {all}"),
        other => other.to_owned(),
    }
}

/// A change in words, in % if there is a percentage.
fn size(credit: &Credit, change: &Estimated) -> String {
    match change.relative {
        Some(relative) => format!("{} %", stats::signed(percent(relative))),
        None => stats::signed(Measure::of(credit.metric).words(change.value)),
    }
}

/// The whole, then the parts that are proven, the largest first.
fn words(credit: &Credit) -> String {
    let whole = match (&credit.whole, &credit.whole_is_not_known) {
        (Some(whole), _) => format!("all on against all off {}", size(credit, &whole.gain)),
        (None, Some(why)) => format!("the whole is not known, {why}"),
        (None, None) => String::new(),
    };
    let mut sure: Vec<&Part> = credit.parts.iter().filter(|part| credit.is_proven(&part.change)).collect();
    sure.sort_by(|one, other| other.change.value.abs().total_cmp(&one.change.value.abs()));
    let named: Vec<String> =
        sure.iter().map(|part| format!("{} {}", part.name, size(credit, &part.change))).collect();
    let open = credit.parts.len() - sure.len();
    let sure = if named.is_empty() {
        "no part is proven".to_owned()
    } else {
        format!("proven, in % of {}: {}", base(credit), listed(&named))
    };
    let open = if named.is_empty() || open == 0 { String::new() } else { format!("{open} not proven") };
    [whole, sure, open].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

//! Figures of the gain of each offload of a design, its parts with intervals: the rate beside the
//! CPU per unit of work of both sides.

use results::chart::{Bars, Figure, Finite, Forest, ForestRow, Interval, Panel, Plot};
use results::{Credit, CreditPart, capital, listed, metric_name, percent};
use stats::effects::Estimated;
use study::DesignKind;

use super::ids::Ids;
use super::interactions;
use super::measure::Measure;
use super::view::StudyView;
use super::words::paragraph;
use crate::section::FigureSection;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids) -> Option<FigureSection> {
    let id = ids.unique("credit");
    let (mut figures, mut folded, mut about) = (Vec::new(), Vec::new(), Vec::new());
    for view in views {
        let Some(credits) = view.results.credit.as_ref() else { continue };
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
    Some(FigureSection { id, title: "What each offload gives".to_owned(), about, figures, folded })
}

/// The division of the credit by the kind of design.
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

fn figure(view: &StudyView<'_>, credits: &[Credit], ids: &mut Ids) -> Option<Figure> {
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

fn plot(view: &StudyView<'_>, credit: &Credit) -> Option<Box<dyn Plot>> {
    if credit.parts.is_empty() {
        return None;
    }
    match view.results.credit.as_ref()?.design {
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
            let measure = Measure::for_metric(credit.metric);
            let of = |part: &CreditPart| {
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
    let effect = |part: &CreditPart| ForestRow {
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

/// The base of the parts' percentages.
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
        None => stats::signed(Measure::for_metric(credit.metric).words(change.value)),
    }
}

/// The whole, then the parts that are proven, the largest first.
fn words(credit: &Credit) -> String {
    let whole = match (&credit.whole, &credit.whole_is_not_known) {
        (Some(whole), _) => format!("all on against all off {}", size(credit, &whole.gain)),
        (None, Some(why)) => format!("the whole is not known, {why}"),
        (None, None) => String::new(),
    };
    let mut sure: Vec<&CreditPart> =
        credit.parts.iter().filter(|part| credit.is_proven(&part.change)).collect();
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

/// The context of a credit: its workload and the levels of the other factors.
pub(super) fn place(credit: &Credit) -> String {
    let parts = [credit.workload.as_str(), credit.at.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A change in % with its interval; a count without noise needs none. `None` where there is no
/// percentage, or too few boots for an interval.
pub(super) fn percentage(credit: &Credit, change: &Estimated) -> Option<Interval> {
    let estimate = change.relative?;
    let exact = credit.exact.then_some((estimate, estimate));
    let (low, high) = change.relative_interval.or(exact)?;
    Some(Interval { estimate: Finite::new(estimate)?, low: Finite::new(low), high: Finite::new(high) })
}

pub(super) fn proven(credit: &Credit, change: &Estimated) -> &'static str {
    match (credit.is_proven(change), change.value > 0.0, change.interval.is_some() || credit.exact) {
        (true, true, _) => "higher",
        (true, false, _) => "lower",
        (false, _, true) => "no difference proven",
        (false, _, false) => "too few boots for an interval",
    }
}

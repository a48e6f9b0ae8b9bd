//! Figures of the gain of each offload of a design, its parts with intervals: the rate beside the
//! CPU per unit of work of both sides.

use results::{Credit, CreditPart, capital, metric_name, percent};
use stats::effects::Estimated;
use study::DesignKind;

use super::Ids;
use super::view::StudyView;
use super::words::{metric_quantity, percent_of};
use crate::chart::{Bar, Bars, Figure, Forest, ForestRow, Interval, Panel};
use crate::page::FigureSection;
use crate::views::{combinations, proven_credit};

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    for view in views {
        let Some(credits) = view.results.credit.as_ref() else { continue };
        for credits in combinations(credits) {
            section.figures.extend(figure(view, credits, ids));
        }
    }
}

fn figure(view: &StudyView<'_>, credits: &[Credit], ids: &mut Ids) -> Option<Figure> {
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    let design = view.results.credit.as_ref()?.design;
    for credit in credits.iter().filter(|credit| !credit.parts.is_empty()) {
        let metric = metric_name(&credit.metric.into());
        let saturated = credit.saturated.map(|by| format!(" (limited by {by}, all on and all off)"));
        let title = capital(&format!("{metric}{}", saturated.unwrap_or_default()));
        panels.push(match design {
            DesignKind::Factorial => Panel::new(title, shares(credit)),
            DesignKind::Ladder | DesignKind::Fractional => Panel::new(title, parts(credit)),
        });
        let (metric, base) = (capital(&metric), base(credit));
        seen.push(format!("{metric}, proven, in % of {base}: {}", proven_credit(credit)));
    }
    let credit = credits.first()?;
    let place = [credit.workload.as_str(), credit.at.as_str()].into_iter().filter(|part| !part.is_empty());
    let place = place.collect::<Vec<_>>().join(", ");
    let (id, title) = (format!("credit {place}"), format!("Credit of each offload: {place}"));
    view.figure(ids, (&id, &title), seen, panels)
}

fn interval_words(credit: &Credit) -> String {
    format!("{} % interval, by itself", stats::confidence(credit.level))
}

/// Shapley's shares in % of all off, or in the metric's unit where there is no percentage.
fn shares(credit: &Credit) -> Bars {
    let share = |part: &CreditPart| {
        let alone = || part.change.relative.map(|relative| Interval::new(relative, None));
        Some((part.name.clone(), percentage(credit, &part.change).or_else(alone)?))
    };
    let relative: Option<Vec<(String, Interval)>> = credit.parts.iter().map(share).collect();
    let (quantity, shares) = match relative {
        Some(shares) => {
            let name = format!("change of {} when switched on", metric_name(&credit.metric.into()));
            (percent_of(&name, &format!("of {}", base(credit))), shares)
        }
        None => {
            let share = |part: &CreditPart| {
                (part.name.clone(), Interval::new(part.change.value, part.change.interval))
            };
            (metric_quantity(&credit.metric.into()), credit.parts.iter().map(share).collect())
        }
    };
    let bar = |(group, whole)| Bar { group, name: String::new(), whole, parts: Vec::new() };
    let bars = shares.into_iter().map(bar).collect();
    Bars { quantity, interval: interval_words(credit), parts: Vec::new(), bars }
}

fn parts(credit: &Credit) -> Forest {
    let effect = |part: &CreditPart| {
        let (change, proven) = (&part.change, proven(credit, &part.change));
        let size = change.relative.map_or_else(
            || metric_quantity(&credit.metric.into()).with_unit(stats::signed(results::figure(change.value))),
            |relative| format!("{} %", stats::signed(percent(relative))),
        );
        let interval = percentage(credit, change);
        let verdict = if interval.is_some() { proven.to_owned() } else { format!("{size}, {proven}") };
        ForestRow { name: part.name.clone(), interval, size: None, verdict }
    };
    let name = format!("change of {}", metric_name(&credit.metric.into()));
    let quantity = percent_of(&name, &format!("of {}", base(credit)));
    let effects = credit.parts.iter().map(effect).collect();
    Forest { quantity, interval: interval_words(credit), margin: None, effects }
}

fn base(credit: &Credit) -> String {
    match credit.parts.first().map_or("off", |part| part.base) {
        all @ ("on" | "off") => format!("all {all}"),
        other => other.to_owned(),
    }
}

/// `None` where there is no percentage, or too few boots; a count without noise needs no interval.
fn percentage(credit: &Credit, change: &Estimated) -> Option<Interval> {
    let estimate = change.relative?;
    let exact = credit.exact.then_some((estimate, estimate));
    Some(Interval::new(estimate, Some(change.relative_interval.or(exact)?)))
}

fn proven(credit: &Credit, change: &Estimated) -> &'static str {
    match (credit.is_proven(change), change.value > 0.0, change.interval.is_some() || credit.exact) {
        (true, true, _) => "higher",
        (true, false, _) => "lower",
        (false, _, true) => "no difference proven",
        (false, _, false) => "too few boots for an interval",
    }
}

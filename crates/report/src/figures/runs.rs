//! Every run as a dot, in lanes by boot: clusters by boot are seen at once.

use std::collections::BTreeMap;

use crate::chart::{Dots, DotsCondition, Figure, Interval, Panel};
use results::{capital, distinct};
use study::metric::Metric;

use super::Ids;
use super::view::{MeasuredWorkload, StudyView, estimates};
use super::words::{choice, extremes, metric_quantity, of_mean, paragraph};
use crate::page::FigureSection;

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    for view in views {
        // The compared metrics, the main ones of the workloads first.
        let primary = view.workloads.iter().map(|one| view.primary(one.kind));
        let compared = view.results.comparisons.iter().filter_map(|group| group.metric.known());
        for metric in distinct(primary.chain(compared)) {
            section.figures.extend(figure(view, metric, ids));
        }
    }
    let about = "Each dot is a run; each boot, a fresh start of both hosts, has a lane and a colour, with a \
                 line at its mean. Runs of one boot are alike, so the boots decide how sure a mean is.";
    section.about.push(about.to_owned());
    section.about.extend(choice(views));
}

fn figure(view: &StudyView<'_>, metric: Metric, ids: &mut Ids) -> Option<Figure> {
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for workload in &view.workloads {
        let Some((plot, words)) = dots(view, metric, workload) else { continue };
        panels.push(Panel::new(workload.name, plot));
        seen.push(words);
    }
    let of = match panels.as_mut_slice() {
        [only] if view.workloads.len() == 1 => {
            only.title.clear();
            String::new()
        }
        [only] => format!(" of {}", std::mem::take(&mut only.title)),
        several => format!(" of {} workloads", several.len()),
    };
    let title = capital(&format!("{}{of}, run by run", results::metric_name(&metric.into())));
    view.figure(ids, (&format!("runs {metric}"), &title), [seen.join(" ")], panels)
}

fn dots(view: &StudyView<'_>, metric: Metric, workload: &MeasuredWorkload<'_>) -> Option<(Dots, String)> {
    let mut runs: BTreeMap<(usize, u32), Vec<f64>> = BTreeMap::new();
    for (condition, boot, value) in view.results.stored.values(metric) {
        if workload.telling.contains(&condition) {
            runs.entry((condition, boot)).or_default().push(value);
        }
    }
    let estimates = estimates(view.results, metric, &workload.telling);
    let quantity = metric_quantity(&metric.into());
    let is_measured = |index: &usize| runs.keys().any(|(of, _)| of == index);
    let measured: Vec<usize> = workload.telling.iter().copied().filter(is_measured).collect();
    let condition = |(index, name): (&usize, String)| {
        let own = runs.iter().filter(|((of, _), _)| of == index);
        let boot = |((_, boot), values): (&(usize, u32), &Vec<f64>)| {
            let runs: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
            (format!("boot {boot}"), runs)
        };
        let estimate = estimates.iter().find(|one| one.condition == *index && one.interval.is_some());
        let interval = estimate.map(|one| Interval::new(one.mean, one.interval));
        DotsCondition { name, boots: own.map(boot).collect(), interval }
    };
    let conditions: Vec<DotsCondition> = measured.iter().zip(view.names(&measured)).map(condition).collect();
    if conditions.is_empty() {
        return None;
    }
    let of_estimates: Vec<usize> = estimates.iter().map(|one| one.condition).collect();
    let named: Vec<_> = view.names(&of_estimates).into_iter().zip(estimates).collect();
    let place = if view.workloads.len() > 1 { workload.name } else { "" };
    let words = paragraph([extremes(place, &quantity, &named)]);
    let interval = of_mean(view.results.level(workload.name, metric));
    Some((Dots { quantity, interval, conditions }, words))
}

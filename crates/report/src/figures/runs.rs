//! Every run as a dot, in lanes by boot: clusters by boot are seen at once.

use std::collections::BTreeMap;

use results::chart::{Dots, DotsBoot, DotsCondition, Figure, Finite, Panel};

use results::{ComparisonGroup, capital, percent};
use stats::{Component, Components};

use super::ids::Ids;
use super::measure::{Measure, of_mean};
use super::view::{MeasuredWorkload, StudyView};
use super::words::{ALL, extremes, others_folded, paragraph};
use crate::section::{FigureSection, is_vast};

// The note of the section if the runs of other metrics are left out.
const MAIN_ONLY: &str = "With so many conditions, runs are drawn in the main metric alone; the downloads have them in \
                         every metric.";

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids) -> Option<FigureSection> {
    let id = ids.unique("runs");
    let (mut figures, mut folded, mut is_main_only) = (Vec::new(), Vec::new(), false);
    for view in views {
        for metric in metrics(view) {
            let workloads = view.workloads();
            let telling: Vec<MeasuredWorkload<'_>> = workloads
                .iter()
                .map(|one| MeasuredWorkload {
                    conditions: view.telling(one).unwrap_or(one.conditions.clone()),
                    ..one.clone()
                })
                .collect();
            let is_large =
                workloads.iter().zip(&telling).any(|(all, few)| all.conditions.len() > few.conditions.len());
            // A page of very many conditions begins with the rate.
            let is_rate = workloads.iter().any(|one| view.primary(one.kind) == metric);
            if is_vast(view.results) && !is_rate {
                is_main_only = true;
                continue;
            }
            let found = figure(view, &metric, &telling, "", ids);
            let to = if is_large && !is_rate { &mut folded } else { &mut figures };
            to.extend(found);
            if is_large && is_rate {
                folded.extend(figure(view, &metric, &workloads, ALL, ids));
            }
        }
    }
    let about = "Each dot is a run; each boot, a fresh start of both hosts, has a lane and a colour, with a \
                 line at its mean. Runs of one boot are alike, so the boots decide how sure a mean is.";
    let mut about = vec![about.to_owned()];
    if !folded.is_empty() {
        about.push(others_folded());
    }
    if is_main_only {
        about.push(MAIN_ONLY.to_owned());
    }
    Some(FigureSection { id, title: "Every run".to_owned(), about, figures, folded })
}

/// The compared metrics, the main ones of the workloads first.
fn metrics(view: &StudyView<'_>) -> Vec<String> {
    let primary = view.workloads().into_iter().map(|one| view.primary(one.kind).to_owned());
    let compared = view.results.comparisons.iter().map(|group| group.metric.clone());
    let mut metrics: Vec<String> = Vec::new();
    for metric in primary.chain(compared) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

fn figure(
    view: &StudyView<'_>,
    metric: &str,
    workloads: &[MeasuredWorkload<'_>],
    more: &str,
    ids: &mut Ids,
) -> Option<Figure> {
    let (mut panels, mut seen, mut of_one) = (Vec::new(), Vec::new(), "");
    for workload in workloads {
        let place = if workloads.len() > 1 { workload.name } else { "" };
        let Some((plot, words)) = dots(view, metric, workload, place) else { continue };
        of_one = workload.name;
        panels.push(Panel { title: workload.name.to_owned(), plot: Box::new(plot) });
        seen.push(words);
    }
    if let [only] = panels.as_mut_slice() {
        only.title.clear();
    }
    let name = results::metric_name(metric);
    let of = match seen.as_slice() {
        [] => return None,
        [_] if workloads.len() == 1 => String::new(),
        [_] => format!(" of {of_one}"),
        several => format!(" of {} workloads", several.len()),
    };

    Some(Figure {
        id: ids.unique(&view.titled(&format!("runs {metric}{more}"))),
        title: view.titled(&capital(&format!("{name}{of}, run by run{more}"))),
        description: seen.join(" "),
        panels,
    })
}

fn dots(
    view: &StudyView<'_>,
    metric: &str,
    workload: &MeasuredWorkload<'_>,
    place: &str,
) -> Option<(Dots, String)> {
    let mut runs: BTreeMap<(usize, u32), Vec<f64>> = BTreeMap::new();
    for (condition, boot, value) in view.stored.values(metric) {
        if workload.conditions.contains(&condition) {
            runs.entry((condition, boot)).or_default().push(value);
        }
    }
    let (level, estimates) = view.estimates(workload.name, metric, &workload.conditions);
    let measure = Measure::for_metric(metric);
    let measured: Vec<usize> =
        workload.conditions.iter().copied().filter(|index| runs.keys().any(|(of, _)| of == index)).collect();
    let names = view.names(&measured);
    let condition = |(index, name): (&usize, &String)| {
        let own = runs.iter().filter(|((of, _), _)| of == index);
        let boot = |((_, boot), values): (&(usize, u32), &Vec<f64>)| DotsBoot {
            name: format!("boot {boot}"),
            runs: values.iter().filter_map(|value| measure.value(*value)).collect::<Vec<Finite>>(),
        };
        let estimate = estimates.iter().find(|one| one.condition == *index);
        DotsCondition {
            name: name.clone(),
            boots: own.map(boot).collect(),
            interval: estimate
                .filter(|one| one.interval.is_some())
                .and_then(|one| measure.interval(one.mean, one.interval)),
        }
    };
    let conditions: Vec<DotsCondition> = measured.iter().zip(&names).map(condition).collect();
    if conditions.is_empty() {
        return None;
    }
    let of_estimates: Vec<usize> = estimates.iter().map(|one| one.condition).collect();
    let spread = view.groups(workload.name, metric).next().map(spread).unwrap_or_default();
    let words = paragraph([extremes(place, &measure, &view.names(&of_estimates), &estimates), spread]);
    Some((Dots { quantity: measure.quantity, interval: of_mean(level), conditions }, words))
}

/// The spread of boots and runs, and whether runs cluster.
fn spread(group: &ComparisonGroup) -> String {
    let mean = group.mean().abs();
    let share = |sd: f64| format!("{} %", percent(100.0 * (sd / mean)));
    let sd = |component: &Option<Component>| component.map(|one| one.sd);
    let Components { boots, interaction, runs } = &group.spread;
    let between = match (sd(boots), sd(interaction)) {
        (None, None) => return String::new(),
        (boots, interaction) => boots.unwrap_or(0.0).hypot(interaction.unwrap_or(0.0)),
    };
    if mean == 0.0 || group.resolution.is_some() {
        return String::new();
    }
    match sd(runs) {
        None => format!("Means of boots spread by {} of the mean (sd)", share(between)),
        Some(runs) if between > runs => format!(
            "Boots differ more than the runs inside them, so the dots lie in clusters: {} of the mean (sd) between \
             boots, {} inside a boot",
            share(between),
            share(runs)
        ),
        Some(runs) => format!(
            "Spread (sd): {} of the mean between boots, {} between the runs inside a boot",
            share(between),
            share(runs)
        ),
    }
}

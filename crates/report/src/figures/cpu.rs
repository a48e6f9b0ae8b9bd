//! CPU use of both sides, by kind of time; guests and their hosts apart.

use crate::chart::{Bar, Bars, Figure, Interval, Panel};
use results::{capital, grouped};
use study::metric::{self, Metric};
use study::{BySide, Name, NameWord, Side};

use super::Ids;
use super::view::{StudyView, estimates};
use super::words::{choice, extremes, metric_quantity, of_mean};
use crate::page::FigureSection;

/// A CPU account: its owner, the metric of the whole, and its parts with their names.
type CpuAccount = (&'static str, BySide<Metric>, &'static [(BySide<Metric>, &'static str)]);

const ACCOUNTS: [CpuAccount; 2] = [
    (
        "",
        metric::CPU,
        &[
            (metric::CPU_USER, "user"),
            (metric::CPU_SYSTEM, "system"),
            (metric::CPU_IRQ, "irq"),
            (metric::CPU_SOFTIRQ, "softirq"),
            (metric::CPU_STEAL, "steal"),
        ],
    ),
    (
        "'s host",
        metric::HOST_CPU,
        &[(metric::HOST_CPU_VCPU, "executes the guest"), (metric::HOST_CPU_IO, "moves its packets")],
    ),
];

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    section.figures.extend(views.iter().filter_map(|view| figure(view, ids)));
    let about = "CPU in use in the window, as the mean over boots, by what the kernel counts it as. The \
                 interval is that of the sum.";
    section.about.push(about.to_owned());
    section.about.extend(choice(views));
}

fn figure(view: &StudyView<'_>, ids: &mut Ids) -> Option<Figure> {
    let shown = conditions(view);
    let (mut found, mut seen): (Vec<(String, Bars)>, _) = (Vec::new(), Vec::new());
    for ((owner, whole, parts), side) in ACCOUNTS.iter().flat_map(|one| Side::BOTH.map(|side| (one, side))) {
        let metric = whole[side];
        let mut quantity = metric_quantity(&metric.into());
        "CPU in use".clone_into(&mut quantity.name);
        let (mut bars, mut named) = (Vec::new(), Vec::new());
        for (group, name, condition) in &shown {
            let Some(own) = estimates(view.results, metric, &[*condition]).first().copied() else { continue };
            let part = |(part, _): &(BySide<Metric>, &str)| view.mean(*condition, part[side]).unwrap_or(0.0);
            bars.push(Bar {
                group: group.clone(),
                name: name.clone(),
                whole: Interval::new(own.mean, own.interval),
                parts: parts.iter().map(part).collect(),
            });
            named.push((format!("{name} {group}").trim().to_owned(), own));
        }
        if bars.is_empty() {
            continue;
        }
        let title = capital(&format!("{side}{owner}"));
        seen.push(extremes(&title, &quantity, &named));
        let interval = of_mean(view.results.confidence);
        let parts = parts.iter().map(|(_, name)| (*name).to_owned()).collect();
        found.push((title, Bars { quantity, interval, parts, bars }));
    }
    // All panels have one scale.
    let reach: Vec<f64> = found.iter().flat_map(|(_, bars)| bars.values()).collect();
    let panel = |(title, mut bars): (String, Bars)| {
        bars.quantity.reach.clone_from(&reach);
        Panel::new(title, bars)
    };
    view.figure(ids, ("cpu", "CPU in use by kind of time"), seen, found.into_iter().map(panel).collect())
}

/// The conditions, each with the name of its group, whose conditions differ in the workload alone,
/// and with the workload's name where there are several.
fn conditions(view: &StudyView<'_>) -> Vec<(String, String, usize)> {
    let indices = view.workloads.iter().flat_map(|one| one.telling.iter().copied());
    let levels = |index: usize| {
        let own = view.results.stored.plan.conditions.get(index).map_or(&[][..], |one| &one.levels);
        own.iter().filter(|(factor, _)| factor != "workload").collect::<Vec<_>>()
    };
    let workload = |index: usize| view.condition(index).map_or("", |one| one.workload.as_str());
    let name = |index: usize| -> Name {
        let words = view.condition(index).map_or(&[][..], |one| one.label.words());
        let is_workload = |word: &NameWord| word.factor.is_none() && word.level == workload(index);
        words.iter().filter(|word| !is_workload(word)).cloned().collect::<Vec<_>>().into()
    };
    let groups = grouped(indices.map(|index| (levels(index), index)));
    let names: Vec<Name> = groups.iter().map(|(_, members)| name(members[0])).collect();
    let mut conditions = Vec::new();
    for ((_, members), group) in groups.into_iter().zip(crate::document::distinct_names(&names)) {
        for index in members {
            let name = if view.workloads.len() > 1 { workload(index) } else { "" };
            conditions.push((group.clone(), name.to_owned(), index));
        }
    }
    conditions
}

//! CPU use of both sides, by kind of time; guests and their hosts apart.

use crate::chart::Figure;
use results::capital;
use study::metric::{self, Metric};
use study::{BySide, Side};

use super::Ids;
use super::grid::{BarSheet, on_one_scale};
use super::view::{MeasuredWorkload, StudyView};
use super::words::{CHOSEN, extremes, metric_quantity};
use crate::page::FigureSection;

/// A CPU account: its owner, the metric of the whole, and the metrics and names of its parts.
struct CpuAccount {
    title: &'static str,
    whole: BySide<Metric>,
    parts: &'static [BySide<Metric>],
    names: &'static [&'static str],
}

const ACCOUNTS: [CpuAccount; 2] = [
    CpuAccount {
        title: "",
        whole: metric::CPU,
        parts: &[
            metric::CPU_USER,
            metric::CPU_SYSTEM,
            metric::CPU_IRQ,
            metric::CPU_SOFTIRQ,
            metric::CPU_STEAL,
        ],
        names: &["user", "system", "irq", "softirq", "steal"],
    },
    CpuAccount {
        title: "'s host",
        whole: metric::HOST_CPU,
        parts: &[metric::HOST_CPU_VCPU, metric::HOST_CPU_IO],
        names: &["executes the guest", "moves its packets"],
    },
];

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    let mut is_large = false;
    for view in views {
        let (few, choice): (Vec<_>, Vec<_>) = view.workloads().iter().map(|one| view.chosen(one)).unzip();
        for sheet in BarSheet::for_workloads(view, &few) {
            section.figures.extend(figure(view, &few, &sheet, ids));
        }
        is_large |= choice.contains(&true);
    }
    section.about.push(
        "CPU in use in the window, as the mean over boots, by what the kernel counts it as. The \
         interval is that of the sum."
            .to_owned(),
    );
    section.about.extend(is_large.then(|| CHOSEN.to_owned()));
}

fn figure(
    view: &StudyView<'_>,
    workloads: &[MeasuredWorkload<'_>],
    sheet: &BarSheet,
    ids: &mut Ids,
) -> Option<Figure> {
    let own =
        |one: &MeasuredWorkload<'_>| sheet.conditions().filter(|of| one.conditions.contains(of)).collect();
    let own: Vec<MeasuredWorkload<'_>> =
        workloads.iter().map(|one| MeasuredWorkload { conditions: own(one), ..one.clone() }).collect();
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    for (account, side) in ACCOUNTS.iter().flat_map(|account| Side::BOTH.map(|side| (account, side))) {
        let metric = account.whole[side];
        let (level, estimates) = view.all_estimates(&own, metric);
        if estimates.is_empty() {
            continue;
        }
        let mut quantity = metric_quantity(&metric.into());
        "CPU in use".clone_into(&mut quantity.name);
        let title = capital(&format!("{side}{}", account.title));
        let named = estimates.iter().map(|one| (sheet.name(one.condition), one));
        seen.push(extremes(&title, &quantity, named));
        let part = |condition: usize, place: usize| {
            view.mean(condition, account.parts[place][side]).unwrap_or(0.0)
        };
        found.push((title, sheet.plot(&quantity, level, &estimates, account.names, part)));
    }
    let place = if sheet.title.is_empty() { String::new() } else { format!(", {}", sheet.title) };
    let (id, title) = (format!("cpu{place}"), format!("CPU in use by kind of time{place}"));
    view.figure(ids, (&id, &title), seen, on_one_scale(found))
}

//! CPU use of both sides, by kind of time; guests and their hosts apart.

use results::capital;
use results::chart::{Bar, BarGroup, Bars, Figure, Finite, Panel};
use stats::ConditionEstimate;
use study::Side;

use super::grid::BarSheet;
use super::ids::Ids;
use super::measure::{Measure, of_mean, reach};
use super::view::{MeasuredWorkload, StudyView};
use super::words::{CHOSEN, extremes, paragraph};
use crate::section::FigureSection;

/// A CPU account: its owner, the metric of the whole, and the parts with their names.
struct CpuAccount {
    title: &'static str,
    whole: &'static str,
    parts: &'static [(&'static str, &'static str)],
}

const ACCOUNTS: [CpuAccount; 2] = [
    CpuAccount {
        title: "",
        whole: "cpu",
        parts: &[
            ("cpu_user", "user"),
            ("cpu_system", "system"),
            ("cpu_irq", "irq"),
            ("cpu_softirq", "softirq"),
            ("cpu_steal", "steal"),
        ],
    },
    CpuAccount {
        title: "'s host",
        whole: "host_cpu",
        parts: &[("host_cpu_vcpu", "executes the guest"), ("host_cpu_io", "moves its packets")],
    },
];

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids) -> Option<FigureSection> {
    let id = ids.unique("cpu");
    let (mut figures, mut is_large) = (Vec::new(), false);
    for view in views {
        let all = view.workloads();
        let telling =
            |one: &MeasuredWorkload<'_>| view.telling(one).unwrap_or_else(|| one.conditions.clone());
        let few: Vec<MeasuredWorkload<'_>> =
            all.iter().map(|one| MeasuredWorkload { conditions: telling(one), ..one.clone() }).collect();
        for sheet in BarSheet::for_workloads(view, &few) {
            figures.extend(figure(view, &few, &sheet, ids));
        }
        is_large |= all.iter().zip(&few).any(|(all, few)| all.conditions.len() > few.conditions.len());
    }
    let mut about = vec![
        "CPU in use in the window, as the mean over boots, by what the kernel counts it as. The \
         interval is that of the sum."
            .to_owned(),
    ];
    if is_large {
        about.push(CHOSEN.to_owned());
    }
    Some(FigureSection { id, title: "CPU of both sides".to_owned(), about, figures, folded: Vec::new() })
}

fn figure(
    view: &StudyView<'_>,
    workloads: &[MeasuredWorkload<'_>],
    sheet: &BarSheet,
    ids: &mut Ids,
) -> Option<Figure> {
    let (mut found, mut reached) = (Vec::new(), Vec::new());
    for account in &ACCOUNTS {
        for side in Side::BOTH {
            let metric = format!("{side}.{}", account.whole);
            let (mut level, mut estimates) = (view.results.confidence, Vec::new());
            for workload in workloads {
                let own: Vec<usize> =
                    sheet.conditions().filter(|one| workload.conditions.contains(one)).collect();
                let (of, more) = view.estimates(workload.name, &metric, &own);
                level = of;
                estimates.extend(more);
            }
            if !estimates.is_empty() {
                reached.extend(reach(&estimates));
                found.push((account, side, metric, level, estimates));
            }
        }
    }
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for (account, side, metric, level, estimates) in found {
        let mut measure = Measure::for_metric(&metric).reaching(reached.iter().copied());
        "CPU in use".clone_into(&mut measure.quantity.name);
        let title = capital(&format!("{side}{}", account.title));
        let names: Vec<String> = estimates.iter().map(|one| sheet.name(one.condition)).collect();
        seen.push(extremes(&title, &measure, &names, &estimates));
        let plot = bars(view, sheet, account, side, &measure, level, &estimates);
        panels.push(Panel { title, plot: Box::new(plot) });
    }
    if panels.is_empty() {
        return None;
    }
    let place = if sheet.title.is_empty() { String::new() } else { format!(", {}", sheet.title) };
    Some(Figure {
        id: ids.unique(&view.titled(&format!("cpu{place}"))),
        title: view.titled(&format!("CPU in use by kind of time{place}")),
        description: paragraph(seen),
        panels,
    })
}

fn bars(
    view: &StudyView<'_>,
    sheet: &BarSheet,
    account: &CpuAccount,
    side: Side,
    measure: &Measure,
    level: f64,
    estimates: &[ConditionEstimate],
) -> Bars {
    let mean = |condition: usize, part: &str| -> f64 {
        let means = view.condition(condition).map(|one| &one.means);
        means.and_then(|means| means.get(&format!("{side}.{part}")).copied()).unwrap_or(0.0)
    };
    let bar = |(name, condition): &(String, usize)| {
        let one = estimates.iter().find(|one| one.condition == *condition)?;
        let of_part = |(key, _): &(&str, &str)| measure.value(mean(*condition, key)).unwrap_or(Finite::ZERO);
        Some(Bar {
            name: name.clone(),
            whole: measure.interval(one.mean, one.interval)?,
            parts: account.parts.iter().map(of_part).collect(),
        })
    };
    let groups = sheet.groups.iter().map(|group| BarGroup {
        name: group.name.clone(),
        bars: group.bars.iter().filter_map(bar).collect(),
    });
    Bars {
        quantity: measure.quantity.clone(),
        interval: of_mean(level),
        parts: account.parts.iter().map(|(_, name)| (*name).to_owned()).collect(),
        groups: groups.filter(|group| !group.bars.is_empty()).collect(),
    }
}

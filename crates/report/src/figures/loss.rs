//! Lost messages of each condition, by the place where they were lost.

use results::{counted, percent};
use study::metric::{self, Metric};

use super::Ids;
use super::view::{MOST, StudyView};
use super::words::percent_of;
use crate::chart::{Bar, Bars, Figure, Interval, Panel};
use crate::page::FigureSection;

// The metric of the loss at each place, and its words.
const PLACES: [(Metric, &str); 4] = [
    (metric::LOST_QUEUE, "dropped by the sender's queue"),
    (metric::LOST_DEVICE, "dropped by a device or on the link"),
    (metric::LOST_SOCKET, "dropped because the receiving socket was full"),
    (metric::LOST_UNACCOUNTED, "lost at a place without a counter"),
];

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    section.about.push(
        "Messages that did not arrive, in % of those offered over whole runs, as the mean over boots, by the \
         place where they were lost."
            .to_owned(),
    );
    for view in views {
        for workload in &view.workloads {
            let mut losing: Vec<(usize, f64)> =
                workload.conditions.iter().filter_map(|index| Some((*index, share(view, *index)?))).collect();
            losing.sort_by(|one, other| other.1.total_cmp(&one.1));
            if losing.len() > MOST {
                section.about.push(format!(
                    "{}: the {MOST} that lose most of {} with losses.",
                    view.titled(workload.name),
                    counted(losing.len(), "condition")
                ));
            }
            losing.truncate(MOST);
            section.figures.extend(figure(view, workload.name, &losing, ids));
        }
    }
}

fn share(view: &StudyView<'_>, condition: usize) -> Option<f64> {
    let (lost, offered) = (view.mean(condition, metric::LOST)?, view.mean(condition, metric::OFFERED)?);
    (lost > 0.0 && offered > 0.0).then_some(100.0 * (lost / offered))
}

fn figure(view: &StudyView<'_>, workload: &str, losing: &[(usize, f64)], ids: &mut Ids) -> Option<Figure> {
    let conditions: Vec<usize> = losing.iter().map(|(index, _)| *index).collect();
    let (mut bars, mut seen) = (Vec::new(), Vec::new());
    for ((condition, share), group) in losing.iter().zip(view.names(&conditions)) {
        let offered = view.mean(*condition, metric::OFFERED)?;
        let parts = PLACES.map(|(key, _)| 100.0 * view.mean(*condition, key).unwrap_or(0.0) / offered);
        let most = parts.iter().zip(PLACES).filter(|(lost, _)| **lost > 0.0);
        let most = most.max_by(|(one, _), (other, _)| one.total_cmp(other));
        let most = most.map(|(_, (_, how))| format!(", most {how}")).unwrap_or_default();
        seen.push(format!("{group}: {} % of the messages did not arrive{most}", percent(*share)));
        let whole = Interval::new(*share, None);
        bars.push(Bar { group, name: String::new(), whole, parts: parts.to_vec() });
    }
    let plot = Bars {
        quantity: percent_of("messages lost", "of those offered"),
        interval: String::new(),
        parts: PLACES.map(|(_, how)| how.to_owned()).to_vec(),
        bars,
    };
    let panels = if plot.bars.is_empty() { Vec::new() } else { vec![Panel::new("", plot)] };
    let title = format!("Where messages of {workload} were lost");
    view.figure(ids, (&format!("loss {workload}"), &title), seen, panels)
}

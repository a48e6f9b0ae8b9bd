//! Figures of lost packets, as a flow from the sender to the reader.

use crate::chart::{Figure, FlowPlace, FlowPlot, Panel, Quantity};
use results::{counted, percent, rounded};
use study::metric::{self, Metric};

use super::Ids;
use super::view::StudyView;
use crate::page::FigureSection;

// The largest number of conditions in a figure: those that lose most.
const PANELS: usize = 4;
// The metric of the loss before each place, the place, and the words of the loss.
const PLACES: [(Metric, &str, &str); 4] = [
    (metric::LOST_QUEUE, "after the sender's queue", "dropped by the sender's queue"),
    (metric::LOST_DEVICE, "after the devices and the link", "dropped by a device or on the link"),
    (metric::LOST_SOCKET, "after the receiving socket", "dropped because the receiving socket was full"),
    (metric::LOST_UNACCOUNTED, "the reader", "lost at a place without a counter"),
];

pub(super) fn section(views: &[StudyView<'_>], ids: &mut Ids, section: &mut FigureSection) {
    section.about.push(
        "Messages over whole runs, as the mean over boots: how many came how far, and what became of the others."
            .to_owned(),
    );
    for view in views {
        for workload in view.workloads() {
            let mut losing: Vec<(usize, f64)> =
                workload.conditions.iter().filter_map(|index| Some((*index, share(view, *index)?))).collect();
            losing.sort_by(|one, other| other.1.total_cmp(&one.1));
            if losing.len() > PANELS {
                section.about.push(format!(
                    "{}: the {PANELS} that lose most of {} with losses.",
                    view.titled(workload.name),
                    counted(losing.len(), "condition")
                ));
            }
            losing.truncate(PANELS);
            section.figures.extend(figure(view, workload.name, &losing, ids));
        }
    }
}

/// The share that was lost, in %; none without losses.
fn share(view: &StudyView<'_>, condition: usize) -> Option<f64> {
    let (lost, offered) = (view.mean(condition, metric::LOST)?, view.mean(condition, metric::OFFERED)?);
    (lost > 0.0 && offered > 0.0).then_some(100.0 * (lost / offered))
}

fn figure(view: &StudyView<'_>, workload: &str, losing: &[(usize, f64)], ids: &mut Ids) -> Option<Figure> {
    let conditions: Vec<usize> = losing.iter().map(|(index, _)| *index).collect();
    let names = view.names(&conditions);
    let (mut panels, mut seen) = (Vec::new(), Vec::new());
    for ((condition, share), name) in losing.iter().zip(names) {
        let Some(plot) = flow(view, *condition) else { continue };
        let most = PLACES
            .iter()
            .filter_map(|(key, _, how)| Some((view.mean(*condition, *key)?, how)))
            .filter(|(lost, _)| *lost > 0.0)
            .max_by(|one, other| one.0.total_cmp(&other.0));
        let most = most.map(|(_, how)| format!(", most {how}")).unwrap_or_default();
        seen.push(format!("{name}: {} % of the messages did not arrive{most}", percent(*share)));
        panels.push(Panel::new(name, plot));
    }
    let title = format!("Where messages of {workload} were lost");
    view.figure(ids, (&format!("loss {workload}"), &title), seen, panels)
}

fn flow(view: &StudyView<'_>, condition: usize) -> Option<FlowPlot> {
    let mut left = view.mean(condition, metric::OFFERED)?;
    let passage = |name: &str, left: f64, lost: &str| FlowPlace {
        name: name.to_owned(),
        arrived: left,
        lost: lost.to_owned(),
    };
    let mut passages = vec![passage("the sender", left, "")];
    for (key, name, how) in PLACES {
        left = (left - view.mean(condition, key).unwrap_or(0.0)).max(0.0);
        passages.push(passage(name, left, how));
    }
    Some(FlowPlot { quantity: Quantity::new("messages", "", rounded).relative("of a run"), passages })
}

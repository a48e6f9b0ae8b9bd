//! Where a run's datagrams were lost, as shares of those that were offered.

use super::Case;
use super::words::{count, percent};
use crate::loss::Loss;

/// Shares of the datagrams offered. Over the whole run, as the metrics of loss are: of a window nobody knows what is on its way.
pub(super) struct Losses {
    /// By the sockets that received.
    pub(super) socket: f64,
    /// By the device, or the backlog, that received.
    pub(super) behind: f64,
    /// By the queue and the device that sent.
    pub(super) before: f64,
    /// Where nobody counts.
    pub(super) elsewhere: f64,
    /// In words.
    pub(super) evidence: Vec<String>,
}

pub(super) fn of(case: &Case<'_>) -> Losses {
    let loss = Loss::between(&case.order.traffic, case.from.whole, case.to.whole);
    let share = |part: u64| if loss.offered == 0 { 0.0 } else { part as f64 / loss.offered as f64 };
    let (from, to) = (case.from, case.to);
    let places = [
        (loss.socket, format!("{}'s socket dropped", to.side)),
        (loss.behind, format!("the device, or the backlog, before the {} dropped", to.side)),
        (
            loss.queue,
            format!("the queue before the {}'s wire ({}) dropped", from.side, from.window.link.from),
        ),
        (loss.device, format!("the {}'s device dropped", from.side)),
        (loss.unaccounted(), "nobody counted".to_owned()),
    ];
    let said = places.into_iter().filter(|(lost, _)| *lost > 0);
    Losses {
        socket: share(loss.socket),
        behind: share(loss.behind),
        before: share(loss.queue.saturating_add(loss.device)),
        elsewhere: share(loss.unaccounted()),
        evidence: said
            .map(|(lost, who)| {
                format!(
                    "{who} {} of {} datagrams ({})",
                    count(lost),
                    count(loss.offered),
                    percent(share(lost))
                )
            })
            .collect(),
    }
}

//! Places where a run's datagrams were lost, as shares of the offered datagrams.

use super::end::{End, OneWay};
use crate::loss::Loss;
use record::{Evidence, LossPlace};

/// Shares of the datagrams offered, over the whole run like the metrics of loss: at the edges of a
/// window, datagrams are on the way.
pub(super) struct Losses {
    /// Losses at the receiving sockets.
    pub(super) socket: f64,
    /// Losses at the receiving device, or its backlog.
    pub(super) behind: f64,
    /// Losses at the sending queue and device.
    pub(super) before: f64,
    /// Losses at a place without a counter.
    pub(super) elsewhere: f64,
    /// The losses at each place.
    pub(super) evidence: Vec<Evidence>,
}

/// From these shares on most of a receiver's work is wasted: of datagrams that its socket drops,
/// and of its CPUs' time that interrupts take. More sent then means less received (receive
/// livelock: Mogul and Ramakrishnan, ACM TOCS 15(3), 1997).
const DROPPED: f64 = 0.4;
const INTERRUPTED: f64 = 0.75;

/// The share of CPU time that the receiver spends on datagrams that its socket then drops, if it is
/// large.
fn livelock(to: &End<'_>, dropped: f64) -> Option<Evidence> {
    let times = &to.window.cpu;
    let interrupted = times.irq.saturating_add(times.softirq) as f64 / times.total().max(1) as f64;
    (dropped >= DROPPED && interrupted >= INTERRUPTED)
        .then_some(Evidence::Livelock { side: to.side, share: interrupted })
}

pub(super) fn find_losses(case: &OneWay<'_>) -> Losses {
    let loss = Loss::between(&case.order.traffic, case.from.whole, case.to.whole);
    let share = |part: u64| if loss.offered == 0 { 0.0 } else { part as f64 / loss.offered as f64 };
    let (from, to) = (case.from, case.to);
    let places = [
        (LossPlace::Socket(to.side), loss.socket),
        (LossPlace::Behind(to.side), loss.behind),
        (LossPlace::Queue { side: from.side, wire: from.window.link.from.to_string() }, loss.queue),
        (LossPlace::Device(from.side), loss.device),
        (LossPlace::Uncounted, loss.unaccounted()),
    ];
    let livelock = livelock(to, share(loss.socket));
    let lossy = places.into_iter().filter(|(_, lost)| *lost > 0);
    Losses {
        socket: share(loss.socket),
        behind: share(loss.behind),
        before: share(loss.queue.saturating_add(loss.device)),
        elsewhere: share(loss.unaccounted()),
        evidence: lossy
            .map(|(place, datagrams)| Evidence::Lost { place, datagrams, offered: loss.offered })
            .chain(livelock)
            .collect(),
    }
}

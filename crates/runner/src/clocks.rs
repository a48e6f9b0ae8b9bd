//! Whether the clocks and the edges of a window can be trusted.

use record::SideAccount;
use testbed::RunOrder;

/// How far two clocks may be apart, as a share of the window. NTP's daemons slew by up to 0.05 %
/// (`adjtime`) in normal operation.
const CLOCKS: f64 = 0.001;

/// And in ns: an agent that loses its CPU between two readings sees them apart, though they are
/// not.
pub(crate) const CLOCKS_NS: f64 = 10e6;

/// How late an edge of the window may be, and how much longer the window, as a share of it: rates
/// are over the time that passed, but the two sides' windows should be of the same time.
const LATE: f64 = 0.1;

/// And in ns: an agent that shares its CPU with many flows wakes up when the scheduler comes to it,
/// after some slices of 3 ms.
pub(crate) const LATE_NS: f64 = 50e6;

/// Of a virtual machine, whose CPUs the host runs and puts aside as it runs and puts aside
/// everything: the same in ns for its clocks, read one after the other, and for its agent, which
/// shares its CPU with the workload as the whole guest does the host's.
pub(crate) const GUEST_CLOCKS_NS: f64 = 100e6;

/// See [`GUEST_CLOCKS_NS`].
pub(crate) const GUEST_LATE_NS: f64 = 250e6;

/// What is wrong with the clocks of a side.
pub(crate) fn clocks(own: &SideAccount, allowed_ns: f64) -> Option<String> {
    let clock = &own.window.clock;
    if clock.source_changed {
        return Some("the kernel changed its clock source".to_owned());
    }
    let apart = |other: u64| {
        let difference = other as f64 - clock.monotonic_ns as f64;
        let allowed = (clock.monotonic_ns as f64 * CLOCKS).max(allowed_ns);
        (difference.abs() > allowed).then(|| milliseconds(difference.abs()))
    };
    // While the machine sleeps only this clock goes on.
    if let Some(slept) = apart(clock.boottime_ns) {
        return Some(format!("the machine slept for {slept} of the window"));
    }
    let apart = apart(clock.raw_ns)?;
    Some(format!(
        "the clock was set {apart} apart from the hardware's (CLOCK_MONOTONIC against its raw kin): something slews it"
    ))
}

/// Whether a side's window was at another time than it was to be.
pub(crate) fn lateness(own: &SideAccount, order: &RunOrder, allowed_ns: f64) -> Option<String> {
    let window = order.window.as_nanos() as f64;
    let allowed = (window * LATE).max(allowed_ns);
    let late = &own.window.late;
    for (edge, by) in [("opened", late.opened_ns), ("closed", late.closed_ns)] {
        if by as f64 > allowed {
            return Some(format!("the window {edge} {} late: the agent had no CPU", milliseconds(by as f64)));
        }
    }
    let off = own.window.elapsed_ns as f64 - window;
    (off.abs() > allowed).then(|| {
        format!(
            "the window was {} long, not {}",
            milliseconds(own.window.elapsed_ns as f64),
            milliseconds(window)
        )
    })
}

fn milliseconds(ns: f64) -> String {
    format!("{:.0} ms", ns / 1e6)
}

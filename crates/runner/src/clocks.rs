//! Whether the clocks and the edges of a window can be trusted.

use record::{Cause, SideAccount};
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
pub(crate) fn clocks(own: &SideAccount, allowed_ns: f64) -> Option<Cause> {
    let clock = &own.window.clock;
    if clock.source_changed {
        return Some(Cause::ClockSource);
    }
    let apart = |other: u64| {
        let difference = other.abs_diff(clock.monotonic_ns);
        let allowed = (clock.monotonic_ns as f64 * CLOCKS).max(allowed_ns);
        (difference as f64 > allowed).then_some(difference)
    };
    // While the machine sleeps only this clock goes on.
    apart(clock.boottime_ns).map(Cause::Slept).or_else(|| apart(clock.raw_ns).map(Cause::ClockApart))
}

/// Whether a side's window was at another time than it was to be.
pub(crate) fn lateness(own: &SideAccount, order: &RunOrder, allowed_ns: f64) -> Option<Cause> {
    let window = u64::try_from(order.window.as_nanos()).unwrap_or(u64::MAX);
    let allowed = (window as f64 * LATE).max(allowed_ns);
    let late = &own.window.late;
    if late.opened_ns as f64 > allowed {
        return Some(Cause::OpenedLate(late.opened_ns));
    }
    if late.closed_ns as f64 > allowed {
        return Some(Cause::ClosedLate(late.closed_ns));
    }
    let elapsed = own.window.elapsed_ns;
    (elapsed.abs_diff(window) as f64 > allowed).then_some(Cause::Length(elapsed, window))
}

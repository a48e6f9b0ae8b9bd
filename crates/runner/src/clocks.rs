//! Whether the clocks and the edges of a window can be trusted.

use record::{Cause, SideAccount, Turns};
use testbed::RunOrder;

// As a share of the window: NTP's daemons slew by up to 0.05 % (`adjtime`).
const CLOCKS: f64 = 0.001;

// An agent that loses its CPU between two readings sees a difference that is none.
pub(crate) const CLOCKS_NS: f64 = 10e6;

// As a share of the window, whose length may exceed the order's by as much.
const LATE: f64 = 0.1;

// That lateness in ns: an agent that shares its CPU with many flows waits for some slices of 3 ms.
pub(crate) const LATE_NS: f64 = 50e6;

// A virtual machine's host may take a virtual CPU away between two readings.
pub(crate) const GUEST_CLOCKS_NS: f64 = 100e6;

// An agent whose virtual CPU is taken away is late at the edges.
pub(crate) const GUEST_LATE_NS: f64 = 250e6;

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
    let slept = apart(clock.boottime_ns).map(|ns| Cause::Slept { ns });
    slept.or_else(|| apart(clock.raw_ns).map(|ns| Cause::ClockApart { ns }))
}

pub(crate) fn lateness(
    own: &SideAccount,
    turns: Option<&Turns>,
    order: &RunOrder,
    allowed_ns: f64,
) -> Option<Cause> {
    let window = u64::try_from(order.window.as_nanos()).unwrap_or(u64::MAX);
    let allowed = (window as f64 * LATE).max(allowed_ns);
    // Edges of turns may be late by half of the time to settle: both sides' turns still overlap.
    let of_edges = turns.map_or(allowed, |turns| turns.settle_ns as f64 / 2.0);
    let late = &own.window.late;
    if late.opened_ns as f64 > of_edges {
        return Some(Cause::OpenedLate { ns: late.opened_ns });
    }
    if late.closed_ns as f64 > of_edges {
        return Some(Cause::ClosedLate { ns: late.closed_ns });
    }
    let ns = own.window.elapsed_ns;
    (ns.abs_diff(window) as f64 > allowed).then_some(Cause::Length { ns, planned_ns: window })
}

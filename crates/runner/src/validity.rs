//! Whether something disturbed a run's window, from both sides' accounts of it.
//!
//! CPU times come in units of 10 ms, sampled 100 to 1000 times a second: each rule allows for
//! chance.

use host::CpuTimes;
use record::{Cause, Disturbance, Part, RunAccount};
use study::Side;
use testbed::RunOrder;

use crate::clocks::{CLOCKS_NS, GUEST_CLOCKS_NS, GUEST_LATE_NS, LATE_NS, clocks, lateness};
use crate::foreign::{Foreign, TICK_NS};
use crate::waiting::Waited;

// Rates fall by about as much, and the bundled studies look for differences of 2 %.
const STOLEN: f64 = 0.02;

// As [`STOLEN`] to a host, not counting waits behind the run's own guests. Of 312 runs with guests
// on a quiet machine none waited for 0.5 % beyond these waits, which took up to 33 %.
const WAITED: f64 = 0.02;

/// Disturbances of the window; empty if there were none.
pub fn disturbances(account: &RunAccount, order: &RunOrder) -> Vec<Disturbance> {
    let (hosts, turns) = (account.hosts_of_guests(), account.turns.as_ref());
    let mut found = Vec::new();
    for (side, own) in account.sides() {
        let part = if side == Side::Transmitter { Part::Transmitter } else { Part::Receiver };
        let said = if hosts.is_empty() {
            let window = &own.window;
            [
                clocks(own, CLOCKS_NS),
                lateness(own, turns, order, LATE_NS),
                stolen(&window.cpus, &window.cpu_each, window.elapsed_ns),
                others(&Foreign::from_account(account, side)),
            ]
        } else {
            // A guest cannot tell others from the rest of its machine; its host can.
            let waited = Waited::from_account(account, side).and_then(|waited| waits(&waited, order));
            [clocks(own, GUEST_CLOCKS_NS), lateness(own, turns, order, GUEST_LATE_NS), waited, None]
        };
        found.extend(said.into_iter().flatten().map(|cause| (part, cause)));
    }
    let mut of_hosts: Vec<Cause> =
        hosts.iter().filter_map(|host| stolen(&host.cpus, &host.cpu_each, host.elapsed_ns)).collect();
    of_hosts.extend(Side::BOTH.into_iter().filter_map(|side| others(&Foreign::on_host(account, side)?)));
    // Two machines on the same CPUs.
    of_hosts.dedup_by(|one, other| reads_alike(one, other));
    found.extend(of_hosts.into_iter().map(|cause| (Part::Host, cause)));
    // Two hosts on one machine share clocks and CPUs: a disturbance that both report is kept once.
    let mut told: Vec<Disturbance> = Vec::new();
    for (part, cause) in &found {
        let both = found.iter().filter(|(_, other)| reads_alike(other, cause)).count() > 1;
        let at = Some(if both { Part::BothEnds } else { *part });
        if !told.iter().any(|known| known.at == at && reads_alike(&known.cause, cause)) {
            told.push(Disturbance { at, cause: cause.clone() });
        }
    }
    told
}

fn reads_alike(one: &Cause, other: &Cause) -> bool {
    // The text has as many digits as two looks at one disturbance have in common.
    one.to_string() == other.to_string()
}

fn stolen(cpus: &[u32], each: &[CpuTimes], elapsed_ns: u64) -> Option<Cause> {
    let share = |cpu: &CpuTimes| (cpu.steal as f64 - TICK_NS).max(0.0) / elapsed_ns.max(1) as f64;
    // A flow runs on one CPU, and the mean of many would hide its loss.
    let worst = cpus.iter().zip(each).max_by(|(_, one), (_, other)| share(one).total_cmp(&share(other)));
    let (cpu, times) = worst?;
    let lost = times.steal as f64 / elapsed_ns.max(1) as f64;
    (share(times) > STOLEN).then_some(Cause::Stolen { share: lost, cpu: *cpu })
}

/// A virtual CPU that waited for a CPU of its host, not only behind the run's own guests.
fn waits(waited: &Waited, order: &RunOrder) -> Option<Cause> {
    // A wait is counted when it ends, so one from before the window may be in it.
    let rounding = TICK_NS / order.window.as_nanos().max(1) as f64;
    (waited.unexplained - rounding > WAITED)
        .then_some(Cause::Waited { share: waited.share, explained: waited.share - waited.unexplained })
}

fn others(foreign: &Foreign) -> Option<Cause> {
    foreign.disturbs.then(|| Cause::Others(foreign.taken.clone()))
}

#[cfg(test)]
mod tests;

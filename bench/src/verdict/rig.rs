//! Real boots and runs on the veth testbed.

use std::time::{Duration, Instant};

use load::{Kind, Traffic};
use stats::Observation;
use study::{PlannedRun, Scenario};
use testbed::{CpuSplit, RunAccount, RunOrder};

use super::experiment::Source;
use super::protocol::{CONDITIONS, Costs, Protocol};
use crate::bench::Bench;
use crate::failure::Failure;
use crate::netassay::no_root;

/// A machine with the traffic of two conditions.
pub(crate) struct Rig<'a> {
    bench: &'a Bench<'a>,
    cpus: CpuSplit,
    rootless: bool,
    conditions: [Traffic; CONDITIONS],
    spent: Spent,
}

/// Where the time went.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    boots: u32,
    building: Duration,
    runs: u32,
    /// Of the runs, beyond ramp and window.
    overhead: Duration,
}

impl<'a> Rig<'a> {
    pub(crate) fn new(bench: &'a Bench<'a>, conditions: [Traffic; CONDITIONS]) -> Self {
        let cpus = testbed::split(&host::affinity::usable());
        Self { bench, cpus, rootless: no_root().is_some(), conditions, spent: Spent::default() }
    }

    /// What boots and runs have cost beyond ramps and windows.
    pub(crate) fn costs(&self) -> Costs {
        let mean = |time: Duration, count: u32| time.as_secs_f64() / f64::from(count.max(1));
        Costs {
            boot: mean(self.spent.building, self.spent.boots),
            run: mean(self.spent.overhead, self.spent.runs),
        }
    }

    /// Runs of this protocol.
    pub(crate) fn measuring<'rig>(&'rig mut self, protocol: &'rig Protocol) -> Measured<'rig, 'a> {
        Measured { rig: self, protocol, schedule: protocol.runs() }
    }

    fn order(&self, protocol: &Protocol, condition: usize) -> RunOrder {
        RunOrder {
            traffic: self.conditions[condition].clone(),
            family: study::Family::Ipv4,
            ramp: protocol.ramp,
            window: protocol.window,
            step: RunOrder::step_of(protocol.window),
        }
    }
}

/// Boots that are measured.
pub(crate) struct Measured<'rig, 'a> {
    rig: &'rig mut Rig<'a>,
    protocol: &'rig Protocol,
    schedule: Vec<Vec<PlannedRun>>,
}

impl Source for Measured<'_, '_> {
    fn boot(&mut self, boot: u32, observations: &mut Vec<Observation>) -> Result<(), Failure> {
        let of_boot = self.schedule.get(boot as usize - 1);
        let of_boot = of_boot.ok_or_else(|| Failure::Internal(format!("boot {boot} is not planned")))?;
        let rig = &mut *self.rig;
        let start = Instant::now();
        let mut testbed =
            rig.bench.netassay.testbed(Scenario::Veth, &rig.cpus, rig.rootless, &rig.bench.interrupt)?;
        rig.spent.building += start.elapsed();
        for run in of_boot {
            let start = Instant::now();
            let account = testbed.run(&rig.order(self.protocol, run.condition), &mut || {})?;
            rig.spent.runs += 1;
            rig.spent.overhead += start.elapsed().saturating_sub(self.protocol.ramp + self.protocol.window);
            if !run.warmup {
                observations.push(Observation {
                    condition: run.condition,
                    boot,
                    value: rate(rig.conditions[run.condition].kind, &account),
                });
            }
        }
        let end = Instant::now();
        drop(testbed);
        rig.spent.building += end.elapsed();
        rig.spent.boots += 1;
        Ok(())
    }
}

/// As the product has it: Mbit/s at the receiver, or transactions/s at the transmitter.
fn rate(kind: Kind, account: &RunAccount) -> f64 {
    let per_second = |amount: u64, elapsed_ns: u64| amount as f64 * 1e9 / elapsed_ns.max(1) as f64;
    if kind.is_rr() {
        let asking = &account.transmitter.window;
        per_second(asking.load.sent.transactions, asking.elapsed_ns)
    } else {
        let receiver = account.receiver.as_ref().map(|side| &side.window);
        receiver.map_or(0.0, |window| 8.0 * per_second(window.load.received.bytes, window.elapsed_ns) / 1e6)
    }
}

//! The protocols on real traffic with a known difference.
//!
//! Both conditions are paced, one 1, 2 or 5 % slower, far below what the machine can do: the
//! difference is known exactly, and the noise is the machine's own.

use std::time::Instant;

use load::{Kind, Pacing, Traffic};
use serde_json::{Value, json};
use stats::{Observation, Question, Spending, analyse};
use study::{PlannedRun, Scenario};
use testbed::RunOrder;

use super::experiment::conduct;
use super::protocol::Protocol;
use super::tally::{Tally, Worth};
use crate::bench::{Bench, rate};
use crate::failure::Failure;

const MESSAGE: u32 = 1000;
/// The baseline's pace in bits of payload per second: 25,000 datagrams, so few that a receiver is
/// never late for long.
pub(super) const PACE: u64 = 200_000_000;

/// UDP datagrams at this part of the pace.
fn paced(lower_percent: u32) -> Traffic {
    let pacing = PACE / 100 * u64::from(100 - lower_percent.min(99));
    Traffic { message: MESSAGE, pacing: Pacing::of_bits(pacing), ..Traffic::new(Kind::UdpStream) }
}

/// One difference, and what each protocol made of it.
pub(super) struct Line {
    /// By how many % condition 1 is lower.
    pub(super) lower: u32,
    /// The last of them is netassay's.
    pub(super) protocols: Vec<(Protocol, Tally)>,
    /// All that was measured, boots numbered through.
    seen: Vec<Observation>,
    boots: u32,
}

impl Line {
    pub(super) fn new(lower: u32, protocols: impl IntoIterator<Item = Protocol>) -> Self {
        let protocols = protocols.into_iter().map(|protocol| (protocol, Tally::default())).collect();
        Self { lower, protocols, seen: Vec::new(), boots: 0 }
    }

    /// Lets each protocol decide once; false if `until` is over before all have.
    pub(super) fn round(&mut self, bench: &Bench, until: Instant) -> Result<bool, Failure> {
        let conditions = [paced(0), paced(self.lower)];
        for (protocol, tally) in &mut self.protocols {
            if Instant::now() >= until {
                return Ok(false);
            }
            let mut observations = Vec::new();
            let start = Instant::now();
            let (boots, verdict) =
                conduct(protocol, &Spending::default(), &mut observations, |boot, runs, observations| {
                    measure(bench, protocol, &conditions, boot, runs, observations)
                })?;
            let seconds = start.elapsed().as_secs_f64();
            tally.0.push((Worth::of(verdict, self.lower > 0), seconds));
            let (lower, name) = (self.lower, &protocol.name);
            bench.say(&format!("verdict, {lower} % lower, {name}: {verdict} after {seconds:.0} s"));
            let before = self.boots;
            self.boots += boots;
            self.seen
                .extend(observations.into_iter().map(|run| Observation { boot: before + run.boot, ..run }));
        }
        Ok(true)
    }

    /// By how many % the measured ratio of the two throughputs is off what they were paced at, over
    /// all boots, with its interval: what should be nothing.
    pub(super) fn departure(&self) -> Option<(f64, (f64, f64))> {
        let slower = 1.0 - f64::from(self.lower) / 100.0;
        let level = |run: &Observation| {
            let value = if run.condition == 0 { run.value } else { run.value / slower };
            Observation { value, ..*run }
        };
        let levelled: Vec<Observation> = self.seen.iter().map(level).collect();
        let analysis = analyse(&levelled, &Question::against(0)).ok()?;
        let comparison = analysis.comparisons.first()?;
        comparison.relative.zip(comparison.relative_interval)
    }

    pub(super) fn json(&self) -> Value {
        let seen =
            |(protocol, tally): &(Protocol, Tally)| json!({"protocol": protocol.name, "seen": tally.json()});
        let protocols: Vec<Value> = self.protocols.iter().map(seen).collect();
        json!({"lower_percent": self.lower, "protocols": protocols, "departure_percent": self.departure(), "values": self.seen})
    }
}

/// Measures the runs of a boot on a testbed of its own.
fn measure(
    bench: &Bench,
    protocol: &Protocol,
    conditions: &[Traffic; 2],
    boot: u32,
    runs: &[PlannedRun],
    observations: &mut Vec<Observation>,
) -> Result<(), Failure> {
    let mut testbed = bench.testbed(Scenario::Veth, bench.rootless)?;
    for run in runs {
        let (condition, traffic) = (run.condition, conditions[run.condition].clone());
        let (ramp, window) = (protocol.ramp, protocol.window);
        let order =
            RunOrder { traffic, family: study::Family::Ipv4, ramp, window, step: RunOrder::step_of(window) };
        let account = testbed.run(&order, &mut || {})?;
        if !run.warmup {
            // In Mbit/s.
            let value = rate(Kind::UdpStream, &account).unwrap_or(0.0) / 1e6;
            observations.push(Observation { condition, boot, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_lower_by_exactly_so_much() {
        for (lower, pace) in [(0, 200_000_000), (1, 198_000_000), (2, 196_000_000), (5, 190_000_000)] {
            assert_eq!(paced(lower).pacing, Pacing::of_bits(pace));
        }
        paced(5).validate(load::Family::Ipv4).unwrap();
    }
}

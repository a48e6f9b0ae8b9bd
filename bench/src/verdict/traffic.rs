//! The protocols on real traffic with a known difference.
//!
//! Both conditions are paced, one 1, 2 or 5 % slower, far below what the machine can do: the
//! difference is known exactly, and the noise is the machine's own.

use std::collections::BTreeMap;
use std::time::Instant;

use load::{Kind, Pacing, Traffic};
use serde_json::{Value, json};
use stats::{Observation, Question, Spending, analyse};
use study::{BySide, Effective, PlannedRun, Scenario, Settled, Tuning};
use testbed::{RunOrder, TurnCondition, TurnsOrder};

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
        let accounts = match (protocol.flow(run, conditions), run.condition) {
            (Some(flow), 0) => testbed.take_turns(&flow, &mut || {})?.into_iter().enumerate().collect(),
            // It has its turns in the flow of condition 0.
            (Some(_), _) => continue,
            (None, own) => vec![(own, testbed.run(&protocol.order(&conditions[own]), &mut || {})?)],
        };
        for (condition, account) in accounts.into_iter().filter(|_| !run.warmup) {
            // In Mbit/s.
            let value = rate(Kind::UdpStream, &account).unwrap_or(0.0) / 1e6;
            observations.push(Observation { condition, boot, value });
        }
    }
    Ok(())
}

impl Protocol {
    fn order(&self, traffic: &Traffic) -> RunOrder {
        let (ramp, window) = (self.ramp, self.window);
        let step = RunOrder::step_of(window);
        RunOrder { traffic: traffic.clone(), family: study::Family::Ipv4, ramp, window, step }
    }

    /// The flow that a run shares with that of the other condition, if it does.
    fn flow(&self, run: &PlannedRun, conditions: &[Traffic; 2]) -> Option<TurnsOrder> {
        let (turns, alternate) = (self.turns(run)?, self.alternate()?);
        let window = alternate.turn.saturating_mul(u32::try_from(turns.len()).ok()?);
        let state = |traffic: &Traffic| TurnCondition {
            effective: Effective {
                transmitter: unswitched(),
                receiver: None,
                underlay: None,
                fragments: None,
            },
            traffic: traffic.clone(),
            tuning: BySide::from_fn(|_| Tuning::default()),
        };
        let flow = RunOrder { window, ..self.order(&conditions[0]) };
        let states = conditions.iter().map(state).collect();
        Some(TurnsOrder { flow, turn: alternate.turn, settle: alternate.settle, states, turns })
    }
}

/// An interface that stays as it is.
fn unswitched() -> Settled {
    let (active, refused) = (BTreeMap::new(), BTreeMap::new());
    let (follow_on, device, tuning) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    Settled { mtu: 1500, active, refused, follow_on, device, tuning }
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

//! The protocols on real traffic with a known difference.
//!
//! Both conditions are paced, one 1, 2 or 5 % slower, far below what the machine can do: the
//! difference is known exactly, and the noise is the machine's own.

use std::time::{Duration, Instant};

use load::{Kind, Pacing, Traffic};
use serde_json::{Value, json};
use stats::{Observation, Question, analyse};

use super::experiment::{Worth, conduct};
use super::protocol::Protocol;
use super::rig::Rig;
use super::tally::Tally;
use crate::bench::Bench;
use crate::failure::Failure;

/// Bytes of each datagram.
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
pub(crate) struct Line<'p> {
    /// By how many % condition 1 is lower.
    lower: u32,
    protocols: &'p [Protocol],
    pub(crate) tallies: Vec<Tally>,
    /// All that netassay's protocol measured, boots numbered through.
    seen: Vec<Observation>,
    boots: u32,
}

impl<'p> Line<'p> {
    pub(crate) fn new(lower: u32, protocols: &'p [Protocol]) -> Self {
        let tallies = vec![Tally::default(); protocols.len()];
        Self { lower, protocols, tallies, seen: Vec::new(), boots: 0 }
    }

    /// Lets each protocol decide once; false if `until` is over before all have.
    pub(crate) fn round(&mut self, bench: &Bench<'_>, until: Instant) -> Result<bool, Failure> {
        let mut rig = Rig::new(bench, [paced(0), paced(self.lower)]);
        for (protocol, tally) in self.protocols.iter().zip(&mut self.tallies) {
            if Instant::now() >= until {
                return Ok(false);
            }
            let mut observations = Vec::new();
            let start = Instant::now();
            let ended = conduct(
                protocol,
                &mut rig.measuring(protocol),
                &mut observations,
                &stats::Spending::default(),
            )?;
            let seconds = start.elapsed().as_secs_f64();
            tally.add(Worth::of(ended.verdict, self.lower > 0), seconds);
            bench.say(&format!(
                "verdict, {} % lower, {}: {} after {seconds:.0} s",
                self.lower, protocol.name, ended.verdict
            ));
            let before = self.boots;
            self.boots += ended.boots;
            self.seen
                .extend(observations.into_iter().map(|run| Observation { boot: before + run.boot, ..run }));
        }
        Ok(true)
    }

    /// By how many % the measured ratio of the two throughputs is off what they were paced at, over
    /// all boots, with its interval: what should be nothing.
    pub(crate) fn departure(&self) -> Option<(f64, (f64, f64))> {
        let slower = 1.0 - f64::from(self.lower) / 100.0;
        let levelled: Vec<Observation> = self
            .seen
            .iter()
            .map(|run| match run.condition {
                0 => *run,
                _ => Observation { value: run.value / slower, ..*run },
            })
            .collect();
        let analysis = analyse(&levelled, &Question::against(0)).ok()?;
        let comparison = analysis.comparisons.first()?;
        comparison.relative.zip(comparison.relative_interval)
    }

    /// For a program.
    pub(crate) fn json(&self) -> Value {
        let protocols = self.protocols.iter().zip(&self.tallies);
        let each: Vec<_> = protocols
            .map(|(protocol, tally)| json!({"protocol": protocol.name, "seen": tally.json()}))
            .collect();
        json!({"lower_percent": self.lower, "protocols": each, "departure_percent": self.departure(), "values": self.seen})
    }
}

/// R1's protocol with shorter runs: the whole takes 11 minutes for one verdict.
pub(crate) fn shortened(window: Duration) -> [Protocol; 2] {
    use super::protocol::Rule;
    [
        Protocol::of_r1("(a) pooled, shortened", Rule::PooledRuns, window),
        Protocol::of_r1("(b) boot means, shortened", Rule::BootMeans, window),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_lower_by_exactly_so_much() {
        assert_eq!(
            [0, 1, 2, 5].map(|lower| paced(lower).pacing),
            [200_000_000, 198_000_000, 196_000_000, 190_000_000].map(Pacing::of_bits)
        );
        paced(5).validate(load::Family::Ipv4).unwrap();
    }
}

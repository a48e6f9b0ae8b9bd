//! The protocols on real traffic with a known difference.
//!
//! The stack's work for a small datagram does not depend on a few bytes more or less, so as many datagrams flow when each is
//! 5 % smaller, and the throughput is 5 % lower: the difference is known, and the noise is the machine's own.

use std::time::{Duration, Instant};

use load::Kind;
use serde_json::{Value, json};
use stats::{Observation, Question, analyse};

use super::experiment::{Worth, conduct};
use super::protocol::Protocol;
use super::rig::Rig;
use super::tally::Tally;
use crate::cli::Bench;
use crate::failure::Failure;

/// Bytes of the baseline's datagrams: of this size a hundredth is a whole number of bytes, and the kernel takes the same
/// buffers for it and for all that are a little smaller.
const MESSAGE: u32 = 200;

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
        let mut rig = Rig::new(bench, Kind::UdpStream, [MESSAGE, MESSAGE - self.lower * MESSAGE / 100]);
        for (protocol, tally) in self.protocols.iter().zip(&mut self.tallies) {
            if Instant::now() >= until {
                return Ok(false);
            }
            let mut observations = Vec::new();
            let start = Instant::now();
            let ended = conduct(protocol, &mut rig.measuring(protocol), &mut observations)?;
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

    /// By how many % more or fewer datagrams flowed when they were smaller, over all boots, with its interval: what should be
    /// none.
    pub(crate) fn packets(&self) -> Option<(f64, (f64, f64))> {
        let smaller = 1.0 - f64::from(self.lower) / 100.0;
        let packets: Vec<Observation> = self
            .seen
            .iter()
            .map(|run| match run.condition {
                0 => *run,
                _ => Observation { value: run.value / smaller, ..*run },
            })
            .collect();
        let analysis = analyse(&packets, &Question::against(0)).ok()?;
        let comparison = analysis.comparisons.first()?;
        comparison.relative.zip(comparison.relative_interval)
    }

    /// For a program.
    pub(crate) fn json(&self) -> Value {
        let protocols = self.protocols.iter().zip(&self.tallies);
        let each: Vec<_> = protocols
            .map(|(protocol, tally)| json!({"protocol": protocol.name, "seen": tally.json()}))
            .collect();
        json!({"lower_percent": self.lower, "protocols": each, "packets_differ_percent": self.packets(), "values": self.seen})
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

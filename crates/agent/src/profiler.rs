//! The functions in which the work of a trace spends its time, by samples without probes.

use std::collections::BTreeSet;

use host::perf::{Profile, SampleBatch, Sampler, Symbols, softirq_threads};
use load::exact::Repeat;

use crate::refusal::Refusal;

// Samples of a profile: a function's share of a tenth is then known to half a hundredth.
const SAMPLES: f64 = 4000.0;
// The parts of a profile, each with a period of its own. With equal times for all messages, as
// with counted instructions, samples of one period would fall on the same places of the messages
// again and again.
const PARTS: u32 = 64;

/// Samplers of the calling thread, and of the other threads of the work.
pub(crate) struct Profiler {
    symbols: Symbols,
    threads: BTreeSet<u32>,
    period: u64,
}

impl Profiler {
    /// Checks that sampling is possible, before time is spent.
    pub(crate) fn ready(work: &dyn Repeat, frequency: u32) -> Result<Self, String> {
        let threads = work.workers().iter().map(|worker| worker.thread).collect();
        let period = 1_000_000_000 / u64::from(frequency.max(1));
        let ready = Self { symbols: Symbols::read().map_err(to_text)?, threads, period };
        ready.sampler(0)?;
        Ok(ready)
    }

    /// A sampler whose period is longer by this many ns.
    fn sampler(&self, longer: u64) -> Result<Sampler, String> {
        let threads: Vec<u32> = self.threads.iter().copied().collect();
        Sampler::open(self.period + longer, &threads).map_err(to_text)
    }

    /// Samples work whose messages last `lasts` ns each and use a CPU for `on_cpu` ns.
    pub(crate) fn profile(
        &self,
        work: &mut dyn Repeat,
        [lasts, on_cpu]: [f64; 2],
    ) -> Result<Profile, Refusal> {
        // If each end waits for the other, both CPUs have samples of it in turn.
        let takes = if on_cpu > 0.0 { on_cpu } else { lasts };
        let turn = (takes * f64::from(work.messages())).max(1.0);
        let turns = (SAMPLES / f64::from(PARTS) * self.period as f64 / turn).ceil() as u32;
        let mut parts: Vec<SampleBatch> = Vec::new();
        let mut means = None;
        for part in 0..PARTS {
            let mut sampler = self.sampler(period_addition(part, takes.min(self.period as f64)))?;
            sampler.start().map_err(to_text)?;
            work.repeat(turns.max(1)).map_err(to_text)?;
            parts.push(sampler.stop().map_err(to_text)?);
            means = Some(sampler.means());
        }
        let whose = (&self.threads, &softirq_threads());
        let means = means.map(|means| (means, self.period));
        let profile = means.map(|means| Profile::from_samples(&parts, &self.symbols, means, whose, on_cpu));
        profile.filter(|profile| profile.samples > 0).ok_or_else(|| {
            format!(
                "no sample met the work, {} others: the kernel's timer does not tick",
                parts.iter().map(|part| part.taken.len()).sum::<usize>()
            )
            .into()
        })
    }
}

/// The addition to the period of a part. The parts divide a message's time evenly, and the first
/// few parts do so already (multiples of the golden ratio).
fn period_addition(part: u32, message: f64) -> u64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    ((f64::from(part) * GOLDEN).fract() * message) as u64
}

pub(crate) fn to_text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a program that repeats itself, each tenth gets its share of samples, whatever a message's
    /// time is.
    #[test]
    fn samples_of_messages_that_take_the_same_time_are_all_over_them() {
        // Fractions of the period by which samples would stay where they are: 6, 13/2, 50/7.
        for message in [50_157.0 / 6.0, 100_314.0 / 13.0, 8183.0, 7_022.0, 300_000.0] {
            let mut tenths = [0u32; 10];
            let samples = SAMPLES as u32 / PARTS;
            for part in 0..PARTS {
                let period = 50_157 + period_addition(part, f64::min(message, 50_157.0));
                for sample in 1..=samples {
                    let phase = (u64::from(sample) * period) as f64 / message;
                    tenths[(phase.fract() * 10.0) as usize] += 1;
                }
            }
            let even = f64::from(samples * PARTS) / 10.0;
            let apart = tenths.map(|tenth| (f64::from(tenth) / even - 1.0).abs());
            assert!(apart.iter().all(|apart| *apart < 0.15), "{message}: {tenths:?}");
        }
    }
}

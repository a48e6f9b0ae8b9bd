//! The functions in which the work of a trace spends its time, by samples without probes.

use std::collections::BTreeSet;
use std::time::Instant;

use host::perf::{Profile, Sampler, Samples, Symbols, softirq_threads};
use load::exact::Repeat;

use crate::envelope::Deadline;
use crate::refusal::Refusal;

/// Samples of a profile: the share of a function that takes a tenth is known to half a hundredth.
const SAMPLES: f64 = 4000.0;
/// It is taken in parts, so that the kernel has room for the samples of each. From part to part the
/// period is longer by some ns: where messages take the same time each, samples would else fall on
/// the same places of them again and again.
const PARTS: u32 = 8;
const LONGER_NS: u64 = 1009;

/// What takes samples of the calling thread, and of those that the work has beside it.
pub(crate) struct Profiler {
    symbols: Symbols,
    threads: BTreeSet<u32>,
    period: u64,
}

impl Profiler {
    /// Makes sure that it can, before time is spent.
    pub(crate) fn ready(work: &dyn Repeat, frequency: u32) -> Result<Self, String> {
        let own = nix::unistd::gettid().as_raw().unsigned_abs();
        let threads = work.threads().into_iter().chain([own]).collect();
        let period = 1_000_000_000 / u64::from(frequency.max(1));
        let ready = Self { symbols: Symbols::read().map_err(said)?, threads, period };
        ready.sampler(0)?;
        Ok(ready)
    }

    fn sampler(&self, part: u32) -> Result<Sampler, String> {
        let threads: Vec<u32> = self.threads.iter().copied().collect();
        Sampler::open(self.period + u64::from(part) * LONGER_NS, &threads).map_err(said)
    }

    /// Samples work, of which a message `lasts` so long and is on a CPU for so long, in ns.
    pub(crate) fn profile(
        &self,
        work: &mut dyn Repeat,
        [lasts, on_cpu]: [f64; 2],
        deadline: Deadline,
    ) -> Result<Profile, Refusal> {
        // Where each end waits for the other, both CPUs have samples of it in turn.
        let takes = if on_cpu > 0.0 { on_cpu } else { lasts };
        let turn = (takes * f64::from(work.messages())).max(1.0);
        let turns = (SAMPLES / f64::from(PARTS) * self.period as f64 / turn).ceil() as u32;
        let mut samples = Samples::default();
        let mut means = None;
        for part in 0..PARTS {
            deadline.allows(Instant::now())?;
            let mut sampler = self.sampler(part)?;
            sampler.start().map_err(said)?;
            work.repeat(turns.max(1)).map_err(said)?;
            samples.add(sampler.stop().map_err(said)?);
            means = Some(sampler.means());
        }
        let whose = (&self.threads, &softirq_threads());
        let means = means.map(|means| (means, self.period));
        let profile = means.map(|means| Profile::of(&samples, &self.symbols, means, whose, on_cpu));
        profile.filter(|profile| profile.samples > 0).ok_or_else(|| {
            format!(
                "no sample met the work, {} others: the kernel's timer does not tick",
                samples.taken.len()
            )
            .into()
        })
    }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

//! Sums of samples: the samples of each function, and of each stack.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::sampler::SampleBatch;
use super::symbols::Symbols;

/// The most functions that a profile keeps.
pub const MOST_FUNCTIONS: usize = 1024;
/// The most stacks that a profile keeps: those with the most samples.
pub const MOST_STACKS: usize = 500;
/// The most functions of one stack: the innermost.
pub const MOST_FRAMES: usize = 64;

/// The CPU time of a message by function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The CPUs or threads that were sampled.
    pub means: SamplingScope,
    /// From one sample to the next, in ns, or in instructions where a guest counts them.
    pub period: u64,
    /// Without samples and probes, and with the threads for soft interrupts (by their samples).
    pub message: f64,
    /// Of the work.
    pub samples: u64,
    /// Of other threads, and of idle CPUs.
    pub elsewhere: u64,
    /// The least number of samples for which the kernel had no room.
    pub lost: u64,
    pub functions: Vec<SampledFunction>,
    /// The most sampled first, as the functions.
    pub stacks: Vec<SampledStack>,
}

/// The scope of the samples. Only earlier versions sampled threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "lowercase")]
pub enum SamplingScope {
    /// CPUs, with any thread that runs there.
    #[error("CPUs")]
    Cpus,
    #[error("threads")]
    Threads,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledFunction {
    pub name: String,
    /// Samples in which it ran itself, not a function that it called.
    pub samples: u64,
    /// The standard error of that number, by the parts in which the samples were taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledStack {
    /// Indexes of [`Profile::functions`], the outermost first.
    pub frames: Vec<u16>,
    pub samples: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionCost {
    pub name: String,
    /// Of all samples, from 0 to 1.
    pub share: f64,
    pub cost: f64,
    /// The standard error of that cost, by the parts of the samples, or by their number.
    pub error: f64,
}

impl Profile {
    /// Sums up samples, one each `period`, taken in some parts, of threads of the work, which use
    /// the CPU for `message` per message, and of threads for soft interrupts.
    pub fn from_samples(
        parts: &[SampleBatch],
        symbols: &Symbols,
        period: u64,
        (threads, softirqs): (&BTreeSet<u32>, &BTreeSet<u32>),
        message: f64,
    ) -> Self {
        let mut stacks = BTreeMap::<Vec<&str>, u64>::new();
        // The samples of each function in each part.
        // A function that only called others has zeros: stacks refer to it.
        let mut own = BTreeMap::<&str, Vec<u64>>::new();
        let mut all = vec![0; parts.len()];
        let (mut elsewhere, mut in_softirqs) = (0, 0);
        for (part, samples) in parts.iter().enumerate() {
            for sample in &samples.taken {
                let is_softirq = softirqs.contains(&sample.thread);
                if !is_softirq && !threads.contains(&sample.thread) {
                    elsewhere += 1;
                    continue;
                }
                let stack = symbols.names(sample, is_softirq);
                for (place, name) in stack.iter().enumerate() {
                    let counts = own.entry(*name).or_insert_with(|| vec![0; parts.len()]);
                    counts[part] += u64::from(place + 1 == stack.len());
                }
                *stacks.entry(stack).or_default() += 1;
                all[part] += 1;
                in_softirqs += u64::from(is_softirq);
            }
        }
        let samples: u64 = all.iter().sum();
        let functions = own.into_iter().map(|(name, counts)| SampledFunction {
            name: name.to_owned(),
            samples: counts.iter().sum(),
            error: error_of_count(&counts, &all),
        });
        let mut functions: Vec<SampledFunction> = functions.collect();
        functions.sort_by_key(|own| std::cmp::Reverse(own.samples));
        functions.truncate(MOST_FUNCTIONS);
        let numbers: HashMap<&str, u16> = functions.iter().map(|own| own.name.as_str()).zip(0..).collect();
        let kept = stacks.iter().filter_map(|(stack, samples)| {
            // A stack with a function beyond the bound is not kept.
            let frames = stack.iter().map(|name| numbers.get(name).copied()).collect::<Option<_>>()?;
            Some(SampledStack { frames, samples: *samples })
        });
        let mut kept: Vec<SampledStack> = kept.collect();
        kept.sort_by_key(|stack| std::cmp::Reverse(stack.samples));
        kept.truncate(MOST_STACKS);
        Self {
            means: SamplingScope::Cpus,
            period,
            message: message * samples as f64 / (samples - in_softirqs).max(1) as f64,
            samples,
            elsewhere,
            lost: parts.iter().fold(0, |lost, part| part.lost.saturating_add(lost)),
            functions,
            stacks: kept,
        }
    }

    /// The cost of each function that ran in a sample, the dearest first.
    pub fn costs(&self) -> Vec<FunctionCost> {
        let all = self.samples.max(1) as f64;
        let cost = |own: &SampledFunction| {
            let share = own.samples as f64 / all;
            let error = own.error.unwrap_or_else(|| (all * share * (1.0 - share)).max(0.0).sqrt());
            let error = self.message * error / all;
            FunctionCost { name: own.name.clone(), share, cost: self.message * share, error }
        };
        self.functions.iter().filter(|own| own.samples > 0).map(cost).collect()
    }

    /// The cost of a message that one sample stands for.
    pub fn sample(&self) -> f64 {
        self.message / self.samples.max(1) as f64
    }

    /// The stacks that were kept, by names, with the cost of each for a message.
    pub fn folded(&self) -> impl Iterator<Item = (Vec<&str>, f64)> {
        let each = self.sample();
        let name = |index: &u16| self.functions.get(usize::from(*index)).map(|own| own.name.as_str());
        self.stacks
            .iter()
            .map(move |stack| (stack.frames.iter().filter_map(name).collect(), each * stack.samples as f64))
    }

    /// The cost for a message of the stacks that were not kept.
    pub fn other(&self) -> f64 {
        let kept: u64 = self.stacks.iter().map(|stack| stack.samples).sum();
        self.message * self.samples.saturating_sub(kept) as f64 / self.samples.max(1) as f64
    }

    /// Whether its parts fit each other, within the bounds.
    pub fn is_sound(&self) -> bool {
        let fits = |counts: Vec<u64>| {
            let sum = counts.into_iter().try_fold(0u64, u64::checked_add);
            sum.is_some_and(|sum| sum <= self.samples)
        };
        let is_known = |index: &u16| usize::from(*index) < self.functions.len();
        let stack =
            |stack: &SampledStack| stack.frames.len() <= MOST_FRAMES + 1 && stack.frames.iter().all(is_known);
        self.message.is_finite()
            && self.message >= 0.0
            && self.functions.len() <= MOST_FUNCTIONS
            && self.stacks.len() <= MOST_STACKS
            && self.stacks.iter().all(stack)
            && self.functions.iter().all(|own| own.error.is_none_or(|error| error >= 0.0))
            && fits(self.functions.iter().map(|own| own.samples).collect())
            && fits(self.stacks.iter().map(|stack| stack.samples).collect())
    }
}

/// The standard error of the sum of these counts, out of `all` samples of each part.
fn error_of_count(counts: &[u64], all: &[u64]) -> Option<f64> {
    // Samples of one part depend on each other, because messages take the same time each; those of
    // two parts, whose periods differ, do not (W. G. Cochran, Sampling Techniques, 3rd ed., 1977,
    // section 3.12: the variance of a proportion by clusters of unlike sizes).
    let parts = counts.len() as f64;
    let share = counts.iter().sum::<u64>() as f64 / all.iter().sum::<u64>().max(1) as f64;
    let apart = |(count, all): (&u64, &u64)| (*count as f64 - share * *all as f64).powi(2);
    let apart: f64 = counts.iter().zip(all).map(apart).sum();
    (parts > 1.0).then(|| (apart * parts / (parts - 1.0)).sqrt())
}

#[cfg(test)]
mod tests;

//! CPU time by function: samples of the kernel's stacks at ticks of its own timer
//! (`PERF_COUNT_SW_CPU_CLOCK`), which virtual machines have too, in instructions where a clock
//! counts these.

#![expect(missing_docs, reason = "most fields and variants are clear by their names")]

mod profile;
mod sampler;
mod symbols;

pub use profile::{
    FunctionCost, MOST_FRAMES, MOST_FUNCTIONS, MOST_STACKS, Profile, SampledFunction, SampledStack,
    SamplingScope,
};
pub use sampler::{SampleBatch, Sampler, StackSample, frequency, softirq_threads};
pub use symbols::Symbols;

//! CPU time by function: samples of the kernel's stacks at a timer's ticks.
//!
//! The timer is the kernel's own (`PERF_COUNT_SW_CPU_CLOCK`): it needs no counter of the hardware,
//! so that it ticks in virtual machines too, in instructions where these are what a clock counts.

mod profile;
mod sampler;
mod symbols;

pub use profile::{
    FunctionCost, MOST_FRAMES, MOST_FUNCTIONS, MOST_STACKS, Profile, SampledFunction, SampledStack,
    SamplingScope,
};
pub use sampler::{SampleBatch, Sampler, StackSample, frequency, softirq_threads};
pub use symbols::Symbols;

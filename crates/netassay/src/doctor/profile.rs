//! Whether the functions that take the CPU can be sampled here.

use host::perf::{Sampler, SamplingScope, Symbols, frequency};

use super::finding::Finding;

/// One finding: opens what `netassay trace --profile` opens, and takes no sample.
pub(super) fn findings() -> Vec<Finding> {
    const NAME: &str = "profile";
    let opened = Sampler::open(1_000_000_000 / u64::from(frequency(false)), &[std::process::id()]);
    let means = opened.map_err(|error| error.to_string()).and_then(|sampler| {
        Symbols::read().map_err(|error| error.to_string())?;
        Ok(sampler.means())
    });
    vec![match means {
        Ok(SamplingScope::Cpus) => Finding::ok("tracing", NAME, "yes: the kernel's CPU clock samples CPUs"),
        Ok(SamplingScope::Threads) => {
            Finding::ok("tracing", NAME, "yes: the kernel's CPU clock samples own threads")
        }
        Err(why) => Finding::warn(
            "tracing",
            NAME,
            format!("no: {why}"),
            "without: `netassay trace --profile` works in a virtual machine only",
        ),
    }]
}

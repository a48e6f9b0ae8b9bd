//! The kinds of probe that a kernel allows, best first; and the sampling of functions.

use host::perf::{Sampler, Symbols, frequency};
use results::Finding;
use trace::{Availability, LadderStep, ProbeLadder};

const AREA: &str = "tracing";

pub(super) fn findings(ladder: &ProbeLadder) -> Vec<Finding> {
    let finding = |step: &LadderStep| {
        let what = format!("{}: {}", step.verdict, step.reason);
        let without = format!("without: {}", step.without);
        match step.verdict {
            // Only tracing needs it.
            Availability::No => Finding::warn(AREA, &step.name, what, without),
            Availability::NotTried => Finding { fix: Some(without), ..Finding::ok(AREA, &step.name, what) },
            Availability::Yes => Finding::ok(AREA, &step.name, what),
        }
    };
    ladder.0.iter().map(finding).collect()
}

pub(super) fn profile() -> Finding {
    const NAME: &str = "profile";
    // Opens what `trace.profile=true` of `netassay trace` opens, and takes no sample.
    match Sampler::open(1_000_000_000 / u64::from(frequency(false))).and_then(|_| Symbols::read()) {
        Ok(_) => Finding::ok(AREA, NAME, "yes: the kernel's CPU clock samples CPUs"),
        Err(why) => {
            let without = "without: `netassay trace … trace.profile=true` works in a virtual machine only";
            Finding::warn(AREA, NAME, format!("no: {why}"), without)
        }
    }
}

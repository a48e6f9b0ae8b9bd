//! The kinds of probe that a kernel allows, best first; and the sampling of functions.

use std::borrow::Cow;

use host::perf::{Sampler, Symbols, frequency};
use serde::{Deserialize, Serialize};
use trace::{Availability, LadderStep, ProbeLadder};

use super::finding::Finding;

const AREA: &str = "tracing";

/// A rung of the ladder, with what it is for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rung {
    #[serde(flatten)]
    step: LadderStep,
    name: Cow<'static, str>,
    /// The loss of a trace without it.
    without: Cow<'static, str>,
}

pub(crate) fn rungs(ladder: &ProbeLadder) -> Vec<Rung> {
    let rung = |step: &LadderStep| Rung {
        step: step.clone(),
        name: step.rung.name().into(),
        without: step.rung.without().into(),
    };
    ladder.0.iter().map(rung).collect()
}

impl Rung {
    pub(crate) fn sentence(&self) -> String {
        let Self { step, name, without } = self;
        let mut said = format!("{name}: {}: {}", step.verdict, step.reason);
        if step.verdict != Availability::Yes {
            said.push_str(&format!("; without: {without}"));
        }
        said
    }
}

/// Nothing but tracing needs a rung, so a missing one is only a warning.
pub(super) fn findings(ladder: &ProbeLadder) -> Vec<Finding> {
    let finding = |rung: Rung| {
        let what = format!("{}: {}", rung.step.verdict, rung.step.reason);
        let without = format!("without: {}", rung.without);
        match rung.step.verdict {
            Availability::No => Finding::warn(AREA, rung.name, what, without),
            Availability::NotTried => Finding { fix: Some(without), ..Finding::ok(AREA, rung.name, what) },
            Availability::Yes => Finding::ok(AREA, rung.name, what),
        }
    };
    rungs(ladder).into_iter().map(finding).collect()
}

/// One finding: opens what `trace.profile=true` of `netassay trace` opens, and takes no sample.
pub(super) fn profile() -> Finding {
    const NAME: &str = "profile";
    let opened = Sampler::open(1_000_000_000 / u64::from(frequency(false)));
    match opened.and_then(|_| Symbols::read()) {
        Ok(_) => Finding::ok(AREA, NAME, "yes: the kernel's CPU clock samples CPUs"),
        Err(why) => Finding::warn(
            AREA,
            NAME,
            format!("no: {why}"),
            "without: `netassay trace … trace.profile=true` works in a virtual machine only",
        ),
    }
}

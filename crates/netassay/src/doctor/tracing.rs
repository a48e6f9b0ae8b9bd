//! The kinds of probe that a kernel allows, best first.

use std::borrow::Cow;

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
    /// What a trace loses without it.
    without: Cow<'static, str>,
}

/// All rungs of a ladder.
pub(crate) fn rungs(ladder: &ProbeLadder) -> Vec<Rung> {
    let rung = |step: &LadderStep| Rung {
        step: step.clone(),
        name: step.rung.name().into(),
        without: step.rung.without().into(),
    };
    ladder.0.iter().map(rung).collect()
}

impl Rung {
    /// As a sentence.
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

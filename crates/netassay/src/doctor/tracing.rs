//! The kinds of probe that a kernel allows, best first.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use trace::{Ladder, Step, Verdict};

use super::finding::Finding;

const AREA: &str = "tracing";

/// A rung of the ladder, with what it is for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rung {
    #[serde(flatten)]
    step: Step,
    name: Cow<'static, str>,
    /// What a trace loses without it.
    without: Cow<'static, str>,
}

/// All rungs of a ladder.
pub(crate) fn rungs(ladder: &Ladder) -> Vec<Rung> {
    let rung = |step: &Step| Rung {
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
        if step.verdict != Verdict::Yes {
            said.push_str(&format!("; without: {without}"));
        }
        said
    }
}

/// Nothing but tracing needs a rung, so a missing one is only a warning.
pub(super) fn findings(ladder: &Ladder) -> Vec<Finding> {
    let finding = |rung: Rung| {
        let what = format!("{}: {}", rung.step.verdict, rung.step.reason);
        let without = format!("without: {}", rung.without);
        match rung.step.verdict {
            Verdict::No if rung.step.rung.is_used() => Finding::warn(AREA, rung.name, what, without),
            Verdict::No | Verdict::NotTried => {
                Finding { fix: Some(without), ..Finding::ok(AREA, rung.name, what) }
            }
            Verdict::Yes => Finding::ok(AREA, rung.name, what),
        }
    };
    rungs(ladder).into_iter().map(finding).collect()
}

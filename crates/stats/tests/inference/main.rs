//! `analyse` on whole data sets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod any;
mod cases;
mod moderated;
mod r;

use netassay_stats::{Correction, Question};

pub(crate) fn alone(baseline: usize) -> Question {
    Question { correction: Correction::None, ..Question::against(baseline) }
}

#[track_caller]
pub(crate) fn close(name: &str, got: f64, expected: f64, tolerance: f64) {
    assert!(
        (got - expected).abs() <= tolerance,
        "{name}: {got} instead of {expected}, off by more than {tolerance}"
    );
}

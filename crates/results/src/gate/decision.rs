//! The gate: does a study keep its bounds against its baseline?

use crate::{GateBaseline, GateCases, StudyDifference, StudyRef};
use serde::Serialize;
use thiserror::Error;

use crate::gate::acknowledged::Acknowledgement;
use crate::gate::bound::Bound;
use crate::gate::check::{GateCheck, GateOutcome};
use crate::gate::judge::judge;

/// The request to a gate: bounds and error rates.
#[derive(Debug, Clone)]
pub struct GateRequest {
    /// The bounds.
    pub bounds: Vec<Bound>,
    /// The confidence, between 0.5 and 1: a gate errs at most with the rest.
    pub confidence: f64,
    /// The outcome of the gate if no check fails and some are inconclusive.
    pub inconclusive: GateOutcome,
    /// Whether a study that lacks planned runs, or conditions of the baseline, cannot pass.
    pub require_complete: bool,
    /// Regressions that people know of.
    pub acknowledged: Vec<Acknowledgement>,
}

/// A reason why a gate cannot judge.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the names of its variants say it")]
pub enum GateError {
    #[error("a gate needs a bound: add --fail-if 'throughput < -2%'")]
    NoBound,
    #[error("{0} and {1} limit the same: keep one of them")]
    SameBound(Bound, Bound),
    #[error("a confidence of {0} % is not possible: use more than 50 and less than 100, such as 95")]
    Confidence(f64),
    #[error(transparent)]
    Report(#[from] crate::Error),
}

/// The decision of a gate.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct GateDecision {
    pub outcome: GateOutcome,
    pub study: StudyRef,
    pub baseline: GateBaseline,
    pub confidence: f64,
    /// The outcome as which inconclusive checks count.
    pub inconclusive_counts_as: GateOutcome,
    pub checks: Vec<GateCheck>,
    /// The acknowledgements that have no effect.
    pub unused: Vec<Acknowledgement>,
    /// The reasons why the study is not complete, as sentences without full stops.
    pub lacks: Vec<String>,
    /// Whether that keeps it from passing.
    pub require_complete: bool,
    /// The differences between the machines and plans of both studies, the weightiest first.
    pub differences: Vec<StudyDifference>,
    pub notes: Vec<String>,
    pub method: Vec<String>,
}

impl GateDecision {
    /// Judges the cases of a study.
    ///
    /// # Errors
    /// [`GateError`].
    pub fn judge(cases: GateCases, request: &GateRequest) -> Result<Self, GateError> {
        let GateRequest { bounds, confidence, acknowledged, .. } = request;
        check_request(bounds, *confidence)?;
        let (checks, unused) = judge(&cases.all, bounds, acknowledged, 1.0 - confidence)?;
        let mut gate = Self {
            outcome: GateOutcome::Pass,
            study: cases.study,
            baseline: cases.baseline,
            confidence: *confidence,
            inconclusive_counts_as: request.inconclusive,
            checks,
            unused,
            lacks: cases.lacks,
            require_complete: request.require_complete,
            differences: cases.differences,
            notes: cases.notes,
            method: Vec::new(),
        };
        gate.outcome = gate.decided();
        gate.notes.extend(cases.truth.map(str::to_owned));
        gate.method = gate.sentences_on_method();
        Ok(gate)
    }

    /// The number of checks with this outcome.
    pub fn count(&self, outcome: GateOutcome) -> usize {
        self.checks.iter().filter(|check| check.outcome == outcome).count()
    }

    /// Whether campaigns are judged, by pairs of machines.
    pub fn is_over_pairs(&self) -> bool {
        self.study.campaign.is_some()
    }

    /// Whether it cannot pass because the study lacks something.
    pub fn is_kept_back(&self) -> bool {
        self.require_complete && !self.lacks.is_empty()
    }

    fn decided(&self) -> GateOutcome {
        let is_open = self.count(GateOutcome::Inconclusive) > 0;
        match self.inconclusive_counts_as {
            _ if self.count(GateOutcome::Fail) > 0 => GateOutcome::Fail,
            // A lacking measurement shows nothing, whatever inconclusive checks count as.
            GateOutcome::Pass if self.is_kept_back() => GateOutcome::Inconclusive,
            counts_as if is_open || self.is_kept_back() => counts_as,
            _ => GateOutcome::Pass,
        }
    }

    fn sentences_on_method(&self) -> Vec<String> {
        let is_timed = |check: &&GateCheck| check.interval.is_some() && !check.is_counted;
        let confidence = stats::confidence(self.confidence);
        let error_rate = match self.checks.iter().filter(is_timed).count() {
            0 => None,
            1 => Some(format!("each end of the interval holds by itself with {confidence} % confidence")),
            timed => Some(format!(
                "intervals are one-sided at each end: the end that decides a failure holds for all {timed} checks together with {confidence} % confidence (Holm), the end that decides a pass for each check with {confidence} %, since the gate passes only if every check does"
            )),
        };
        let is_over_pairs = self.is_over_pairs();
        let is_between =
            error_rate.is_some() && !is_over_pairs && matches!(self.baseline, GateBaseline::Study(_));
        let is_counted = self.checks.iter().any(|check| check.is_counted);
        let passes_open =
            self.inconclusive_counts_as == GateOutcome::Pass && self.count(GateOutcome::Inconclusive) > 0;
        let sentence = |applies: bool, words: &str| applies.then(|| words.to_owned());
        [
            sentence(true, "a check fails where its whole interval lies beyond the bound, passes where none of it does, and is inconclusive otherwise"),
            error_rate,
            sentence(is_between, "boots of different studies are never paired: each study has its own spread between boots (Welch)"),
            sentence(is_over_pairs, "each pair of machines that both campaigns measured counts once: its difference is one value, in percentages that of its own baseline, and intervals have degrees of freedom by pairs"),
            sentence(is_counted, "counts of instructions are judged by how well they repeat (0.1 %); they have no error rate"),
            sentence(passes_open, "inconclusive checks count as passed, as asked: nothing is shown for them"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Rejects an invalid request before any study is read.
///
/// # Errors
/// [`GateError`].
pub fn check_request(bounds: &[Bound], confidence: f64) -> Result<(), GateError> {
    if bounds.is_empty() {
        return Err(GateError::NoBound);
    }
    if !(confidence > 0.5 && confidence < 1.0) {
        return Err(GateError::Confidence(100.0 * confidence));
    }
    for (place, bound) in bounds.iter().enumerate() {
        if let Some(same) = bounds[..place].iter().find(|same| same.is_of_same(bound)) {
            return Err(GateError::SameBound(*same, *bound));
        }
    }
    Ok(())
}

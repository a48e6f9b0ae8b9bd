//! The method of a gate, in sentences without full stops.

use crate::GateBaseline;

use crate::gate::check::{GateCheck, GateOutcome};

pub(crate) fn method(
    checks: &[GateCheck],
    against: &GateBaseline,
    confidence: f64,
    inconclusive_counts_as: GateOutcome,
) -> Vec<String> {
    let timed = checks.iter().filter(|check| check.interval.is_some() && !check.is_counted).count();
    let is_open = checks.iter().any(|check| check.outcome == GateOutcome::Inconclusive);
    let confidence = stats::confidence(confidence);
    let mut method = vec![
        "a check fails where its whole interval lies beyond the bound, passes where none of it does, and is inconclusive otherwise".to_owned(),
    ];
    if timed > 1 {
        method.push(format!(
            "intervals are one-sided at each end: the end that decides a failure holds for all {timed} checks together with {confidence} % confidence (Holm), the end that decides a pass for each check with {confidence} %, since the gate passes only if every check does"
        ));
    } else if timed == 1 {
        method.push(format!("each end of the interval holds by itself with {confidence} % confidence"));
    }
    if timed > 0 && matches!(against, GateBaseline::Study(_)) {
        method.push("boots of different studies are never paired: each study has its own spread between boots (Welch)".to_owned());
    }
    if checks.iter().any(|check| check.is_counted) {
        method.push(
            "counts of instructions are judged by how well they repeat (0.1 %); they have no error rate"
                .to_owned(),
        );
    }
    if inconclusive_counts_as == GateOutcome::Pass && is_open {
        method.push("inconclusive checks count as passed, as asked: nothing is shown for them".to_owned());
    }
    method
}

//! The decision of a gate as JUnit XML, which CI servers read.
//!
//! JUnit XML has no standard; this is the common part that Jenkins' schema, GitLab and the GitHub
//! actions for it know: `testsuites`, `testsuite`, `testcase`, and in a case `failure`, `error`,
//! `skipped` or `system-out`.

use results::gate::{GateCheck, GateDecision, GateOutcome};

use super::gate::{check_sentence, subject};
use crate::chart::Markup;
use crate::fixed;

/// The element that says why a case does not pass, with the type of the reason.
type CaseReason = Option<(&'static str, &'static str)>;

/// The decision as JUnit XML: a case for each check. A failed check is a failure; an inconclusive
/// check is an error, or skipped if inconclusive checks count as passed.
pub fn gate_junit(gate: &GateDecision) -> String {
    let troubles: Vec<CaseReason> = gate.checks.iter().map(|check| trouble(gate, check)).collect();
    let incomplete = incomplete(gate);
    let all = || troubles.iter().chain(gate.require_complete.then_some(&incomplete));
    let count = |name: &str| all().flatten().filter(|(element, _)| *element == name).count() as f64;
    let counts = [
        ("tests", (all().count() as f64).into()),
        ("failures", count("failure").into()),
        ("errors", count("error").into()),
        ("skipped", count("skipped").into()),
    ];
    let subject = subject(gate);
    let mut xml = Markup::new();
    xml.fixed(fixed!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
    xml.element("testsuites", &[&[("name", "netassay gate".into())], &counts[..]].concat(), |xml| {
        xml.element("testsuite", &[&[("name", subject.as_str().into())], &counts[..]].concat(), |xml| {
            for (check, trouble) in gate.checks.iter().zip(&troubles) {
                let class = check.bound.to_string();
                write_case(xml, [&class, &check.condition], *trouble, &check_sentence(gate, check));
            }
            if gate.require_complete {
                let message = match gate.lacks.as_slice() {
                    [] => "every planned run is recorded".to_owned(),
                    lacks => lacks.join("; "),
                };
                write_case(xml, ["study", "complete"], incomplete, &message);
            }
        });
    });
    format!("{xml}\n")
}

fn trouble(gate: &GateDecision, check: &GateCheck) -> CaseReason {
    match (check.outcome, gate.inconclusive_counts_as) {
        (GateOutcome::Pass, _) => None,
        (GateOutcome::Fail, _) => Some(("failure", "regression")),
        (GateOutcome::Inconclusive, GateOutcome::Pass) => Some(("skipped", "inconclusive")),
        (GateOutcome::Inconclusive, GateOutcome::Fail) => Some(("failure", "inconclusive")),
        (GateOutcome::Inconclusive, GateOutcome::Inconclusive) => Some(("error", "inconclusive")),
    }
}

fn incomplete(gate: &GateDecision) -> CaseReason {
    let element = if gate.inconclusive_counts_as == GateOutcome::Fail { "failure" } else { "error" };
    gate.is_kept_back().then_some((element, "incomplete"))
}

fn write_case(xml: &mut Markup, [class, name]: [&str; 2], trouble: CaseReason, message: &str) {
    let attributes = [("classname", class.into()), ("name", name.into())];
    xml.element("testcase", &attributes, |xml| match trouble {
        // The elements with a message all mean that a case does not pass.
        None => xml.element("system-out", &[], |xml| xml.text(message)),
        Some(("skipped", _)) => xml.empty("skipped", &[("message", message.into())]),
        Some((element, kind)) => {
            let attributes = [("type", kind.into()), ("message", message.into())];
            xml.element(element, &attributes, |xml| xml.text(message));
        }
    });
}

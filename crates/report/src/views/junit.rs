//! The decision of a gate as JUnit XML, which CI servers read.
//!
//! JUnit XML has no standard; this is the common part that Jenkins' schema, GitLab and the GitHub
//! actions for it know: `testsuites`, `testsuite`, `testcase`, and in a case `failure`, `error`,
//! `skipped` or `system-out`.

use results::gate::{Gate, GateOutcome};

use super::gate::{check_sentence, subject};
use crate::chart::Markup;
use crate::fixed;

struct TestCase {
    class: String,
    name: String,
    /// The element that says why it does not pass, with the type of the reason.
    element: Option<(&'static str, &'static str)>,
    /// The message, and the text of a case that passes.
    message: String,
}

/// The decision as JUnit XML: a case for each check. A failed check is a failure; an inconclusive
/// check is an error, or skipped if inconclusive checks count as passed.
#[must_use]
pub fn gate_junit(gate: &Gate) -> String {
    let cases = cases(gate);
    let is = |case: &&TestCase, name: &str| case.element.is_some_and(|(element, _)| element == name);
    let count = |name: &str| cases.iter().filter(|case| is(case, name)).count() as f64;
    let counts = [
        ("tests", (cases.len() as f64).into()),
        ("failures", count("failure").into()),
        ("errors", count("error").into()),
        ("skipped", count("skipped").into()),
    ];
    let subject = subject(gate);
    let mut xml = Markup::new();
    xml.fixed(fixed!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
    xml.element("testsuites", &[&[("name", "netassay gate".into())], &counts[..]].concat(), |xml| {
        xml.element("testsuite", &[&[("name", subject.as_str().into())], &counts[..]].concat(), |xml| {
            cases.iter().for_each(|case| case.write(xml));
        });
    });
    format!("{xml}\n")
}

/// A case for each check and, if a complete study is required, one for that.
fn cases(gate: &Gate) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for check in &gate.checks {
        let element = match (check.outcome, gate.inconclusive_counts_as) {
            (GateOutcome::Pass, _) => None,
            (GateOutcome::Fail, _) => Some(("failure", "regression")),
            (GateOutcome::Inconclusive, GateOutcome::Pass) => Some(("skipped", "inconclusive")),
            (GateOutcome::Inconclusive, GateOutcome::Fail) => Some(("failure", "inconclusive")),
            (GateOutcome::Inconclusive, GateOutcome::Inconclusive) => Some(("error", "inconclusive")),
        };
        let (class, name) = (check.bound.to_string(), check.condition.clone());
        cases.push(TestCase { class, name, element, message: check_sentence(check) });
    }
    if gate.require_complete {
        let is_failure = gate.inconclusive_counts_as == GateOutcome::Fail;
        let element = if is_failure { "failure" } else { "error" };
        let message = match gate.lacks.as_slice() {
            [] => "every planned run is recorded".to_owned(),
            lacks => lacks.join("; "),
        };
        let element = gate.is_kept_back().then_some((element, "incomplete"));
        cases.push(TestCase { class: "study".to_owned(), name: "complete".to_owned(), element, message });
    }
    cases
}

impl TestCase {
    fn write(&self, xml: &mut Markup) {
        let message = self.message.as_str();
        let attributes = [("classname", (&self.class).into()), ("name", (&self.name).into())];
        xml.element("testcase", &attributes, |xml| match self.element {
            None => xml.element("system-out", &[], |xml| xml.text(message)),
            Some(("skipped", _)) => xml.empty("skipped", &[("message", message.into())]),
            Some((element, kind)) => {
                let attributes = [("type", kind.into()), ("message", message.into())];
                xml.element(element, &attributes, |xml| xml.text(message));
            }
        });
    }
}

//! The decision of a gate as JUnit XML, which CI servers read.
//!
//! JUnit XML has no standard; this is the common part that Jenkins' schema, GitLab and the GitHub
//! actions for it know: `testsuites`, `testsuite`, `testcase`, and in a case `failure`, `error`,
//! `skipped` or `system-out`.

use crate::chart::Markup;
use crate::fixed;

use crate::gate::check::{GateCheck, GateOutcome};
use crate::gate::decision::Gate;
use crate::gate::sentences;

impl Gate {
    /// The decision as JUnit XML: a case for each check. A failed check is a failure; an
    /// inconclusive check is an error, or skipped if inconclusive checks count as passed.
    #[must_use]
    pub fn junit(&self) -> String {
        let mut xml = Markup::new();
        xml.fixed(fixed!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
        let is_complete_asked = self.require_complete;
        let kept_back = usize::from(self.is_kept_back());
        let open = self.count(GateOutcome::Inconclusive);
        let counts_as_fail = self.inconclusive_counts_as == GateOutcome::Fail;
        let tests = self.checks.len() + usize::from(is_complete_asked);
        let failures = self.count(GateOutcome::Fail) + if counts_as_fail { open + kept_back } else { 0 };
        let skipped = if self.inconclusive_counts_as == GateOutcome::Pass { open } else { 0 };
        let errors = match self.inconclusive_counts_as {
            GateOutcome::Fail => 0,
            GateOutcome::Inconclusive => open + kept_back,
            GateOutcome::Pass => kept_back,
        };
        let subject = sentences::subject(self);
        let counts = [
            ("tests", (tests as f64).into()),
            ("failures", (failures as f64).into()),
            ("errors", (errors as f64).into()),
            ("skipped", (skipped as f64).into()),
        ];
        xml.element("testsuites", &[&[("name", "netassay gate".into())], &counts[..]].concat(), |xml| {
            xml.element("testsuite", &[&[("name", subject.as_str().into())], &counts[..]].concat(), |xml| {
                for check in &self.checks {
                    self.case(xml, check);
                }
                if is_complete_asked {
                    self.completeness(xml);
                }
            });
        });
        format!("{xml}\n")
    }

    fn case(&self, xml: &mut Markup, check: &GateCheck) {
        let (bound, said) = (check.bound.to_string(), sentences::check_sentence(check));
        let kind = match (check.outcome, self.inconclusive_counts_as) {
            (GateOutcome::Pass, _) => None,
            (GateOutcome::Fail, _) => Some(("failure", "regression")),
            (GateOutcome::Inconclusive, GateOutcome::Pass) => Some(("skipped", "inconclusive")),
            (GateOutcome::Inconclusive, GateOutcome::Fail) => Some(("failure", "inconclusive")),
            (GateOutcome::Inconclusive, GateOutcome::Inconclusive) => Some(("error", "inconclusive")),
        };
        test_case(xml, &bound, &check.condition, kind, &said);
    }

    fn completeness(&self, xml: &mut Markup) {
        let kind = self.is_kept_back().then_some(match self.inconclusive_counts_as {
            GateOutcome::Fail => ("failure", "incomplete"),
            _ => ("error", "incomplete"),
        });
        let said = if self.lacks.is_empty() {
            "every planned run is recorded".to_owned()
        } else {
            self.lacks.join("; ")
        };
        test_case(xml, "study", "complete", kind, &said);
    }
}

/// A test case. Its sentence is the message, and the text of a case that passes.
fn test_case(
    xml: &mut Markup,
    class: &str,
    name: &str,
    kind: Option<(&'static str, &'static str)>,
    said: &str,
) {
    xml.element("testcase", &[("classname", class.into()), ("name", name.into())], |xml| match kind {
        None => xml.element("system-out", &[], |xml| xml.text(said)),
        Some(("skipped", _)) => xml.empty("skipped", &[("message", said.into())]),
        Some((element, kind)) => {
            xml.element(element, &[("type", kind.into()), ("message", said.into())], |xml| xml.text(said));
        }
    });
}

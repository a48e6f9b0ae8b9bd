//! What a session found, step by step; printed at its end, whatever the end is.

use std::fmt;

use crate::times::{Outcome, Test};

#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Name, seconds, and whether it failed.
    pub(crate) steps: Vec<(&'static str, f64, bool)>,
    pub(crate) tests: Vec<Test>,
    /// Tests and checks that tested nothing, each with the reason.
    pub(crate) skips: Vec<String>,
    /// Sentences that are no failure.
    pub(crate) notes: Vec<String>,
}

impl Report {
    pub(crate) fn add_tests(&mut self, tests: Vec<Test>) {
        for test in &tests {
            if let Outcome::Skipped(reason) = &test.outcome {
                self.skips.push(format!("{}: {reason}", test.id()));
            }
        }
        self.tests.extend(tests);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))?;
        self.skips.iter().try_for_each(|skip| writeln!(f, "skipped: {skip}"))?;
        writeln!(f)?;
        for (name, seconds, has_failed) in &self.steps {
            writeln!(f, "{name:<12} {seconds:>7.1} s{}", if *has_failed { "  FAILED" } else { "" })?;
        }
        writeln!(f, "total        {:>7.1} s", self.steps.iter().map(|(_, seconds, _)| seconds).sum::<f64>())?;
        let count = |outcome| self.tests.iter().filter(|test| test.outcome == outcome).count();
        let (passed, failed) = (count(Outcome::Passed), count(Outcome::Failed));
        // CI servers read this line: it stays alone and last.
        writeln!(f, "{passed} passed, {failed} failed, {} skipped", self.skips.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_ends_with_the_counts() {
        let mut report = Report::default();
        report.add_tests(crate::times::of_junit(crate::times::EXAMPLE).unwrap());
        report.notes.push("a note".into());
        report.skips.push("scripts: no shellcheck".into());
        report.steps = vec![("format", 1.234, false), ("clippy", 100.0, true)];
        let expected = "\
note: a note
skipped: nx::it tests::a: no <root> &lt; here; nor a kernel
skipped: scripts: no shellcheck

format           1.2 s
clippy         100.0 s  FAILED
total          101.2 s
1 passed, 2 failed, 2 skipped
";
        assert_eq!(report.to_string(), expected);
    }
}

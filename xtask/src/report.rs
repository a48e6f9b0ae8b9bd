//! What a job saw, step by step: printed at the end, whatever the end is.

use std::fmt;
use std::time::Duration;

use crate::tally::{Said, Skip, Tally};

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Ok,
    Failed,
    /// The tool for it is not there and need not be.
    NotRun,
}

/// Everything that is told after the last step.
#[derive(Debug, Default)]
pub(crate) struct Report {
    steps: Vec<(&'static str, Duration, Ending)>,
    tally: Tally,
    skips: Vec<Skip>,
    notes: Vec<String>,
}

impl Report {
    /// Adds what a test runner said.
    pub(crate) fn tests(&mut self, said: Said) {
        self.tally.add(said.tally);
        self.skips.extend(said.skips);
    }

    /// Adds a check that could not be made.
    pub(crate) fn skip(&mut self, test: &str, reason: impl Into<String>) {
        self.tally.skipped += 1;
        self.skips.push(Skip { test: test.to_owned(), reason: reason.into() });
    }

    /// Adds something worth saying that is no failure.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Closes a step.
    pub(crate) fn step(&mut self, name: &'static str, time: Duration, ending: Ending) {
        self.steps.push((name, time, ending));
    }

    /// How many skips there are so far.
    pub(crate) fn skips(&self) -> usize {
        self.skips.len()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        for Skip { test, reason } in &self.skips {
            writeln!(f, "skipped: {test}: {reason}")?;
        }
        let width = self.steps.iter().map(|(name, ..)| name.len()).max().unwrap_or(0).max("total".len());
        let total: Duration = self.steps.iter().map(|(_, time, _)| *time).sum();
        writeln!(f)?;
        for (name, time, ending) in &self.steps {
            let ending = match ending {
                Ending::Ok => "",
                Ending::Failed => "  FAILED",
                Ending::NotRun => "  not run",
            };
            writeln!(f, "{name:<width$} {}{ending}", seconds(*time))?;
        }
        writeln!(f, "{:<width$} {}", "total", seconds(total))?;
        writeln!(f, "{}", self.tally)
    }
}

fn seconds(time: Duration) -> String {
    format!("{:>7.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_ends_with_the_counts() {
        let mut report = Report::default();
        report.note("a note");
        let skip = Skip { test: "load tests::a".into(), reason: "no root".into() };
        report.tests(Said { tally: Tally { passed: 9, failed: 0, skipped: 1 }, skips: vec![skip] });
        report.skip("scripts", "no shellcheck");
        report.step("format", Duration::from_millis(1234), Ending::Ok);
        report.step("deny", Duration::ZERO, Ending::NotRun);
        report.step("clippy", Duration::from_secs(100), Ending::Failed);
        let expected = "\
note: a note
skipped: load tests::a: no root
skipped: scripts: no shellcheck

format     1.2 s
deny       0.0 s  not run
clippy   100.0 s  FAILED
total    101.2 s
9 passed, 0 failed, 2 skipped
";
        assert_eq!(report.to_string(), expected);
        assert_eq!(report.skips(), 2);
    }
}

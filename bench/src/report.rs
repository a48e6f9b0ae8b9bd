//! What a bench found, for people and for programs.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::machine::Machine;
use crate::table::Table;

/// One bench's report.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    bench: &'static str,
    machine: Machine,
    #[serde(skip)]
    pub(crate) table: Table,
    /// Everything in the table, and every single figure.
    pub(crate) results: Value,
    pub(crate) goals: Vec<Goal>,
    /// What a reader must know of how the figures came about.
    pub(crate) notes: Vec<String>,
    /// What could not be run, and why.
    pub(crate) not_run: Vec<String>,
}

impl Report {
    /// A report without anything in it. The machine is read here, before the bench begins.
    pub(crate) fn begin(bench: &'static str, table: Table) -> Self {
        Self {
            bench,
            machine: Machine::read(),
            table,
            results: Value::Null,
            goals: Vec::new(),
            notes: Vec::new(),
            not_run: Vec::new(),
        }
    }

    /// The report, once the bench is over.
    pub(crate) fn finish(mut self) -> Self {
        self.machine.finish();
        self
    }

    /// Was everything run?
    pub(crate) fn is_complete(&self) -> bool {
        self.not_run.is_empty()
    }

    /// Notes something once, however often it comes up.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The report as one line of JSON.
    pub(crate) fn json(&self) -> Result<String, Failure> {
        let line = serde_json::to_string(self).map_err(|error| Failure::Internal(error.to_string()))?;
        Ok(line + "\n")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "bench {}", self.bench)?;
        write!(f, "{}\n{}", self.machine, self.table)?;
        let blank = |f: &mut fmt::Formatter<'_>, any: bool| if any { writeln!(f) } else { Ok(()) };
        blank(f, !self.goals.is_empty())?;
        for goal in &self.goals {
            writeln!(f, "  {goal}")?;
        }
        blank(f, !self.notes.is_empty())?;
        for note in &self.notes {
            writeln!(f, "  note: {note}")?;
        }
        blank(f, !self.not_run.is_empty())?;
        for missing in &self.not_run {
            writeln!(f, "  NOT RUN: {missing}")?;
        }
        Ok(())
    }
}

/// On which side of its limit a figure must lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    Under,
    AtMost,
    AtLeast,
}

/// A figure that netassay has set itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Goal {
    what: String,
    figure: f64,
    bound: Bound,
    limit: f64,
    unit: &'static str,
    met: bool,
    /// Where the true figure lies with at least 95 %, if that is known.
    interval: Option<(f64, f64)>,
}

impl Goal {
    /// A figure that must stay under a limit.
    pub(crate) fn under(what: impl Into<String>, figure: f64, limit: f64, unit: &'static str) -> Self {
        Self::new(what, figure, (Bound::Under, limit), unit)
    }

    /// A figure on the right side of its limit.
    pub(crate) fn new(
        what: impl Into<String>,
        figure: f64,
        (bound, limit): (Bound, f64),
        unit: &'static str,
    ) -> Self {
        let met = match bound {
            Bound::Under => figure < limit,
            Bound::AtMost => figure <= limit,
            Bound::AtLeast => figure >= limit,
        };
        Self { what: what.into(), figure, bound, limit, unit, met, interval: None }
    }

    /// A ratio that must reach a limit, both taken to two decimals: more is noise.
    pub(crate) fn ratio(what: impl Into<String>, figure: f64, limit: f64) -> Self {
        let met = (figure * 100.0).round() >= (limit * 100.0).round();
        Self { met, ..Self::new(what, figure, (Bound::AtLeast, limit), "") }
    }

    /// Is the figure on the right side?
    pub(crate) fn is_met(&self) -> bool {
        self.met
    }

    /// The same goal, its figure known to lie there with at least 95 %.
    pub(crate) fn within(self, interval: Option<(f64, f64)>) -> Self {
        Self { interval, ..self }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.met { "met   " } else { "MISSED" };
        let bound = match self.bound {
            Bound::Under => "under",
            Bound::AtMost => "at most",
            Bound::AtLeast => "at least",
        };
        let space = if self.unit.is_empty() { "" } else { " " };
        let (unit, limit) = (self.unit, self.limit);
        let Some((low, high)) = self.interval else {
            return write!(
                f,
                "goal {word}  {}: {:.2}{space}{unit} ({bound} {limit}{space}{unit})",
                self.what, self.figure
            );
        };
        // Without it nobody would know that another run may say otherwise.
        let holds = if (low..=high).contains(&limit) { ", which holds the limit" } else { "" };
        write!(
            f,
            "goal {word}  {}: {:.3}{space}{unit} ({bound} {limit}{space}{unit}; 95 %: {low:.3} to {high:.3}{holds})",
            self.what, self.figure
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_met_or_missed() {
        let text = |goal: Goal| goal.to_string();
        assert_eq!(text(Goal::under("start", 4.99, 5.0, "ms")), "goal met     start: 4.99 ms (under 5 ms)");
        assert_eq!(text(Goal::under("start", 5.0, 5.0, "ms")), "goal MISSED  start: 5.00 ms (under 5 ms)");
        assert!(text(Goal::ratio("iperf3", 0.996, 1.0)).starts_with("goal met"));
        assert_eq!(text(Goal::ratio("iperf3", 0.99, 1.0)), "goal MISSED  iperf3: 0.99 (at least 1)");
        let exact = |figure| Goal::new("cpu", figure, (Bound::AtMost, 1.0), "").within(Some((0.9, 1.1)));
        assert_eq!(
            text(exact(1.0)),
            "goal met     cpu: 1.000 (at most 1; 95 %: 0.900 to 1.100, which holds the limit)"
        );
        assert!(text(exact(1.001)).starts_with("goal MISSED  cpu: 1.001 (at most 1; "));
    }

    #[test]
    fn a_report_shows_what_was_not_run_in_both_forms() {
        let mut report = Report::begin("x", Table::new(1, ["a"]));
        assert!(report.is_complete());
        report.not_run.push("y: why".to_owned());
        report.note("n");
        report.note("n");
        let report = report.finish();
        assert!(!report.is_complete());
        assert!(report.to_string().ends_with("\n  note: n\n\n  NOT RUN: y: why\n"), "{report}");
        let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!(json["not_run"][0], "y: why");
        assert!(json["machine"]["load_after"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

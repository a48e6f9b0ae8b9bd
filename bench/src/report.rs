//! What a bench found, for people and for programs.

use std::fmt;

use ::report::{Layout, Table};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::machine::Machine;

/// One bench's report.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    bench: &'static str,
    machine: Machine,
    #[serde(skip)]
    table: Table,
    /// Everything in the table, and every single figure.
    pub(crate) results: Value,
    pub(crate) goals: Vec<Goal>,
    /// What a reader must know of how the figures came about.
    notes: Vec<String>,
    /// What could not be run, and why.
    not_run: Vec<String>,
}

impl Report {
    /// An empty report. The machine is read here, before the bench begins.
    pub(crate) fn begin(bench: &'static str, heading: &[&str]) -> Self {
        let (table, machine) = (Table::new(heading), Machine::read());
        let (goals, notes, not_run) = (Vec::new(), Vec::new(), Vec::new());
        Self { bench, machine, table, results: Value::Null, goals, notes, not_run }
    }

    /// The report, once the bench is over.
    pub(crate) fn finish(mut self, results: impl Into<Value>) -> Self {
        self.results = results.into();
        self.machine.finish();
        self
    }

    /// Adds a row to the table.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        self.table.row(&cells.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Adds a note, once however often it comes up.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        add_once(&mut self.notes, note.into());
    }

    /// Adds what could not be run, and why, once.
    pub(crate) fn not_run(&mut self, missing: impl Into<String>) {
        add_once(&mut self.not_run, missing.into());
    }

    /// What was made; of what failed the reason is noted. An interrupt ends the bench.
    pub(crate) fn or_not_run<T>(
        &mut self,
        what: &str,
        result: Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        match result {
            Ok(made) => Ok(Some(made)),
            Err(failure) if failure.is_interrupt() => Err(failure),
            Err(failure) => {
                self.not_run(format!("{what}: {failure}"));
                Ok(None)
            }
        }
    }

    /// Was everything run?
    pub(crate) fn is_complete(&self) -> bool {
        self.not_run.is_empty()
    }

    /// The report as one line of JSON.
    pub(crate) fn json(&self) -> Result<String, Failure> {
        Ok(serde_json::to_string(self).map_err(Failure::failed)? + "\n")
    }
}

fn add_once(to: &mut Vec<String>, text: String) {
    if !to.contains(&text) {
        to.push(text);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bench {}\n{}\n", self.bench, self.machine)?;
        self.table.fit(Layout::WIDE).lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        let goals: Vec<String> = self.goals.iter().map(Goal::to_string).collect();
        for (start, lines) in [("", &goals), ("note: ", &self.notes), ("NOT RUN: ", &self.not_run)] {
            for (number, line) in lines.iter().enumerate() {
                let blank = if number == 0 { "\n" } else { "" };
                writeln!(f, "{blank}  {start}{line}")?;
            }
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
        let Self { what, figure, limit, .. } = self;
        let word = if self.met { "met   " } else { "MISSED" };
        let bound = match self.bound {
            Bound::Under => "under",
            Bound::AtMost => "at most",
            Bound::AtLeast => "at least",
        };
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let Some((low, high)) = self.interval else {
            return write!(f, "goal {word}  {what}: {figure:.2}{unit} ({bound} {limit}{unit})");
        };
        // Without it nobody would know that another run may say otherwise.
        let holds = if (low..=high).contains(limit) { ", which holds the limit" } else { "" };
        write!(
            f,
            "goal {word}  {what}: {figure:.3}{unit} ({bound} {limit}{unit}; 95 %: {low:.3} to {high:.3}{holds})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_met_or_missed() {
        let exact = |figure| Goal::new("cpu", figure, (Bound::AtMost, 1.0), "").within(Some((0.9, 1.1)));
        for (goal, text) in [
            (Goal::under("start", 4.99, 5.0, "ms"), "goal met     start: 4.99 ms (under 5 ms)"),
            (Goal::under("start", 5.0, 5.0, "ms"), "goal MISSED  start: 5.00 ms (under 5 ms)"),
            (Goal::ratio("iperf3", 0.996, 1.0), "goal met     iperf3: 1.00 (at least 1)"),
            (Goal::ratio("iperf3", 0.99, 1.0), "goal MISSED  iperf3: 0.99 (at least 1)"),
            (exact(1.0), "goal met     cpu: 1.000 (at most 1; 95 %: 0.900 to 1.100, which holds the limit)"),
            (
                exact(1.001),
                "goal MISSED  cpu: 1.001 (at most 1; 95 %: 0.900 to 1.100, which holds the limit)",
            ),
        ] {
            assert_eq!(goal.to_string(), text);
        }
    }

    #[test]
    fn a_report_shows_what_was_not_run_in_both_forms() {
        let mut report = Report::begin("x", &["a", "ms"]);
        report.row(["b".to_owned(), "10.5".to_owned()]);
        assert!(report.is_complete());
        assert_eq!(report.or_not_run("y", Err::<(), _>(Failure::failed("why"))).unwrap(), None);
        assert!(report.or_not_run("y", Err::<(), _>(Failure::Interrupted)).is_err());
        report.note("n");
        report.note("n");
        let report = report.finish(Value::Null);
        assert!(!report.is_complete());
        let text = report.to_string();
        assert!(text.ends_with("\n  a    ms\n  b  10.5\n\n  note: n\n\n  NOT RUN: y: why\n"), "{text}");
        let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!(json["not_run"][0], "y: why");
        assert!(json["machine"]["load_after"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

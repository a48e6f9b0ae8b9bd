//! What a bench found, for people and for programs.

use std::fmt;

use report::{Cell, Layout, Table};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::figures::{Summary, cells, summary};
use crate::goal::Goal;
use crate::machine::Machine;

/// The heading of a table whose rows are [`Report::figures`], after what they are of.
pub(crate) fn heading(of: &str, unit: &str) -> [String; 5] {
    let column = |which: &str| format!("{which} {unit}").trim_end().to_owned();
    [of.to_owned(), column("median"), column("min"), column("max"), "count".to_owned()]
}

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    bench: &'static str,
    machine: Machine,
    #[serde(skip)]
    table: Table,
    /// Everything in the table, and every single figure.
    pub(crate) results: Map<String, Value>,
    pub(crate) goals: Vec<Goal>,
    /// What a reader must know of how the figures came about.
    notes: Vec<String>,
    /// What could not be run, and why.
    not_run: Vec<String>,
}

impl Report {
    /// An empty report. The machine is read here, before the bench begins.
    pub(crate) fn begin(bench: &'static str, heading: &[impl AsRef<str>]) -> Self {
        let heading: Vec<&str> = heading.iter().map(AsRef::as_ref).collect();
        let (table, machine) = (Table::new(&heading), Machine::read());
        let (goals, notes, not_run) = (Vec::new(), Vec::new(), Vec::new());
        Self { bench, machine, table, results: Map::new(), goals, notes, not_run }
    }

    /// The report, once the bench is over.
    pub(crate) fn finish(mut self) -> Self {
        self.machine.finish();
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let is_number = |cell: &str| cell.parse::<f64>().is_ok();
        let typed = |cell: String| if is_number(&cell) { Cell::Number(cell) } else { Cell::Text(cell) };
        self.table.row(cells.into_iter().map(typed).collect());
    }

    /// Adds what a program finds in the report by this name.
    pub(crate) fn result(&mut self, name: impl Into<String>, result: impl Serialize) {
        self.results.insert(name.into(), json!(result));
    }

    /// Adds what was measured again and again: a row with its summary, and every single figure.
    /// `None` without figures.
    pub(crate) fn figures(&mut self, name: &str, figures: &[f64], decimals: usize) -> Option<Summary> {
        self.result(name, figures);
        let all = summary(figures.iter().copied())?;
        self.row([name.to_owned()].into_iter().chain(cells(&all, decimals)));
        Some(all)
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
            Err(Failure::Declined(why)) => {
                self.note(format!("{what}: {why}"));
                Ok(None)
            }
            Err(failure) => {
                self.not_run(format!("{what}: {failure}"));
                Ok(None)
            }
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.not_run.is_empty()
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_shows_what_was_not_run_in_both_forms() {
        let mut report = Report::begin("x", &heading("a", "ms"));
        assert_eq!(report.figures("b", &[10.5], 1).map(|all| all.n), Some(1));
        assert!(report.is_complete());
        assert_eq!(report.or_not_run("y", Err::<(), _>(Failure::failed("why"))).unwrap(), None);
        assert!(report.or_not_run("y", Err::<(), _>(Failure::Interrupted)).is_err());
        report.note("n");
        report.note("n");
        let report = report.finish();
        assert!(!report.is_complete());
        let text = report.to_string();
        let end = "\n  a  median ms  min ms  max ms  count\n  b       10.5    10.5    10.5      1\n\n  note: n\n\n  NOT RUN: y: why\n";
        assert!(text.ends_with(end), "{text}");
        let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!((&json["not_run"][0], &json["results"]["b"][0]), (&json!("y: why"), &json!(10.5)));
        assert!(json["machine"]["load_after"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

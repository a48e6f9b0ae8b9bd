//! Every run of a study, in the order of measurement.

use store::{RunStatus, StoredRun};

use crate::render::results::Results;
use crate::words::layout::Layout;
use crate::words::number::{figure, instant};
use crate::words::table::Table;

/// The titles of the lists of tries that do not count.
pub(super) const FAILED: &str = "Failed runs";
pub(super) const DISTURBED: &str = "Disturbed runs, which do not count";

/// Columns of the table.
const STARTED: usize = 0;
const CONDITION: usize = 4;

impl Results {
    /// The runs for people.
    #[must_use]
    pub fn runs(&self, layout: Layout) -> String {
        let (table, [failed, invalid]) = (self.run_table(), self.bad_runs());
        let mut text = format!("\nRuns, in the order in which they were measured:\n{}", table.fit(layout));
        for (title, runs) in [(FAILED, failed), (DISTURBED, invalid)] {
            if !runs.is_empty() {
                let reasons: String = runs.iter().map(|run| format!("  {}\n", run.text())).collect();
                text.push_str(&format!("\n{title}:\n{reasons}"));
            }
        }
        text
    }

    /// The tries that failed, and those that something disturbed, in the order of measurement.
    pub(super) fn bad_runs(&self) -> [Vec<BadRun<'_>>; 2] {
        let (mut failed, mut invalid) = (Vec::new(), Vec::new());
        for run in &self.stored().runs {
            let Some(condition) = self.stored.plan.conditions.get(run.condition) else { continue };
            let Some(reason) = &run.reason else { continue };
            let bad = BadRun { run, label: &condition.label, reason };
            if run.status == RunStatus::Invalid { invalid.push(bad) } else { failed.push(bad) }
        }
        [failed, invalid]
    }

    fn run_table(&self) -> Table {
        let mut table = Table::new(&["started (UTC)", "boot", "kind", "run", "condition", "result", "unit"])
            .named(CONDITION)
            .optional(&[STARTED]);
        for run in &self.stored().runs {
            let Some(condition) = self.stored.plan.conditions.get(run.condition) else { continue };
            let metric = condition.workload.traffic.kind.primary_metric();
            let boot = boot(run);
            let (result, unit) = match (run.status, run.metrics.get(metric.key)) {
                (RunStatus::Failed, _) => ("failed".to_owned(), ""),
                (RunStatus::Ok, Some(value)) => (figure(*value), metric.unit),
                (RunStatus::Invalid, Some(value)) => (format!("{} (invalid)", figure(*value)), metric.unit),
                (RunStatus::Ok, None) => ("-".to_owned(), ""),
                (RunStatus::Invalid, None) => ("invalid".to_owned(), ""),
            };
            table.row(&[
                &instant(run.started_unix_ms),
                &boot,
                kind(run),
                &run.repeat.to_string(),
                &condition.label,
                &result,
                unit,
            ]);
            table.is_of(&condition.label);
        }
        table
    }
}

/// A try that failed or was disturbed.
pub(super) struct BadRun<'a> {
    run: &'a StoredRun,
    label: &'a str,
    pub(super) reason: &'a str,
}

impl BadRun<'_> {
    /// `boot 2, run 3 of ipv4`.
    pub(super) fn which(&self) -> String {
        format!("boot {}, {} {} of {}", boot(self.run), kind(self.run), self.run.repeat, self.label)
    }

    fn text(&self) -> String {
        format!("{}: {}", self.which(), self.reason)
    }
}

/// A run's boot, with its part where that was resumed: `2`, `2/2`.
fn boot(run: &StoredRun) -> String {
    if run.part > 1 { format!("{}/{}", run.boot, run.part) } else { run.boot.to_string() }
}

fn kind(run: &StoredRun) -> &'static str {
    if run.warmup { "warm-up" } else { "run" }
}

//! Every run of a study, in the order of measurement.

use store::RunStatus;

use crate::render::results::Results;
use crate::words::layout::Layout;
use crate::words::number::{figure, instant};
use crate::words::table::Table;

/// Columns of the table.
const STARTED: usize = 0;
const CONDITION: usize = 4;

impl Results {
    /// The runs for people.
    #[must_use]
    pub fn runs(&self, layout: Layout) -> String {
        let mut table = Table::new(&["started (UTC)", "boot", "kind", "run", "condition", "result", "unit"])
            .named(CONDITION)
            .optional(&[STARTED]);
        let (mut failed, mut invalid) = (String::new(), String::new());
        for run in &self.stored().runs {
            let Some(condition) = self.stored.plan.conditions.get(run.condition) else { continue };
            let metric = condition.workload.traffic.kind.primary_metric();
            let boot = if run.part > 1 { format!("{}/{}", run.boot, run.part) } else { run.boot.to_string() };
            let (result, unit) = match (run.status, run.metrics.get(metric.key)) {
                (RunStatus::Failed, _) => ("failed".to_owned(), ""),
                (RunStatus::Ok, Some(value)) => (figure(*value), metric.unit),
                (RunStatus::Invalid, Some(value)) => (format!("{} (invalid)", figure(*value)), metric.unit),
                (RunStatus::Ok, None) => ("-".to_owned(), ""),
                (RunStatus::Invalid, None) => ("invalid".to_owned(), ""),
            };
            let kind = if run.warmup { "warm-up" } else { "run" };
            table.row(&[
                &instant(run.started_unix_ms),
                &boot,
                kind,
                &run.repeat.to_string(),
                &condition.label,
                &result,
                unit,
            ]);
            table.is_of(&condition.label);
            if let Some(reason) = &run.reason {
                let reasons = if run.status == RunStatus::Invalid { &mut invalid } else { &mut failed };
                reasons.push_str(&format!(
                    "  boot {boot}, {kind} {} of {}: {reason}\n",
                    run.repeat, condition.label
                ));
            }
        }
        let mut text = format!("\nRuns, in the order in which they were measured:\n{}", table.fit(layout));
        for (title, reasons) in [("Failed runs", failed), ("Disturbed runs, which do not count", invalid)] {
            if !reasons.is_empty() {
                text.push_str(&format!("\n{title}:\n{reasons}"));
            }
        }
        text
    }
}

//! Every run of a study, in the order of measurement.

use store::{RunStatus, StoredRun};

use crate::render::results::Results;
use crate::render::titled_table::TitledTable;
use crate::words::layout::Layout;
use crate::words::number::{figure, instant, plain};
use crate::words::table::Table;

/// The titles of the lists of tries that do not count.
pub(super) const FAILED: &str = "Failed runs";
pub(super) const DISTURBED: &str = "Disturbed runs, which do not count";

const DISTURBED_FIGURES: &str = "Disturbed, so nothing is concluded from these figures";

// Columns of the table.
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

    /// The figures of disturbed runs, where no run counts; else empty.
    pub(super) fn disturbed_figures(&self) -> TitledTable {
        let mut table = Table::new(&["condition", "metric", "tries", "mean", "least", "most"]).named(0);
        let disturbed = |run: &&StoredRun| run.status == RunStatus::Invalid && !run.warmup;
        let plan = &self.stored.plan;
        for condition in plan.conditions.iter().filter(|_| !self.has_measurements()) {
            let kind = condition.workload.traffic.kind;
            let metric = kind.main_metric(plan.exact);
            let own = self.stored.runs.iter().filter(|run| run.condition == condition.index);
            let values: Vec<f64> =
                own.filter(disturbed).filter_map(|run| run.metrics.get(metric.key)).copied().collect();
            if values.is_empty() {
                continue;
            }
            let named = format!("{} {}", metric.key, plain(metric.unit));
            let (least, most) =
                values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), one| {
                    (least.min(*one), most.max(*one))
                });
            let [mean, least, most] = [stats::mean(&values), least, most].map(figure);
            let tries = values.len().to_string();
            table.row(&[&condition.label, named.trim_end(), &tries, &mean, &least, &most]);
            table.is_of(&condition.label);
        }
        TitledTable { title: DISTURBED_FIGURES.to_owned(), table, notes: Vec::new() }
    }

    fn run_table(&self) -> Table {
        let mut table = Table::new(&["started (UTC)", "boot", "kind", "run", "condition", "result", "unit"])
            .named(CONDITION)
            .optional(&[STARTED]);
        for run in &self.stored().runs {
            let Some(condition) = self.stored.plan.conditions.get(run.condition) else { continue };
            let metric = condition.workload.traffic.kind.main_metric(self.stored.plan.exact);
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

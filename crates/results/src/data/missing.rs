//! Planned runs without a measurement. A page of results says first how many, and why.

use std::collections::BTreeMap;

use serde::Serialize;
use store::{RunKey, RunStatus, StoredRun, StoredStudy, StudyRow, StudyStatus};
use study::metric::Metric;
use study::{Plan, PlannedRun};

use crate::data::disturbed::reason_in_brief;
use crate::data::early_stop::is_decided;
use crate::data::turns::not_in_turns;
use crate::words::number::counted;

/// Planned runs without a measurement, warm-ups not counted.
#[derive(Debug, Serialize)]
pub struct MissingRuns {
    runs: usize,
    planned: usize,
    failed: usize,
    disturbed: usize,
    not_tried: usize,
    /// The runs that were not made as their condition crashed a machine in their boot.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// The reasons of the failures, the most frequent first.
    reasons: Vec<FailureReason>,
    /// Whether a machine crashed in a run, or for a boot.
    #[serde(skip)]
    has_crashes: bool,
    #[serde(skip)]
    study: i64,
    #[serde(skip)]
    status: StudyStatus,
}

fn is_zero(runs: &usize) -> bool {
    *runs == 0
}

#[derive(Debug, Serialize)]
struct FailureReason {
    runs: usize,
    condition: String,
    boot: u32,
    why: String,
}

impl MissingRuns {
    pub(crate) fn from_stored(stored: &StoredStudy) -> Option<Self> {
        let mut tries: BTreeMap<RunKey, (RunStatus, &str)> = BTreeMap::new();
        for run in stored.runs.iter().filter(|run| !run.warmup) {
            // The last try counts, unless an earlier one was recorded.
            let recorded = tries.get(&run.key()).is_some_and(|(status, _)| *status == RunStatus::Ok);
            if !recorded {
                tries.insert(run.key(), (run.status, run.reason.as_deref().unwrap_or_default()));
            }
        }
        let (planned, crashes) = (planned(stored), stored.crashes());
        let mut missing = Self {
            runs: 0,
            planned: planned.len(),
            failed: 0,
            disturbed: 0,
            not_tried: 0,
            left_out: 0,
            has_crashes: !crashes.is_empty(),
            reasons: Vec::new(),
            study: stored.row.id.0,
            status: stored.row.status,
        };
        for key in planned {
            match tries.get(&key) {
                Some((RunStatus::Ok, _)) => continue,
                Some((RunStatus::Invalid, _)) => missing.disturbed += 1,
                Some((RunStatus::Failed, why)) => missing.fail(stored, key, why),
                None if crashes.contains_key(&(key.boot, key.condition)) => missing.left_out += 1,
                None => missing.not_tried += 1,
            }
            missing.runs += 1;
        }
        missing.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.runs));
        (missing.runs > 0).then_some(missing)
    }

    fn fail(&mut self, stored: &StoredStudy, key: RunKey, why: &str) {
        self.failed += 1;
        let (condition, boot) = (stored.label(key.condition), key.boot);
        match self.reasons.iter_mut().find(|reason| reason.why == why) {
            Some(known) => {
                known.runs += 1;
                (known.condition, known.boot) = (condition, boot);
            }
            None => self.reasons.push(FailureReason { runs: 1, condition, boot, why: why.to_owned() }),
        }
    }

    /// The missing runs with the reasons; the remedy.
    pub fn lines(&self) -> [String; 2] {
        let mut parts = Vec::new();
        if self.failed > 0 {
            let text = |reason: &FailureReason| {
                let FailureReason { runs, condition, boot, why } = reason;
                format!("{}, last in {condition}, boot {boot}: {why}", counted(*runs, "time"))
            };
            let reasons: Vec<String> = self.reasons.iter().take(REASONS).map(text).collect();
            parts.push(format!("{} failed ({})", self.failed, reasons.join("; ")));
        }
        if self.disturbed > 0 {
            parts.push(format!("{} disturbed at every try", self.disturbed));
        }
        if self.left_out > 0 {
            parts.push(format!("{} left out with what crashed a machine in their boot", self.left_out));
        }
        if self.not_tried > 0 {
            parts.push(format!("{} not tried ({})", self.not_tried, not_tried(self.status)));
        }
        let nothing = if self.runs == self.planned { "Nothing valid was measured. " } else { "" };
        let are = if self.runs == 1 { "is" } else { "are" };
        let (study, parts) = (self.study, parts.join(", "));
        let planned = counted(self.planned, "run");
        let remedy = if self.disturbed > 0 {
            format!(
                "Stop what disturbed runs, and repeat the command with --resume {study}. To count disturbed runs, add --keep-disturbed."
            )
        } else if self.has_crashes {
            format!(
                "Repeat the command with --resume {study}, and --again to try again what crashed a machine."
            )
        } else {
            format!("Repeat the command with --resume {study}.")
        };
        [
            format!("{nothing}{} of {planned} {are} missing: {parts}.", self.runs),
            format!("{remedy} `netassay show {study} --runs` lists every try."),
        ]
    }
}

fn not_tried(status: StudyStatus) -> &'static str {
    match status {
        StudyStatus::Interrupted => "the study was interrupted",
        StudyStatus::Running => "the study is under way",
        StudyStatus::Failed | StudyStatus::Complete => "the study could not go on",
    }
}

pub(crate) fn why_without(stored: &StoredStudy, condition: usize, metric: Metric) -> String {
    let tries = || stored.runs.iter().filter(|run| !run.warmup && run.condition == condition);
    if tries().any(StoredRun::is_measurement) {
        return format!("its runs do not have {metric}{}", not_in_turns(stored, condition));
    }
    let with = |status| tries().filter(|run| run.status == status).count();
    let counts = [(with(RunStatus::Failed), "failed"), (with(RunStatus::Invalid), "disturbed")];
    let counts = counts.into_iter().filter(|(runs, _)| *runs > 0);
    let counts: Vec<String> = counts.map(|(runs, what)| format!("{runs} {what}")).collect();
    match tries().next_back() {
        None => format!("not tried: {}", not_tried(stored.row.status)),
        Some(last) => format!(
            "{}; the last try, in boot {}: {}",
            counts.join(", "),
            last.boot,
            reason_in_brief(last).unwrap_or_default()
        ),
    }
}

/// With the remedy, without the last full stop.
pub(crate) fn hint(stored: &StoredStudy, condition: usize) -> String {
    let (id, label) = (stored.row.id.0, stored.label(condition));
    let tries: Vec<&StoredRun> =
        stored.runs.iter().filter(|run| !run.warmup && run.condition == condition).collect();
    let with = |status| tries.iter().filter(move |run| run.status == status);
    let valid = with(RunStatus::Ok).count();
    if valid > 0 {
        let is_disturbed = |run: &&&StoredRun| !run.detail.disturbed().is_empty();
        let disturbed = with(RunStatus::Ok).filter(is_disturbed).count();
        let why = if disturbed > 0 {
            format!(
                ": something disturbed {disturbed} of them, which count because of --keep-disturbed, and a disturbed side has no CPU time per unit of work. Stop the cause, and measure again"
            )
        } else {
            not_in_turns(stored, condition).to_owned()
        };
        return format!("{} of {label} did not yield it{why}", counted(valid, "run"));
    }
    let (status, became, remedy) = if with(RunStatus::Invalid).count() > 0 {
        let remedy = format!(
            "Stop the cause and repeat the study with --resume {id}; to count disturbed runs, add --keep-disturbed"
        );
        (RunStatus::Invalid, "was disturbed", remedy)
    } else {
        (RunStatus::Failed, "failed", format!("Correct that and repeat the study with --resume {id}"))
    };
    let Some(last) = with(status).next_back() else {
        return format!("{label} has not been measured yet. Repeat the study with --resume {id}");
    };
    let reason = reason_in_brief(last).unwrap_or_else(|| "no reason was recorded".to_owned());
    format!(
        "every try of {label} {became}, {} in all; the last, in boot {}: {reason}. {remedy}. `netassay show {id} --runs` lists every try",
        with(status).count(),
        last.boot
    )
}

fn planned(stored: &StoredStudy) -> Vec<RunKey> {
    let protocol = &stored.plan.asked.protocol;
    let taken = stored.row.boots;
    let at_a_look = protocol.stop.is_some_and(|stop| stop.after(protocol.boots).any(|boot| boot == taken));
    // A study that ended at a look by its rule has planned no later boot.
    let complete = stored.row.status == StudyStatus::Complete;
    let last = if at_a_look && (complete || is_decided(stored)) { taken } else { u32::MAX };
    planned_until(&stored.plan, last)
        .map(|run| RunKey { boot: run.boot, warmup: false, repeat: run.repeat, condition: run.condition })
        .collect()
}

/// The planned runs of the boots up to one, without warm-ups.
fn planned_until(plan: &Plan, last: u32) -> impl Iterator<Item = PlannedRun> {
    let schedule = study::schedule(&plan.states_of_conditions(), &plan.asked.protocol);
    schedule.into_iter().flatten().filter(move |run| !run.warmup && run.boot <= last)
}

// The largest number of reasons on a page.
const REASONS: usize = 2;

/// Without a full stop; `None` if complete.
pub(crate) fn shortfall(row: &StudyRow, plan: &Plan) -> Option<String> {
    let protocol = &plan.asked.protocol;
    // A study that ended by its rule planned only its boots.
    let may_be_less = protocol.stop.is_some() && row.status == StudyStatus::Complete;
    let last = if may_be_less { row.boots } else { u32::MAX };
    let planned = planned_until(plan, last).count();
    let (study, status, recorded) = (row.id, stands(row.status), row.recorded_runs as usize);
    (recorded < planned)
        .then(|| format!("study {study} {status}: it has {recorded} of {}", counted(planned, "planned run")))
}

pub(crate) fn may_have_stopped(row: &StudyRow, plan: &Plan) -> Option<String> {
    plan.asked.protocol.stop.map(|_| {
        format!(
            "study {} may have stopped at a look at its own comparisons: a difference that made it stop is likelier too large than too small",
            row.id
        )
    })
}

/// The status of a study after its name: `is interrupted`, `failed`.
pub(crate) fn stands(status: StudyStatus) -> String {
    match status {
        StudyStatus::Failed => status.to_string(),
        _ => format!("is {status}"),
    }
}

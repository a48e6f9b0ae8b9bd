//! The events of a running study.

use serde::Serialize;
use study::metric::Metric;
use study::{Dropped, PlannedRun};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the other fields' names say what they are")]
pub enum Event {
    Planned {
        study: i64,
        conditions: Vec<String>,
        /// Conditions that the hosts cannot measure, and the missing features.
        lacking: Vec<Dropped>,
        boots: u32,
        /// Runs to come, warm-ups included.
        runs: usize,
        expected_s: f64,
    },
    /// Both machines restart, which may take minutes.
    Restarting {
        boot: u32,
        of: u32,
        /// The release of the kernel that the machines start with, if that is chosen.
        #[serde(skip_serializing_if = "Option::is_none")]
        kernel: Option<String>,
    },
    /// After the last boot both machines restart, as they run another kernel than their default.
    DefaultKernels,
    BootStarted {
        boot: u32,
        of: u32,
        build_ms: f64,
        /// Its limitations that no earlier boot of the session reported.
        notes: Vec<String>,
    },
    RunStarted {
        run: PlannedRun,
        label: String,
    },
    /// About twice a second while a window is open.
    Tick,
    RunFinished {
        run: PlannedRun,
        label: String,
        primary: Option<(Metric, f64)>,
        failed: Option<String>,
        invalid: Option<Invalid>,
        /// Runs done in this session.
        done: usize,
        /// Runs of this session in all.
        of: usize,
        left_s: f64,
    },
    /// Conditions that should take turns in one flow are measured in runs of their own.
    Apart {
        labels: Vec<String>,
        why: String,
    },
    BootLost {
        boot: u32,
        why: String,
        /// Whether the rest of its runs is tried on a new one.
        retried: bool,
        /// Whether a machine crashed: it is waited for, and what crashed it is left out.
        crashed: bool,
    },
    Looked {
        look: u32,
        of: u32,
        /// The boot after which it was taken.
        boot: u32,
        boots: u32,
        /// Whether every comparison is decided, so that the study ends here.
        decided: bool,
    },
    Finished {
        study: i64,
        /// Whether everything was recorded, or disturbed as often as it may be repeated.
        complete: bool,
        /// Recorded runs in the store, warm-ups not counted.
        recorded: usize,
        failed: usize,
        /// Planned runs of which every try of this session was disturbed.
        invalid: usize,
    },
}

/// A run whose window was disturbed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct Invalid {
    pub why: String,
    /// The reason in a few words, each kind of cause once.
    pub brief: String,
    /// The conditions of the flow's runs, which were disturbed with it: of the first of them only.
    pub labels: Vec<String>,
    /// Whether it is repeated at once; else no repeats are left, and the run has no measurement.
    pub repeated: bool,
}

//! The events of a running study.

use serde::Serialize;
use study::metric::Metric;
use study::{Dropped, PlannedRun};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the other fields' names say what they are")]
pub enum Event {
    /// The plan is made, and the first boot is about to begin.
    Planned {
        study: i64,
        conditions: Vec<String>,
        /// Conditions that the hosts cannot measure, and the missing features.
        lacking: Vec<Dropped>,
        boots: u32,
        /// Runs to come, warm-ups included.
        runs: usize,
        /// The expected time for them, in seconds.
        expected_s: f64,
    },
    /// Both machines restart, which may take minutes.
    Restarting {
        /// The number of the boot that begins thereby, from 1.
        boot: u32,
        of: u32,
        /// The release of the kernel that the machines start with, if that is chosen.
        #[serde(skip_serializing_if = "Option::is_none")]
        kernel: Option<String>,
    },
    /// After the last boot, both machines restart, because they run another kernel than their
    /// default.
    DefaultKernels,
    /// A testbed is built.
    BootStarted {
        /// Its number in the schedule, from 1.
        boot: u32,
        of: u32,
        /// The time to build it, in ms.
        build_ms: f64,
        /// Its limitations that no earlier boot of the session reported.
        notes: Vec<String>,
    },
    /// A run begins.
    RunStarted { run: PlannedRun, label: String },
    /// About twice a second while a window is open.
    Tick,
    /// A run has ended and is stored.
    RunFinished {
        run: PlannedRun,
        label: String,
        /// Its primary metric, and the value.
        primary: Option<(Metric, f64)>,
        /// Why it failed, if it did.
        failed: Option<String>,
        /// The disturbance of its window, if there was one.
        invalid: Option<Invalid>,
        /// Runs done in this session.
        done: usize,
        /// Runs of this session in all.
        of: usize,
        /// Expected time to the end, in seconds.
        left_s: f64,
    },
    /// Conditions that should take turns in one flow are measured in runs of their own.
    Apart { labels: Vec<String>, why: String },
    /// More of the turns of conditions is left out from now on, as a switch acts longer than
    /// planned.
    Settles {
        labels: Vec<String>,
        /// The part of each turn that is not counted, in seconds.
        after_s: f64,
        why: String,
    },
    /// A testbed was lost before its last run.
    BootLost {
        boot: u32,
        why: String,
        /// Whether the rest of its runs is tried on a new one.
        retried: bool,
    },
    /// A planned look at the data.
    Looked {
        /// Which look, from 1.
        look: u32,
        of: u32,
        /// The boot after which it was taken.
        boot: u32,
        /// The most boots that the study may take.
        boots: u32,
        /// Whether every comparison is decided, so that the study ends here.
        decided: bool,
    },
    /// The session has ended.
    Finished {
        study: i64,
        /// Whether everything was recorded, or disturbed as often as it may be repeated.
        complete: bool,
        /// Recorded runs in the store, warm-ups not counted.
        recorded: usize,
        /// Runs that failed in this session.
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
    /// The conditions of all runs of its flow, which were disturbed with it: of the first of them.
    /// The others have none.
    pub labels: Vec<String>,
    /// Whether it is repeated at once. If not, no repeats are left, and this planned run has no
    /// measurement.
    pub repeated: bool,
}

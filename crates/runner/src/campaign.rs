//! The input and the result of a session; `run_campaign` runs it.

use agent::Interrupt;
use host::journal::Change;
use record::Cause;
use store::{Store, StoredStudy, StudyId};
use thiserror::Error as ThisError;

use crate::event::Event;
use crate::lab::Lab;

/// The study to run, and the means to run it.
pub struct Campaign<'a> {
    /// Builds the testbeds.
    pub lab: &'a mut dyn Lab,
    /// Stores the runs.
    pub store: &'a mut Store,
    /// The user's request to stop.
    pub interrupt: Interrupt,
    /// Receives the events.
    pub observe: &'a mut dyn FnMut(&Event),
    /// Whether the stored runs decide every comparison of a study that may stop early. Called at
    /// its planned looks only, with the runs of the boots up to that look.
    pub is_decided: &'a dyn Fn(&StoredStudy) -> bool,
    /// Whether disturbed runs count like any other, for a machine that is never quiet. What
    /// disturbed them is recorded.
    pub keep_disturbed: bool,
    /// A disturbance of every run of this session: another session that runs beside it.
    pub beside: Option<Cause>,
    /// Changes of the machine itself for this study, for the record of each boot's environment.
    pub machine: &'a [Change],
    /// Differences of the machine from those changes. Called at both edges of every run.
    pub differences: &'a dyn Fn() -> Vec<Cause>,
    /// The program's version, for the record.
    pub version: &'a str,
}

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every planned run is recorded, or was disturbed as often as it may be repeated
    /// ([`Summary::invalid`]); or a planned look found everything decided.
    Complete,
    /// Some runs failed; the others are recorded.
    SomeFailed,
    /// The user stopped it; all recorded runs are kept.
    Interrupted,
}

/// The result of a session.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The study's number in the store.
    pub study: StudyId,
    /// Its end.
    pub ending: Ending,
    /// Recorded runs in the store, warm-ups not counted.
    pub recorded: usize,
    /// Runs that failed in this session.
    pub failed: usize,
    /// Planned runs of which every try of this session was disturbed. Resuming tries them again.
    pub invalid: usize,
    /// The release of the kernel that the machines run until their next restart, if it is not their
    /// default, and the error that kept them from their default; empty: the user.
    pub kernel_stays: Option<(String, String)>,
}

/// Why a session could not begin or was stopped. What was recorded before stays recorded.
#[derive(Debug, ThisError)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum Error {
    /// No testbed.
    #[error(transparent)]
    Testbed(#[from] testbed::Error),
    /// The store cannot record the run.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// No run is left: all are recorded.
    #[error("nothing to run: {why}")]
    NothingToRun { why: String },
    /// The stored plan cannot be read back.
    #[error("the stored plan of study {study} cannot be read ({what}): start the study anew")]
    Plan { study: i64, what: String },
    /// A boot with machines that should have restarted has the boot id of another.
    #[error(
        "boot {boot}: the {side} ({host}) did not restart: its boot id is that of boot {other}. Look at its console; `--resume` goes on"
    )]
    NotRestarted { boot: u32, side: study::Side, host: String, other: u32 },
    /// The user stopped it before the first run.
    #[error("interrupted before the first run: nothing was recorded")]
    Interrupted,
}

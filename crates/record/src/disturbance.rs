//! What disturbed a run's window.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::figure::{milliseconds, whole_percent};
use crate::taken::Taken;

/// What disturbed a run, and which part of it. It prints as a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disturbance {
    /// Whom; `None`: the whole run.
    pub at: Option<Part>,
    /// What it was.
    pub cause: Cause,
}

words::vocabulary! {
    /// A part of a run that something disturbs.
    pub enum Part: "a part of a run" {
        /// The transmitter.
        Transmitter = "transmitter";
        /// The receiver.
        Receiver = "receiver";
        /// The transmitter and the receiver alike.
        BothEnds = "both ends";
        /// The host of the virtual machines.
        Host = "host";
    }
}

/// What disturbs. Times are in ns, shares of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The kernel changed its clock source.
    ClockSource,
    /// The machine slept for this time.
    Slept(u64),
    /// The clock was set this time apart from the hardware's.
    ClockApart(u64),
    /// The window opened this time late.
    OpenedLate(u64),
    /// The window closed this time late.
    ClosedLate(u64),
    /// How long the window was, and how long it was to be.
    Length(u64, u64),
    /// The hypervisor took this share of this CPU's time.
    Stolen(f64, u32),
    /// A virtual CPU waited for this share, of which the run's own guests explain so much.
    Waited(f64, f64),
    /// Other processes had CPU time.
    Others(Taken),
    /// Another session measured on this machine: which.
    Session(String),
    /// A setting of the machine was no longer as the study set it, in the journal's words.
    Setting(String),
}

impl From<Cause> for Disturbance {
    /// Of the whole run.
    fn from(cause: Cause) -> Self {
        Self { at: None, cause }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{at}: {}", self.cause),
            None => self.cause.fmt(f),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClockSource => f.write_str("the kernel changed its clock source"),
            Self::Slept(time) => write!(f, "the machine slept for {} of the window", milliseconds(*time)),
            Self::ClockApart(time) => write!(
                f,
                "the clock was set {} apart from the hardware's (CLOCK_MONOTONIC against its raw kin): something slews it",
                milliseconds(*time)
            ),
            Self::OpenedLate(time) => {
                write!(f, "the window opened {} late: the agent had no CPU", milliseconds(*time))
            }
            Self::ClosedLate(time) => {
                write!(f, "the window closed {} late: the agent had no CPU", milliseconds(*time))
            }
            Self::Length(was, planned) => {
                write!(f, "the window was {} long, not {}", milliseconds(*was), milliseconds(*planned))
            }
            Self::Stolen(share, cpu) => {
                write!(f, "the hypervisor took {} of CPU {cpu}'s time (steal)", whole_percent(*share))
            }
            Self::Waited(share, explained) => write!(
                f,
                "a virtual CPU was ready but waited for a CPU of the host {} of the time; the guests' own threads explain {} at most",
                whole_percent(*share),
                whole_percent(*explained)
            ),
            Self::Others(taken) => {
                write!(f, "other processes used {taken}; CPU time per unit of work is left out")
            }
            Self::Session(which) => {
                write!(f, "another session measured on this machine (--beside): {which}")
            }
            Self::Setting(difference) => f.write_str(difference),
        }
    }
}

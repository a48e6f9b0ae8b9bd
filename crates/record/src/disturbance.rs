//! Disturbances of a run's window.

use std::fmt;

use host::journal::ReadBackDifference;
use serde::{Deserialize, Serialize};
use words::distinct;

use crate::figure::{milliseconds, whole_percent};

/// A disturbance of a run: its cause, and the part of the run. It prints as a sentence without a
/// full stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error("{}{cause}", .at.map_or_else(String::new, |at| format!("{at}: ")))]
pub struct Disturbance {
    /// The part; `None`: the whole run.
    pub at: Option<Part>,
    /// The disturbance.
    pub cause: Cause,
}

words::vocabulary! {
    /// A part of a run that something disturbs.
    pub enum Part: "a part of a run" {
        /// The transmitter.
        Transmitter = "transmitter";
        /// The receiver.
        Receiver = "receiver";
        /// The transmitter and the receiver.
        BothEnds = "both ends";
        /// The host of the virtual machines.
        Host = "host";
    }
}

/// The cause of a disturbance. Shares are of the window.
// It is no error: thiserror gives each variant its sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Cause {
    #[error("the kernel changed its clock source")]
    ClockSource,
    #[error("the machine slept for {} of the window", milliseconds(*.ns))]
    Slept { ns: u64 },
    #[error(
        "CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW differ by {}: a program slews the clock",
        milliseconds(*.ns)
    )]
    ClockApart { ns: u64 },
    #[error("the window opened {} late: the agent had no CPU", milliseconds(*.ns))]
    OpenedLate { ns: u64 },
    #[error("the window closed {} late: the agent had no CPU", milliseconds(*.ns))]
    ClosedLate { ns: u64 },
    #[error("the window was {} long, not {}", milliseconds(*.ns), milliseconds(*.planned_ns))]
    Length { ns: u64, planned_ns: u64 },
    /// `share`: of the CPU's time.
    #[error("the hypervisor took {} of CPU {cpu}'s time (steal)", whole_percent(*.share))]
    Stolen { share: f64, cpu: u32 },
    /// `explained`: the part of the share that the run's own guests explain.
    #[error(
        "a virtual CPU was ready but waited for a CPU of the host {} of the time; the guests' own threads explain {} at most",
        whole_percent(*.share),
        whole_percent(*.explained)
    )]
    Waited { share: f64, explained: f64 },
    #[error("other processes used {0}; CPU time per unit of work is left out")]
    Others(CpuTaken),
    #[error("another session measured on this machine (--beside): {0}")]
    Session(String),
    /// A setting of the machine was no longer as the study set it.
    #[error("{0}")]
    Setting(ReadBackDifference),
    #[error("the settings that the study changed cannot be read back: {0}")]
    SettingsUnread(String),
}

const OTHERS: &str = "other processes";

/// Disturbances in a few words, each kind of cause once: `other processes (dd), a CPU taken by the
/// hypervisor`.
pub fn in_brief(disturbances: &[Disturbance]) -> String {
    let causes = || disturbances.iter().map(|disturbance| &disturbance.cause);
    let mut kinds = distinct(causes().map(Cause::kind_in_words));
    // The names of other processes follow.
    kinds.sort_by_key(|kind| *kind == OTHERS);
    let takers = causes().filter_map(|cause| match cause {
        Cause::Others(taken) => Some(taken.by.first()?.name.as_str()),
        _ => None,
    });
    let (kinds, takers) = (kinds.join(", "), distinct(takers).join(", "));
    if takers.is_empty() { kinds } else { format!("{kinds} ({takers})") }
}

impl Cause {
    fn kind_in_words(&self) -> &'static str {
        match self {
            Self::ClockSource | Self::ClockApart { .. } => "a clock that changed",
            Self::Slept { .. } => "the machine slept",
            Self::OpenedLate { .. } | Self::ClosedLate { .. } | Self::Length { .. } => {
                "no CPU for the agent in time"
            }
            Self::Stolen { .. } => "a CPU taken by the hypervisor",
            Self::Waited { .. } => "a virtual CPU that waited",
            Self::Session(_) => "another session",
            Self::Setting(_) | Self::SettingsUnread(_) => "a setting that changed",
            Self::Others(_) => OTHERS,
        }
    }
}

impl From<Cause> for Disturbance {
    fn from(cause: Cause) -> Self {
        Self { at: None, cause }
    }
}

/// The CPU time that other processes had of a set of CPUs. It prints as "34 % of the time of CPU 0
/// (dd, process 4711: 30 %)".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuTaken {
    /// Their share of the CPUs' time in the window.
    pub share: f64,
    /// The CPUs.
    pub cpus: Vec<u32>,
    /// The processes with most of it.
    pub by: Vec<Taker>,
}

/// Processes with one name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error("{name}, {who}: {}", whole_percent(*.share))]
pub struct Taker {
    /// Their name.
    pub name: String,
    /// Their kind.
    pub who: TakerKind,
    /// Their share of the CPUs' time.
    pub share: f64,
}

/// The kind of process that had CPU time under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TakerKind {
    #[error("kernel")]
    Kernel,
    #[error("process {pid}")]
    Process { pid: u32 },
    #[error("{count} processes")]
    Processes { count: usize },
}

impl fmt::Display for CpuTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
        let word = if cpus.len() == 1 { "CPU" } else { "CPUs" };
        write!(f, "{} of the time of {word} {}", whole_percent(self.share), cpus.join(","))?;
        let by: Vec<String> = self.by.iter().map(Taker::to_string).collect();
        if by.is_empty() { Ok(()) } else { write!(f, " ({})", by.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_brief_each_kind_of_cause_is_said_once() {
        let others = |names: &[&str]| {
            let taker = |name: &&str| Taker { name: (*name).to_owned(), who: TakerKind::Kernel, share: 0.3 };
            Cause::Others(CpuTaken { share: 0.5, cpus: vec![0, 1], by: names.iter().map(taker).collect() })
        };
        let all = [
            others(&["rustc", "dd"]),
            others(&["rustc"]),
            others(&["cc1"]),
            Cause::OpenedLate { ns: 150_000_000 },
            Cause::Length { ns: 1_200_000_000, planned_ns: 1_000_000_000 },
            others(&[]),
        ];
        let all = all.map(|cause| Disturbance { at: Some(Part::Transmitter), cause });
        assert_eq!(in_brief(&all), "no CPU for the agent in time, other processes (rustc, cc1)");
        assert_eq!(in_brief(&all[3..4]), "no CPU for the agent in time");
        assert_eq!(in_brief(&[]), "");
    }
}

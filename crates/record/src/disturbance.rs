//! Disturbances of a run's window.

use std::fmt;

use host::journal::Difference;
use serde::{Deserialize, Serialize};

use crate::figure::{milliseconds, whole_percent};

/// A disturbance of a run: its cause, and the part of the run. It prints as a sentence without a
/// full stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Cause {
    /// The kernel changed its clock source.
    ClockSource,
    /// The machine slept.
    Slept {
        /// The length of the sleep.
        ns: u64,
    },
    /// The clock was set apart from the hardware's.
    ClockApart {
        /// The distance.
        ns: u64,
    },
    /// The window opened late.
    OpenedLate {
        /// The lateness.
        ns: u64,
    },
    /// The window closed late.
    ClosedLate {
        /// The lateness.
        ns: u64,
    },
    /// The window was not as long as planned.
    Length {
        /// Its length.
        ns: u64,
        /// Its planned length.
        planned_ns: u64,
    },
    /// The hypervisor took time of a CPU.
    Stolen {
        /// The share of the CPU's time.
        share: f64,
        /// The CPU.
        cpu: u32,
    },
    /// A virtual CPU waited for a CPU of its host.
    Waited {
        /// The share of the window in which it waited.
        share: f64,
        /// The part of that share that the run's own guests explain.
        explained: f64,
    },
    /// Other processes had CPU time.
    Others(CpuTaken),
    /// Another session measured on this machine: its description.
    Session(String),
    /// A setting of the machine was no longer as the study set it.
    Setting(Difference),
    /// The settings that the study changed could not be read back: why.
    SettingsUnread(String),
}

/// A short name for CPU time of others.
const OTHERS: &str = "other processes";

/// Disturbances in a few words, each kind of cause once: `other processes (dd), a CPU taken by the
/// hypervisor`.
#[must_use]
pub fn in_brief(disturbances: &[Disturbance]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    let mut takers: Vec<&str> = Vec::new();
    for Disturbance { cause, .. } in disturbances {
        let taker = if let Cause::Others(taken) = cause { taken.by.first() } else { None };
        for (known, one) in
            [(&mut kinds, Some(cause.kind_in_words())), (&mut takers, taker.map(|taker| taker.name.as_str()))]
        {
            known.extend(one.filter(|one| !known.contains(one)));
        }
    }
    // Their names follow.
    kinds.sort_by_key(|kind| *kind == OTHERS);
    let mut brief = kinds.join(", ");
    if !takers.is_empty() {
        brief.push_str(&format!(" ({})", takers.join(", ")));
    }
    brief
}

impl Cause {
    /// The kind of disturbance, without figures.
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
    /// A disturbance of the whole run.
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
            Self::Slept { ns } => write!(f, "the machine slept for {} of the window", milliseconds(*ns)),
            Self::ClockApart { ns } => write!(
                f,
                "CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW differ by {}: a program slews the clock",
                milliseconds(*ns)
            ),
            Self::OpenedLate { ns } => {
                write!(f, "the window opened {} late: the agent had no CPU", milliseconds(*ns))
            }
            Self::ClosedLate { ns } => {
                write!(f, "the window closed {} late: the agent had no CPU", milliseconds(*ns))
            }
            Self::Length { ns, planned_ns } => {
                write!(f, "the window was {} long, not {}", milliseconds(*ns), milliseconds(*planned_ns))
            }
            Self::Stolen { share, cpu } => {
                write!(f, "the hypervisor took {} of CPU {cpu}'s time (steal)", whole_percent(*share))
            }
            Self::Waited { share, explained } => write!(
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
            Self::Setting(difference) => difference.fmt(f),
            Self::SettingsUnread(why) => {
                write!(f, "the settings that the study changed cannot be read back: {why}")
            }
        }
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taker {
    /// Their name.
    pub name: String,
    /// Their kind.
    pub who: TakerKind,
    /// Their share of the CPUs' time.
    pub share: f64,
}

/// The kind of process that had CPU time under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TakerKind {
    /// Threads of the kernel.
    Kernel,
    /// One process.
    Process {
        /// Its id.
        pid: u32,
    },
    /// Several processes.
    Processes {
        /// The number of processes.
        count: usize,
    },
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

impl fmt::Display for Taker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, who, share } = self;
        match who {
            TakerKind::Kernel => write!(f, "{name}, kernel")?,
            TakerKind::Process { pid } => write!(f, "{name}, process {pid}")?,
            TakerKind::Processes { count } => write!(f, "{name}, {count} processes")?,
        }
        write!(f, ": {}", whole_percent(*share))
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

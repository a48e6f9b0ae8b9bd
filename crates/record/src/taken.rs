//! CPU time of processes other than the run's.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::figure::whole_percent;

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

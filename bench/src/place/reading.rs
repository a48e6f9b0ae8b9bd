//! Counters of a network namespace, as the kernel tells them.

use std::fs;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::observer::monotonic;

/// What was read, and when, by the host's clock (`CLOCK_MONOTONIC`).
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) at: Duration,
    /// One text for each file.
    pub(crate) texts: Vec<String>,
}

impl Reading {
    /// Reads files below `/proc/net`, as they are in the network namespace of this process.
    pub(crate) fn of(process: u32, files: &[&str]) -> Result<Self, Failure> {
        let at = monotonic();
        let text = |file: &&str| {
            let path = format!("/proc/{process}/net/{file}");
            fs::read_to_string(&path).map_err(Failure::io(format!("cannot read {path}")))
        };
        Ok(Self { at, texts: files.iter().map(text).collect::<Result<_, _>>()? })
    }
}

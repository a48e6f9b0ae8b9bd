//! Stored data of a run besides its metrics and its limit.

use std::collections::BTreeMap;

use load::Applied;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::crash::Crash;
use crate::disturbance::Disturbance;
use crate::drift::Drift;
use crate::run::{PathTrace, RunAccount, SideAccount};
use crate::side::Turns;

/// Stored data of a run besides its metrics and its limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Detail {
    #[default]
    Nothing,
    Measured(Box<RunAccount>),
    Exact(Box<ExactRun>),
    /// The differences of a run that failed because its switches did not read back as planned.
    Drifted(Drift),
    /// The machines that crashed in a run, or did not come up for it.
    Crashed(Crash),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactRun {
    pub exact: load::exact::Account,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<Disturbance>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<PathTrace>,
}

impl Detail {
    /// # Errors
    /// A field that is missing, unknown or of another type, with its place in the text.
    pub fn read(json: &str) -> serde_json::Result<Self> {
        // Most are of this kind, which no other is read as.
        if let Ok(account) = serde_json::from_str(json) {
            return Ok(Self::Measured(account));
        }
        // Each kind has a field of its own. Finding it first lets the error name the wrong field.
        let fields: Option<BTreeMap<String, IgnoredAny>> = serde_json::from_str(json)?;
        Ok(match fields {
            None => Self::Nothing,
            Some(fields) if fields.contains_key("exact") => Self::Exact(serde_json::from_str(json)?),
            Some(fields) if fields.contains_key("drift") => Self::Drifted(serde_json::from_str(json)?),
            Some(fields) if fields.contains_key("crash") => Self::Crashed(serde_json::from_str(json)?),
            Some(_) => Self::Measured(serde_json::from_str(json)?),
        })
    }

    pub fn disturbed(&self) -> &[Disturbance] {
        match self {
            Self::Measured(account) => &account.disturbed,
            Self::Exact(exact) => &exact.disturbed,
            Self::Nothing | Self::Drifted(_) | Self::Crashed(_) => &[],
        }
    }

    pub fn disturb(&mut self, by: Vec<Disturbance>) {
        match self {
            Self::Measured(account) => account.disturbed = by,
            Self::Exact(exact) => exact.disturbed = by,
            Self::Nothing | Self::Drifted(_) | Self::Crashed(_) => {}
        }
    }

    pub fn traces(&self) -> &[PathTrace] {
        match self {
            Self::Measured(account) => &account.traces,
            Self::Exact(exact) => &exact.traces,
            Self::Nothing | Self::Drifted(_) | Self::Crashed(_) => &[],
        }
    }

    pub fn set_traces(&mut self, traces: Vec<PathTrace>) {
        match self {
            Self::Measured(account) => account.traces = traces,
            Self::Exact(exact) => exact.traces = traces,
            Self::Nothing | Self::Drifted(_) | Self::Crashed(_) => {}
        }
    }

    pub fn measured(&self) -> Option<&RunAccount> {
        if let Self::Measured(account) = self { Some(account) } else { None }
    }

    pub fn turns(&self) -> Option<&Turns> {
        self.measured()?.turns.as_ref()
    }

    /// The accounts of its sides, the transmitter's first; none except for a run over time.
    pub fn sides(&self) -> impl Iterator<Item = &SideAccount> {
        self.measured().into_iter().flat_map(RunAccount::sides).map(|(_, own)| own)
    }

    /// The socket options that its connected sockets read back.
    pub fn applied(&self) -> impl Iterator<Item = &Applied> {
        let exact = if let Self::Exact(exact) = self { exact.exact.applied.as_slice() } else { &[] };
        self.sides().flat_map(|side| &side.whole.outcome.applied).chain(exact)
    }
}

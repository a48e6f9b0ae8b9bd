//! The examination of a machine, or of two machines as a pair: this is the JSON of
//! `netassay doctor`.

use serde::{Deserialize, Serialize};
use trace::ProbeLadder;

/// The findings about a machine or a pair.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Examination {
    /// The findings, those of an area behind each other.
    pub findings: Vec<Finding>,
    /// The kinds of probe that tracing has, best first.
    pub probes: ProbeLadder,
    /// Two machines side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<PairProperty>,
}

/// The examination of a pair of a fleet.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ExaminedPair {
    pub name: String,
    /// `None` if the machines could not be examined.
    pub examination: Option<Examination>,
    /// Why they could not be examined.
    pub failure: Option<String>,
}

impl ExaminedPair {
    /// The reason why nothing can be measured between its machines; `None` if there is none.
    pub fn hindrance(&self) -> Option<&str> {
        let findings = self.examination.iter().flat_map(|one| &one.findings);
        let mut failed = findings.filter(|finding| finding.status == FindingStatus::Fail);
        self.failure.as_deref().or_else(|| failed.next().map(|finding| finding.what.as_str()))
    }
}

/// One finding of an examination.
#[derive(Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The heading under which it stands.
    pub area: String,
    /// The property that was looked at.
    pub name: String,
    /// Whether it hinders or disturbs.
    pub status: FindingStatus,
    /// The state of the property.
    pub what: String,
    /// The remedy; `None` if none is needed.
    pub fix: Option<String>,
}

words::vocabulary! {
    /// Whether something hinders or disturbs measurements.
    pub enum FindingStatus: "a status" {
        /// It neither hinders nor disturbs.
        Ok = "ok";
        /// It disturbs, or a part is not available.
        Warn = "warn";
        /// It hinders.
        Fail = "fail";
    }
}

/// A property of two machines.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairProperty {
    /// Its name.
    pub property: String,
    /// Its value on the machine that sends.
    pub transmitter: String,
    /// Its value on the machine that receives.
    pub receiver: String,
}

impl Finding {
    /// A property that neither hinders nor disturbs.
    pub fn ok(area: &str, name: &str, what: impl Into<String>) -> Self {
        Self {
            area: area.to_owned(),
            name: name.to_owned(),
            status: FindingStatus::Ok,
            what: what.into(),
            fix: None,
        }
    }

    /// A disturbance, with its remedy.
    pub fn warn(area: &str, name: &str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { status: FindingStatus::Warn, fix: Some(fix.into()), ..Self::ok(area, name, what) }
    }

    /// A hindrance, with its remedy.
    pub fn fail(area: &str, name: &str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { status: FindingStatus::Fail, ..Self::warn(area, name, what, fix) }
    }
}

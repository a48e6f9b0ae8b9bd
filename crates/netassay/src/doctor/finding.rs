//! One finding of the examination.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(super) area: Cow<'static, str>,
    pub(super) name: String,
    pub(super) status: Status,
    pub(super) what: String,
    /// The remedy; `None` if none is needed.
    pub(super) fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Ok,
    Warn,
    Fail,
}

impl Finding {
    pub(super) fn sentence(&self) -> String {
        let status = match self.status {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        };
        let fix = self.fix.as_ref().map_or_else(String::new, |fix| format!(" -> {fix}"));
        format!("{status:<4}  {}: {}{fix}", self.name, self.what)
    }

    pub(super) fn ok(area: &'static str, name: impl Into<String>, what: impl Into<String>) -> Self {
        Self { area: area.into(), name: name.into(), status: Status::Ok, what: what.into(), fix: None }
    }

    /// A hindrance or disturbance, with its remedy.
    pub(super) fn warn(
        area: &'static str,
        name: impl Into<String>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { status: Status::Warn, fix: Some(fix.into()), ..Self::ok(area, name, what) }
    }

    /// A failure, with its remedy.
    pub(super) fn fail(
        area: &'static str,
        name: impl Into<String>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { status: Status::Fail, ..Self::warn(area, name, what, fix) }
    }
}

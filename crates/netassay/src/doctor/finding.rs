//! One thing that an examination of the machine finds.

use serde::Serialize;

/// One finding.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(super) area: &'static str,
    pub(super) name: String,
    pub(super) status: Status,
    pub(super) what: String,
    /// The remedy; `None` where all is well.
    pub(super) fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Ok,
    Warn,
    Fail,
}

impl Status {
    pub(super) fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        }
    }
}

impl Finding {
    pub(super) fn ok(area: &'static str, name: impl Into<String>, what: impl Into<String>) -> Self {
        Self { area, name: name.into(), status: Status::Ok, what: what.into(), fix: None }
    }

    /// What hinders or disturbs, with its remedy.
    pub(super) fn warn(
        area: &'static str,
        name: impl Into<String>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { status: Status::Warn, fix: Some(fix.into()), ..Self::ok(area, name, what) }
    }

    /// What does not work at all, with its remedy.
    pub(super) fn fail(
        area: &'static str,
        name: impl Into<String>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { status: Status::Fail, ..Self::warn(area, name, what, fix) }
    }
}

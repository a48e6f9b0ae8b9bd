//! What looking at the machine finds.

use serde::Serialize;

/// One finding.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(super) area: &'static str,
    pub(super) name: String,
    pub(super) status: Status,
    pub(super) what: String,
    /// What to do about it; `None` where there is nothing to do.
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
    pub(crate) fn new(
        area: &'static str,
        name: impl Into<String>,
        status: Status,
        what: impl Into<String>,
    ) -> Self {
        Self { area, name: name.into(), status, what: what.into(), fix: None }
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

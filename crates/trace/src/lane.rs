//! The layers of the kernel, as lanes of the flow chart.

use serde::{Deserialize, Serialize};

/// A layer of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Lane {
    Application,
    Socket,
    Protocol,
    Ip,
    Device,
    Driver,
    Interrupt,
}

//! The layers of the kernel, as lanes of the flow chart.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A layer of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Layer {
    Application,
    Socket,
    Protocol,
    Ip,
    Device,
    Driver,
    Interrupt,
}

impl Layer {
    /// The layers, from the outside of the kernel to the wire.
    pub const ALL: [Self; 7] = [
        Self::Application,
        Self::Socket,
        Self::Protocol,
        Self::Ip,
        Self::Device,
        Self::Driver,
        Self::Interrupt,
    ];
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Application => "application",
            Self::Socket => "socket",
            Self::Protocol => "protocol",
            Self::Ip => "IP",
            Self::Device => "device",
            Self::Driver => "driver",
            Self::Interrupt => "interrupt",
        })
    }
}

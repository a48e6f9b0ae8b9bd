//! How netassay sends and receives.

use load::{Reader, Sender};
use serde::Serialize;

/// How netassay does its side of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Mode {
    pub(crate) sender: Sender,
    pub(crate) reader: Reader,
}

impl Mode {
    pub(crate) const PLAIN: Self = Self { sender: Sender::Send, reader: Reader::Recv };
    pub(super) const SPIN: Self = Self { sender: Sender::Send, reader: Reader::Spin };
    pub(super) const GSO: Self = Self { sender: Sender::Gso, reader: Reader::Gro };

    /// Sender and reader, for a table.
    pub(crate) fn name(self) -> String {
        format!("{}, {}", self.sender, self.reader)
    }
}

//! What is asked of both sides in one comparison, and how netassay does its side.

use load::{Kind, Reader, Sender};
use serde::Serialize;

/// What is asked of both sides in one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Task {
    pub(crate) kind: Kind,
    /// Bytes per message.
    pub(crate) message: u32,
    pub(crate) flows: u32,
    /// Do both sides poll instead of sleeping?
    pub(crate) polls: bool,
}

/// How netassay does its side of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Mode {
    pub(crate) sender: Sender,
    pub(crate) reader: Reader,
}

impl Mode {
    pub(crate) const PLAIN: Self = Self { sender: Sender::Send, reader: Reader::Recv };
    pub(crate) const SPIN: Self = Self { sender: Sender::Send, reader: Reader::Spin };
    pub(crate) const GSO: Self = Self { sender: Sender::Gso, reader: Reader::Gro };

    /// Whether datagrams arrive several at once, so that the kernel's count of what programs
    /// received is none of datagrams.
    pub(crate) fn is_batched(self) -> bool {
        self.reader == Reader::Gro
    }

    /// Sender and reader, for a table.
    pub(crate) fn words(self) -> String {
        format!("{}, {}", self.sender, self.reader)
    }
}

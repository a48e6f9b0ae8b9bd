//! What is asked of both sides in one comparison, and how netassay does its side.

use load::Kind;
use serde::Serialize;

use crate::peers::Polling;

/// How long a socket polls its device, where it may, in µs: longer than any round trip here.
const SOCKET_POLLS: u32 = 50;

/// What is asked of both sides in one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) kind: Kind,
    /// Bytes per message.
    pub(crate) message: u32,
    pub(crate) flows: u32,
    /// Do both sides poll instead of sleeping?
    pub(crate) polls: bool,
}

impl Task {
    /// How its programs wait. A socket polls its device for privileged users only (socket(7),
    /// `SO_BUSY_POLL`).
    pub(crate) fn polling(self, rootless: bool) -> Polling {
        match (self.polls, rootless) {
            (false, _) => Polling::None,
            (true, true) => Polling::Program,
            (true, false) => Polling::ProgramAndSocket(SOCKET_POLLS),
        }
    }
}

/// How netassay does its side of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Way {
    pub(crate) sender: load::Sender,
    pub(crate) reader: load::Reader,
}

impl Way {
    pub(crate) const PLAIN: Self = Self { sender: load::Sender::Send, reader: load::Reader::Recv };
    pub(crate) const SPIN: Self = Self { sender: load::Sender::Send, reader: load::Reader::Spin };
    pub(crate) const GSO: Self = Self { sender: load::Sender::Gso, reader: load::Reader::Gro };

    /// Whether datagrams arrive several at once, so that the kernel's count of what programs took
    /// is none of datagrams.
    pub(crate) fn is_batched(self) -> bool {
        self.reader == load::Reader::Gro
    }

    /// Sender and reader, for a cell.
    pub(crate) fn words(self) -> String {
        format!("{}, {}", self.sender, self.reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_poll_for_the_privileged() {
        let task = Task { kind: Kind::UdpRr, message: 14, flows: 1, polls: true };
        assert_eq!(task.polling(true), Polling::Program);
        assert_eq!(task.polling(false), Polling::ProgramAndSocket(SOCKET_POLLS));
        assert_eq!(Task { polls: false, ..task }.polling(false), Polling::None);
    }
}

//! (fuzzing) An agent's session without a process: it acts in the namespaces of the calling thread.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::error::Refusal;
use crate::frame::Deadline;
use crate::launch::{Isolation, Launch};
use crate::message::{Answer, Request};
use crate::session::AgentSession;

/// One controller's conversation with an agent.
pub struct Conversation(AgentSession);

impl Conversation {
    /// Opens a session with all CPUs. An agent of [`Isolation::Machine`] may change settings.
    ///
    /// # Panics
    /// If the kernel gives no netlink sockets.
    pub fn new(isolation: Isolation) -> Self {
        let launch = Launch { isolation, ..Launch::default() };
        let session =
            AgentSession::open(launch, "fuzz", BTreeMap::new(), Vec::new(), host::Quotas::default());
        Self(session.expect("netlink sockets can be opened"))
    }

    /// The agent's answer to a request that has this time.
    pub fn ask(&mut self, request: Request, within: Duration) -> Answer {
        let deadline = Deadline::new(Instant::now(), within);
        self.0.answer(request, deadline, &|_| Ok(())).unwrap_or_else(Refusal::into_answer)
    }
}

//! (fuzzing) An agent's session without an agent's process: it acts in whatever namespaces the calling thread is in.

use std::collections::BTreeMap;

use crate::message::{Answer, Request};
use crate::options::{AgentOptions, Isolation};
use crate::refusal::Refusal;
use crate::session::Session;

/// One controller's conversation with an agent.
pub struct Conversation(Session);

impl Conversation {
    /// Opens it, with all CPUs.
    ///
    /// # Panics
    /// If the kernel gives no netlink sockets.
    #[expect(clippy::new_without_default, reason = "it takes sockets of the kernel")]
    pub fn new() -> Self {
        let options =
            AgentOptions { isolation: Isolation::None, cpus: Vec::new(), parent: None, version: "fuzz" };
        Self(Session::open(&options, BTreeMap::new()).expect("netlink sockets can be opened"))
    }

    /// What the agent answers.
    pub fn ask(&mut self, request: Request) -> Answer {
        self.0.answer(request).unwrap_or_else(Refusal::into_answer)
    }
}

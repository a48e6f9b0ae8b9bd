//! (fuzzing) An agent's session without an agent's process: it acts in whatever namespaces the
//! calling thread is in.

use std::collections::BTreeMap;

use crate::launch::{Isolation, Launch};
use crate::message::{Answer, Request};
use crate::refusal::Refusal;
use crate::session::{About, Session};

/// One controller's conversation with an agent.
pub struct Conversation(Session);

impl Conversation {
    /// Opens it, with all CPUs.
    ///
    /// # Panics
    /// If the kernel gives no netlink sockets.
    #[expect(clippy::new_without_default, reason = "it takes sockets of the kernel")]
    pub fn new() -> Self {
        let launch = Launch { isolation: Isolation::None, cpus: Vec::new(), parent: None };
        let about = About { version: "fuzz", machine: BTreeMap::new(), usable: Vec::new() };
        Self(Session::open(launch, about).expect("netlink sockets can be opened"))
    }

    /// What the agent answers.
    pub fn ask(&mut self, request: Request) -> Answer {
        self.0.answer(request).unwrap_or_else(Refusal::into_answer)
    }
}

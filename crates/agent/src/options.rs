//! What an agent is told when it is started.

use serde::{Deserialize, Serialize};

/// Where an agent puts itself before it serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Nowhere: it serves the host as it finds it.
    None,
    /// A new network namespace.
    Network,
    /// A new user namespace and a new network namespace that belongs to it: needs no privilege.
    UserAndNetwork,
    /// The user namespace of another process, and a new network namespace in it.
    NetworkInUserOf(u32),
    /// The network namespace of another process.
    NetworkOf(u32),
    /// The user namespace of another process, and its network namespace.
    UserAndNetworkOf(u32),
}

/// What an agent is told on its command line.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Where it puts itself.
    pub isolation: Isolation,
    /// The CPUs of its host; empty for all.
    pub cpus: Vec<u32>,
    /// The controller's process, with which the agent is to die; `None` where it runs on another kernel.
    pub parent: Option<u32>,
    /// The program's version, to answer with.
    pub version: &'static str,
}

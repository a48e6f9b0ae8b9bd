//! What can go wrong with a testbed.

use std::path::PathBuf;

use agent::CallError;
use thiserror::Error as ThisError;

/// Why a testbed could not be built or used.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The agent's process could not be made.
    #[error("cannot start the {host}'s agent ({}): {source}", .program.display())]
    Start {
        /// Which host.
        host: String,
        /// What was started.
        program: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The agent exited without being told to.
    #[error("the {host}'s agent (process {pid}) exited unexpectedly: {how}{said}")]
    Died {
        /// Which host.
        host: String,
        /// Its process id.
        pid: u32,
        /// Its exit status.
        how: String,
        /// What it wrote to standard error, as [`text::reason`] has it; empty if nothing.
        said: String,
    },
    /// The conversation with an agent failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A virtual machine could not be started, or is gone.
    #[error(transparent)]
    Guest(#[from] guest::Error),
    /// A virtual machine that runs, but whose agent is gone or says nothing.
    #[error("{source}; the virtual machine still runs; last lines of its console:\n{console}")]
    Unreachable {
        /// What came of talking to the agent.
        source: CallError,
        /// The console's last lines.
        console: String,
    },
    /// This workload needs a receiver, and the testbed has none.
    #[error(
        "{0} needs a receiver, and scenario \"discard\" has none: use scenario \"veth\" or \"loopback\", or the kind pps"
    )]
    NoReceiver(load::Kind),
    /// This scenario has virtual machines, which cannot be built inside one.
    #[error("scenario \"{0}\" already has virtual machines: remove `inside`, or use scenario \"veth\"")]
    Nested(study::Scenario),
    /// The kind pps has no receiver: a host that is there would answer that nobody listens.
    #[error("pps has no receiver and runs in scenario \"discard\" only: use that scenario, or udp_stream")]
    NeedsDiscard,
    /// Loopback has one interface for both ends, which were asked for different states of this
    /// feature.
    #[error(
        "over loopback both ends share one interface, so {0} cannot be on at one end and off at the other: give both sides the same level, or use scenario = \"veth\""
    )]
    OneInterface(String),
}

impl Error {
    /// Did the user ask to stop?
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Call(CallError::Interrupted) | Self::Guest(guest::Error::Interrupted))
    }

    /// Can the testbed be used for the next run? If not, it must be built anew.
    #[must_use]
    pub fn testbed_is_well(&self) -> bool {
        match self {
            Self::OneInterface(_) | Self::NoReceiver(_) | Self::NeedsDiscard => true,
            Self::Call(error) => error.agent_is_well(),
            _ => false,
        }
    }
}

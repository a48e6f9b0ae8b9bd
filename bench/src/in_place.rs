//! This program instead of netassay, in testbeds whose guests also need the shell: it is their first process, and serves as
//! their agents. It does both as netassay does, with the same crates.

use std::process::ExitCode;

use agent::{AgentOptions, Isolation};
use clap::{Args, ValueEnum};

use crate::failure::Failure;
use crate::place;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// As `netassay agent` takes it.
#[derive(Debug, Args)]
pub(crate) struct Agent {
    /// Where it puts itself
    #[arg(long)]
    isolation: Word,
    /// The CPUs of its host
    #[arg(long, value_delimiter = ',')]
    cpus: Vec<u32>,
    /// The process to die with
    #[arg(long)]
    parent: u32,
}

/// Where the host's side of guests is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    Network,
    UserAndNetwork,
}

/// Lives the life of a guest's first process, if it is one.
pub(crate) fn if_first_process() {
    if agent::init::is_called() {
        place::start_shell();
        agent::init::run(VERSION);
    }
}

/// `netassay-bench agent`
pub(crate) fn serve(agent: &Agent) -> Result<ExitCode, Failure> {
    let isolation = match agent.isolation {
        Word::Network => Isolation::Network,
        Word::UserAndNetwork => Isolation::UserAndNetwork,
    };
    let Agent { cpus, parent, .. } = agent;
    let options = AgentOptions { isolation, cpus: cpus.clone(), parent: Some(*parent), version: VERSION };
    agent::serve(&options).map_err(|error| Failure::Environment(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

//! The launch of agents: as a process, on a machine of the user's, and at a port of a guest.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use agent::{Client, Interrupt, Isolation, Launch};

use super::{AGENT, Carrier, LaunchedAgent, PATIENCE, PATIENCE_WITH_A_GUEST};
use crate::error::Error;
use crate::guest::RunningGuest;
use crate::hosts::HostPlace;
use crate::reach::{PipedCommand, TO_ANSWER};

// Some 100 bytes each way over ssh.
const SIGNS: Duration = Duration::from_millis(400);

#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentStart<'a> {
    pub(crate) name: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) isolation: Isolation,
    pub(crate) cpus: &'a [u32],
    pub(crate) interrupt: &'a Interrupt,
}

impl<'a> AgentStart<'a> {
    pub(crate) fn plain(name: &'a str, program: &'a Path, interrupt: &'a Interrupt) -> Self {
        Self { name, program, isolation: Isolation::None, cpus: &[], interrupt }
    }

    pub(crate) fn of_machine(name: &'a str, program: &'a Path, interrupt: &'a Interrupt) -> Self {
        Self { isolation: Isolation::Machine, ..Self::plain(name, program, interrupt) }
    }
}

impl LaunchedAgent {
    pub(crate) fn process(start: AgentStart<'_>) -> Result<Self, Error> {
        let launch = Launch { parent: Some(std::process::id()), ..of_this_session(start) };
        Self::spawn(own_command(start.program, AGENT), start, launch)
    }

    pub(crate) fn on_machine(
        place: &HostPlace,
        word: &'static str,
        start: AgentStart<'_>,
    ) -> Result<Self, Error> {
        let (command, name, patience) = match &place.by {
            Some(reached) => (reached.program(&[word]), format!("{} ({place})", start.name), TO_ANSWER),
            None => (own_command(start.program, word), start.name.to_owned(), PATIENCE),
        };
        let program = command.program();
        // It does not die with this process: it sees the end of its input, and undoes its changes.
        let launch = Launch {
            lease_ms: u64::try_from(place.lease.as_millis()).ok(),
            shares_machine: place.shares_machine,
            ..of_this_session(start)
        };
        let mut agent = Self::spawn(command, AgentStart { name: &name, ..start }, launch)?;
        let alive = agent.client.keep_alive_every(SIGNS, patience);
        alive.map_err(|error| not_started(&name, &program, &error))?;
        agent.on_machine = Some(word);
        agent.reached.clone_from(&place.by);
        Ok(agent)
    }

    fn spawn(command: PipedCommand, start: AgentStart<'_>, launch: Launch) -> Result<Self, Error> {
        let program = command.program();
        let started = command.spawn();
        let (mut process, stderr) = started.map_err(|error| not_started(start.name, &program, &error))?;
        let input = process.stdin.take().expect("its standard input was asked to be a pipe");
        let output = process.stdout.take().expect("its standard output was asked to be a pipe");
        Self::launch(start, launch, (input.into(), output.into()), Carrier::Process(process, stderr))
    }

    pub(crate) fn in_guest(
        guest: &Rc<RefCell<RunningGuest>>,
        port: usize,
        start: AgentStart<'_>,
    ) -> Result<Self, Error> {
        let pipes = guest.borrow_mut().port(port).expect("a guest is ordered with a port for each agent");
        let launch = Launch { isolation: start.isolation, cpus: start.cpus.to_vec(), ..Launch::default() };
        Self::launch(start, launch, pipes, Carrier::Guest(Rc::clone(guest)))
    }

    fn launch(
        start: AgentStart<'_>,
        launch: Launch,
        (to, from): (OwnedFd, OwnedFd),
        carrier: Carrier,
    ) -> Result<Self, Error> {
        let client = Client::new(start.name, to, from, start.interrupt.clone());
        let (pid, patience) = match &carrier {
            Carrier::Process(process, _) => (process.id(), PATIENCE),
            Carrier::Guest(_) => (0, PATIENCE_WITH_A_GUEST),
        };
        let mut launched = Self {
            client,
            work: Duration::ZERO,
            patience,
            pid,
            cpus: Vec::new(),
            carrier,
            on_machine: None,
            reached: None,
            has_failed: false,
        };
        let told = launched.client.launch(&launch, patience);
        told.map_err(|error| launched.explain(error))?;
        Ok(launched)
    }
}

fn not_started(host: &str, program: &str, error: &io::Error) -> Error {
    Error::Agent(format!("cannot start the {host}'s agent ({program}): {error}"))
}

/// The number of this process's session, for all its agents.
pub(crate) static SESSION: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

fn of_this_session(start: AgentStart<'_>) -> Launch {
    let (isolation, cpus) = (start.isolation, start.cpus.to_vec());
    Launch { session: *SESSION, isolation, cpus, ..Launch::default() }
}

fn own_command(program: &Path, word: &str) -> PipedCommand {
    let mut command = Command::new(program);
    command.arg(word);
    PipedCommand { command, first_line: String::new() }
}

//! The launch of agents: as a process, on a machine of the user's, and at a port of a guest.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use agent::{Client, Interrupt, Isolation, Launch};

use super::{AGENT, Carrier, LaunchedAgent, PATIENCE, PATIENCE_WITH_A_GUEST};
use crate::error::Error;
use crate::guest::Guest;
use crate::hosts::HostPlace;
use crate::reach::{PipedCommand, PipedProcess, TO_ANSWER};

/// Interval of the signs of life for an agent on a machine of the user's: some 100 bytes each way
/// over ssh.
const SIGNS: Duration = Duration::from_millis(400);

/// The command of the program that boots a guest and relays its agent.
const GUEST: &str = "guest";

impl LaunchedAgent {
    /// Starts an agent as a process of this machine; [`LaunchedAgent::greet`] waits until it runs
    /// there.
    pub(crate) fn process(
        program: &Path,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let launch =
            Launch { isolation, cpus: cpus.to_vec(), parent: Some(std::process::id()), ..of_this_session() };
        Self::spawn(own_command(program, AGENT), name, launch, interrupt)
    }

    pub(crate) fn on_machine(
        place: &HostPlace,
        program: &Path,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        Self::of_machine(place, AGENT, program, name, (isolation, cpus), interrupt)
    }

    /// Starts what will boot a guest on a machine of the user's, and be the pipe of its agent. It
    /// is greeted twice: before it boots the guest, and as the guest's agent.
    pub(crate) fn remote_guest(
        place: &HostPlace,
        program: &Path,
        name: &str,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        Self::of_machine(place, GUEST, program, name, (Isolation::Machine, &[]), interrupt)
    }

    fn of_machine(
        place: &HostPlace,
        word: &'static str,
        program: &Path,
        name: &str,
        (isolation, cpus): (Isolation, &[u32]),
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let (start, name, patience) = match &place.by {
            Some(reached) => (reached.program(&[word]), format!("{name} ({place})"), TO_ANSWER),
            None => (own_command(program, word), name.to_owned(), PATIENCE),
        };
        let started = start.program();
        // It does not die with this process: it sees the end of its input, and undoes its changes.
        let lease_ms = u64::try_from(place.lease.as_millis()).ok();
        let launch = Launch {
            isolation,
            cpus: cpus.to_vec(),
            lease_ms,
            shares_machine: place.shares_machine,
            ..of_this_session()
        };
        let mut agent = Self::spawn(start, &name, launch, interrupt)?;
        let alive = agent.client.keep_alive_every(SIGNS, patience);
        alive.map_err(|source| Error::Start { host: name, program: started, source })?;
        agent.on_machine = Some(word);
        agent.reached.clone_from(&place.by);
        Ok(agent)
    }

    /// Starts an agent by a command of this machine.
    fn spawn(start: PipedCommand, name: &str, launch: Launch, interrupt: &Interrupt) -> Result<Self, Error> {
        let (host, program) = (name.to_owned(), start.program());
        let started = start.spawn().map_err(|source| Error::Start { host, program, source })?;
        let PipedProcess { process, input, output, stderr } = started;
        let pid = process.id();
        let pipes = (input.into(), output.into());
        Self::launch(name, launch, pipes, (pid, Carrier::Process(process, stderr)), interrupt)
    }

    /// Starts and greets an agent that serves this machine as it is, under the name "host".
    pub(crate) fn on_this_machine(
        program: &Path,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let mut agent = Self::process(program, "host", isolation, cpus, interrupt)?;
        agent.greet()?;
        Ok(agent)
    }

    /// Starts an agent at a port of a guest that may still boot.
    pub(crate) fn in_guest(
        guest: &Rc<RefCell<Guest>>,
        port: usize,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let (to, from) =
            guest.borrow_mut().port(port).expect("a guest is ordered with a port for each agent");
        let launch = Launch { isolation, cpus: cpus.to_vec(), ..Launch::default() };
        Self::launch(name, launch, (to, from), (0, Carrier::Guest(Rc::clone(guest))), interrupt)
    }

    /// Sends the first line to an agent that may still start.
    fn launch(
        name: &str,
        launch: Launch,
        (to, from): (OwnedFd, OwnedFd),
        (pid, carrier): (u32, Carrier),
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let mut client = Client::new(name, to, from, interrupt.clone());
        let is_guest = matches!(carrier, Carrier::Guest(_));
        client.runs_as(match &carrier {
            Carrier::Process(process, _) => process.id(),
            Carrier::Guest(guest) => guest.borrow().pid(),
        });
        let mut launched = Self {
            name: name.to_owned(),
            client,
            work: Duration::ZERO,
            patience: if is_guest { PATIENCE_WITH_A_GUEST } else { PATIENCE },
            pid,
            cpus: Vec::new(),
            carrier,
            on_machine: None,
            reached: None,
            has_failed: false,
        };
        let told = launched.client.launch(&launch, launched.patience);
        told.map_err(|error| launched.explain(error))?;
        Ok(launched)
    }
}

/// The launch of this session's agents, without isolation and CPUs.
fn of_this_session() -> Launch {
    static SESSION: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    Launch { session: *SESSION, ..Launch::default() }
}

/// The command that runs this program as an agent or a guest's relay on this machine.
fn own_command(program: &Path, word: &str) -> PipedCommand {
    let mut command = Command::new(program);
    command.arg(word);
    command.into()
}

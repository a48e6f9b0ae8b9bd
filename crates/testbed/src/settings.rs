//! The settings of a machine that a study changes, in the hands of an agent there: it keeps the
//! undo journal on the machine's own disk, and undoes.

use std::path::Path;
use std::time::Duration;

use agent::message::{Answer, Request, Undone};
use agent::{Interrupt, Isolation};
use host::machine::MachineRequest;

use crate::error::Error;
use crate::launched::Launched;

/// How long an agent may take beyond a usual answer: each change is on disk before it is made, and
/// a setting of each CPU makes thousands of them.
const WORK: Duration = Duration::from_secs(300);

/// The agent that changes the settings of this machine. Dropping it undoes what is changed;
/// [`MachineSettings::undo`] says what came of it.
#[derive(Debug)]
pub struct MachineSettings {
    agent: Launched,
    is_changed: bool,
}

impl MachineSettings {
    /// Launches the agent; nothing is changed yet. `program`: the netassay binary. `interrupt`: one
    /// that nobody trips, so that what is changed is also undone after the user has asked to stop.
    ///
    /// # Errors
    /// When no agent can be started.
    pub fn of_this_machine(program: &Path, interrupt: &Interrupt) -> Result<Self, Error> {
        let mut agent = Launched::here(program, Isolation::Machine, &[], interrupt)?;
        agent.work = WORK;
        Ok(Self { agent, is_changed: false })
    }

    /// Changes settings, and tells each change in words.
    ///
    /// # Errors
    /// [`agent::CallError::Refused`] with the reason if one cannot be changed: those before it are
    /// until they are undone. Any other error: the agent is gone, and its journal tells `netassay
    /// restore` what to undo.
    pub fn change(&mut self, wanted: MachineRequest) -> Result<Vec<String>, Error> {
        self.is_changed = true;
        self.told(&Request::ChangeMachine(wanted))
    }

    /// How the settings differ from what they were changed to, in sentences; nothing if nobody has
    /// touched them.
    ///
    /// # Errors
    /// When the agent is gone.
    pub fn differences(&mut self) -> Result<Vec<String>, Error> {
        self.told(&Request::MachineDifferences)
    }

    /// Undoes every change, the last first.
    ///
    /// # Errors
    /// When the journal cannot be written, or the agent is gone: then `netassay restore` looks at
    /// what is left.
    pub fn undo(mut self) -> Result<Vec<Undone>, Error> {
        self.undo_now()
    }

    fn undo_now(&mut self) -> Result<Vec<Undone>, Error> {
        self.is_changed = false;
        match self.agent.call(&Request::UndoMachine)? {
            Answer::MachineUndone { changes } => Ok(changes),
            other => Err(self.agent.client.unexpected(&other).into()),
        }
    }

    fn told(&mut self, request: &Request) -> Result<Vec<String>, Error> {
        match self.agent.call(request)? {
            Answer::Told { what } => Ok(what),
            other => Err(self.agent.client.unexpected(&other).into()),
        }
    }
}

impl Drop for MachineSettings {
    fn drop(&mut self) {
        if self.is_changed {
            // Nobody is left to be told; the journal stays if anything is left to be done.
            let _ = self.undo_now();
        }
    }
}

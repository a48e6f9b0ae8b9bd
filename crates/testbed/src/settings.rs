//! The machine's settings that a study changes, by an agent on that machine: it keeps the undo
//! journal on the machine's disk.

use std::path::Path;
use std::time::Duration;

use agent::message::{Answer, Request, Undone};
use agent::Interrupt;
use host::journal::{Change, Difference};
use host::machine::MachineRequest;

use crate::error::Error;
use crate::launched_agent::{AgentStart, LaunchedAgent, ask};

/// The extra time for an agent's answer: each change is on disk before it is made, and a setting of
/// each CPU makes thousands of them.
pub(crate) const WORK: Duration = Duration::from_secs(300);

/// The agent that changes the settings of this machine. Dropping it undoes the changes;
/// [`SettingsAgent::undo`] also reports the result.
#[derive(Debug)]
pub struct SettingsAgent {
    agent: LaunchedAgent,
    is_changed: bool,
}

impl SettingsAgent {
    /// Launches the agent; nothing is changed yet. `program`: the netassay binary. `interrupt`: one
    /// that nobody trips, so that changes are undone even after the user has asked to stop.
    ///
    /// # Errors
    /// When no agent can be started.
    pub fn of_this_machine(program: &Path, interrupt: &Interrupt) -> Result<Self, Error> {
        let mut agent = LaunchedAgent::on_this_machine(AgentStart::of_machine("host", program, interrupt))?;
        agent.work = WORK;
        Ok(Self { agent, is_changed: false })
    }

    /// Changes settings, and tells each change.
    ///
    /// # Errors
    /// [`agent::CallError::Refused`] with the reason if one cannot be changed: those before it are
    /// until they are undone. Any other error: the agent is gone, and its journal tells `netassay
    /// restore` what to undo.
    pub fn change(&mut self, wanted: MachineRequest) -> Result<Vec<Change>, Error> {
        self.is_changed = true;
        Ok(ask!(self.agent, &Request::ChangeMachine(wanted), Answer::MachineChanged { changes } => changes))
    }

    /// Compares the settings with the values that were set; empty if nobody has touched them.
    ///
    /// # Errors
    /// When the agent is gone.
    pub fn differences(&mut self) -> Result<Vec<Difference>, Error> {
        Ok(ask!(self.agent, &Request::MachineDifferences, Answer::MachineDiffers { differences } => differences))
    }

    /// Undoes every change, the last first.
    ///
    /// # Errors
    /// When the journal cannot be written, or the agent is gone: then `netassay undo` undoes the
    /// rest.
    pub fn undo(mut self) -> Result<Vec<Undone>, Error> {
        self.undo_now()
    }

    fn undo_now(&mut self) -> Result<Vec<Undone>, Error> {
        self.is_changed = false;
        Ok(ask!(self.agent, &Request::UndoMachine, Answer::MachineUndone { changes } => changes))
    }
}

impl Drop for SettingsAgent {
    fn drop(&mut self) {
        if self.is_changed {
            // Nobody reads the result here; the journal stays if anything is left.
            let _ = self.undo_now();
        }
    }
}

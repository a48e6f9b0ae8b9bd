//! What a study changes of the machine itself: by an agent that was launched for it, which keeps
//! the undo journal on the machine's own disk.

use host::journal::{self, Change, Journal};
use host::machine::{Machine, MachineRequest};

use crate::launch::{Isolation, Launch};
use crate::message::{Answer, Undone};
use crate::refusal::{Refusal, Reply};

/// The machine's settings in the hands of one session. Dropping it undoes what it changed, unless
/// the agent dies with its controller.
pub(crate) struct MachineSettings {
    is_allowed: bool,
    dies_with_controller: bool,
    journal: Option<Journal>,
}

impl MachineSettings {
    /// Nothing is changed yet.
    pub(crate) fn new(launch: &Launch) -> Self {
        let is_allowed = launch.isolation == Isolation::Machine;
        Self { is_allowed, dies_with_controller: launch.parent.is_some(), journal: None }
    }

    /// Changes settings. What was changed before one was refused stays so until it is undone.
    pub(crate) fn change(&mut self, wanted: &MachineRequest) -> Reply {
        if !self.is_allowed {
            return Err("this agent was not launched to change the settings of its machine".into());
        }
        let settings = wanted.settings(&Machine::system()).map_err(Refusal::passing)?;
        if self.journal.is_none() {
            self.journal =
                Some(Journal::new(&journal::directory().map_err(Refusal::passing)?, Machine::system()));
        }
        let journal = self.journal.as_mut().expect("it was made just above");
        journal.change(&settings).map_err(Refusal::passing)?;
        let changed = journal.changes().iter().filter(|change| !change.is_nothing());
        Ok(Answer::Told { what: changed.map(Change::to_string).collect() })
    }

    /// How settings differ from what was read back when they were changed.
    pub(crate) fn differences(&self) -> Answer {
        Answer::Told { what: self.journal.as_ref().map(Journal::differences).unwrap_or_default() }
    }

    /// Undoes every change. Other sessions may change the machine from then on.
    pub(crate) fn undo(&mut self) -> Reply {
        let undone = self.journal.take().map_or(Ok(Vec::new()), Journal::undo).map_err(Refusal::passing)?;
        Ok(Answer::MachineUndone { changes: undone.iter().map(Undone::of).collect() })
    }
}

impl Drop for MachineSettings {
    /// Where the end of the input means that the controller was killed, the same kill reaches this
    /// agent at any moment. It leaves the journal whole to the next session, which tells what it
    /// undoes, and does not begin what it may not end.
    fn drop(&mut self) {
        if self.dies_with_controller {
            std::mem::forget(self.journal.take());
        }
    }
}

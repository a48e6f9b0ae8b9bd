//! Changes of the machine itself, by an agent that was launched for it. It keeps the undo journal
//! on the machine's own disk.

use host::HeldLatency;
use host::journal::{self, Journal};
use host::machine::{Machine, MachineRequest, Target};

use crate::launch::{Isolation, Launch};
use crate::message::{Answer, Undone};
use crate::refusal::{Refusal, Reply};

/// The machine's settings during one session. Dropping it undoes the changes, unless the agent dies
/// with its controller.
pub(crate) struct MachineSettings {
    is_allowed: bool,
    dies_with_controller: bool,
    journal: Option<Journal>,
    /// Ends with the agent, so that it needs no journal.
    latency: Option<HeldLatency>,
    /// The CPUs of interrupts and queues that were asked for.
    placed: Vec<(Target, String)>,
}

impl MachineSettings {
    pub(crate) fn new(launch: &Launch) -> Self {
        let is_allowed = launch.isolation == Isolation::Machine;
        Self {
            is_allowed,
            dies_with_controller: launch.parent.is_some(),
            journal: None,
            latency: None,
            placed: Vec::new(),
        }
    }

    /// Whether this agent may change the settings of its machine.
    pub(crate) fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// Changes settings. If one is refused, earlier changes stay until they are undone.
    pub(crate) fn change(&mut self, wanted: &MachineRequest) -> Reply {
        self.check_allowed()?;
        let machine = Machine::system();
        let settings = wanted.settings(&machine).map_err(Refusal::passing)?;
        if let Some(microseconds) = wanted.cpu_latency {
            self.latency = Some(HeldLatency::hold(microseconds).map_err(Refusal::passing)?);
        }
        let is_placement = |(target, _): &&(Target, String)| target.is_placement();
        self.placed = settings.iter().filter(is_placement).cloned().collect();
        let journal = self.journal()?;
        journal.change(&settings).map_err(Refusal::passing)?;
        let changed = journal.changes().iter().filter(|change| !change.is_nothing());
        Ok(Answer::MachineChanged { changes: changed.cloned().collect() })
    }

    /// Sets the CPUs of interrupts and queues again that a driver has chosen anew.
    pub(crate) fn place_again(&mut self) -> Result<(), Refusal> {
        let machine = Machine::system();
        let is_so = |(target, value): &&(Target, String)| machine.has(target, value);
        let again: Vec<_> = self.placed.iter().filter(|one| !is_so(one)).cloned().collect();
        if again.is_empty() {
            return Ok(());
        }
        self.journal()?.change(&again).map_err(Refusal::passing)
    }

    pub(crate) fn check_allowed(&self) -> Result<(), Refusal> {
        if self.is_allowed {
            return Ok(());
        }
        Err("this agent was not launched to change the settings of its machine".into())
    }

    /// Lets it change what a user had applied to stay.
    pub(crate) fn go_over_applied(&mut self) -> Result<(), Refusal> {
        self.check_allowed()?;
        self.journal()?.go_over_applied();
        Ok(())
    }

    /// Lets all changes stay, and tells them. Then other sessions may change the machine.
    pub(crate) fn keep(&mut self, why: &str) -> Reply {
        self.check_allowed()?;
        let kept = self.journal.take().map_or(Ok(Vec::new()), |journal| journal.keep(why));
        Ok(Answer::MachineChanged { changes: kept.map_err(Refusal::passing)? })
    }

    /// Lets `action` change settings, which are in the journal before.
    pub(crate) fn cover<T>(
        &mut self,
        targets: &[Target],
        action: impl FnOnce() -> Result<T, host::Error>,
    ) -> Result<T, Refusal> {
        Ok(self.journal()?.cover(targets, action)?)
    }

    /// Undoes the changes of some settings.
    pub(crate) fn undo_some(&mut self, chosen: impl Fn(&Target) -> bool) -> Result<(), Refusal> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.undo_some(chosen)).map_err(Refusal::passing)
    }

    fn journal(&mut self) -> Result<&mut Journal, Refusal> {
        Ok(match &mut self.journal {
            Some(journal) => journal,
            _ if !host::Privileges::read().privileged() => return Err(NO_ROOT.into()),
            none => {
                let directory = journal::directory().map_err(Refusal::passing)?;
                none.insert(Journal::new(&directory, Machine::system()))
            }
        })
    }

    /// How the changed settings differ from what was read back then.
    pub(crate) fn differences(&self) -> Answer {
        Answer::MachineDiffers {
            differences: self.journal.as_ref().map(Journal::differences).unwrap_or_default(),
        }
    }

    /// Undoes every change; then other sessions may change the machine.
    pub(crate) fn undo(&mut self) -> Reply {
        self.latency = None;
        self.placed.clear();
        let undone = self.journal.take().map_or(Ok(Vec::new()), Journal::undo).map_err(Refusal::passing)?;
        Ok(Answer::MachineUndone { changes: undone.iter().map(Undone::of).collect() })
    }
}

const NO_ROOT: &str = "this would change the machine, and its login is not root: log in as root (root@HOST), let the login run sudo without a \
    password, or choose what changes nothing";

impl Drop for MachineSettings {
    /// If the controller was killed, the same kill may reach this agent at any moment. So it leaves
    /// the whole journal to the next session instead of an undo that may stop half-way.
    fn drop(&mut self) {
        if self.dies_with_controller {
            std::mem::forget(self.journal.take());
        }
    }
}

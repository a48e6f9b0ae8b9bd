//! Changes of the agent's own machine, with the undo journal on that machine's disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use host::journal::{self, Change, Journal};
use host::machine::{Machine, MachineRequest, SettingValue, Target};
use host::{CapabilitySet, LockHolder, hold_latency};
use words::Tuning;

use crate::error::{Refusal, Reply};
use crate::launch::{Isolation, Launch};
use crate::message::{Answer, Undone};

/// Dropping it undoes the changes, unless the agent dies with its controller.
pub(crate) struct MachineSettings {
    launch: Launch,
    journal: Option<Journal>,
    // In µs, with the file that holds it: it ends with the agent, so that it needs no journal.
    latency: Option<(u32, File)>,
    session_latency: Option<u32>,
    placed: Vec<(Target, String)>,
    /// Settings that conditions changed, each with its value before the first of them.
    tuned: BTreeMap<Target, String>,
    remembered: BTreeSet<String>,
}

impl MachineSettings {
    pub(crate) fn new(launch: &Launch) -> Self {
        Self {
            launch: launch.clone(),
            journal: None,
            latency: None,
            session_latency: None,
            placed: Vec::new(),
            tuned: BTreeMap::new(),
            remembered: BTreeSet::new(),
        }
    }

    pub(crate) fn is_allowed(&self) -> bool {
        self.launch.isolation == Isolation::Machine
    }

    /// Takes the right to change the machine before the first change ([`Journal::claim_early`]).
    pub(crate) fn claim(&mut self) -> Result<(), LockHolder> {
        if !self.is_allowed() {
            return Ok(());
        }
        // Without a journal the first change tells why.
        self.journal().map_or(Ok(()), Journal::claim_early)
    }

    pub(crate) fn leave(&mut self) {
        self.journal.iter_mut().for_each(Journal::leave);
    }

    /// If one is refused, earlier changes stay until they are undone.
    pub(crate) fn change(&mut self, wanted: &MachineRequest) -> Reply {
        self.check_allowed()?;
        if wanted.is_empty() {
            // A study would measure what an earlier session has changed.
            if host::Privileges::read().capabilities.contains(CapabilitySet::NET_ADMIN) {
                self.journal()?.check_free().map_err(Refusal::of_settings)?;
            }
            return Ok(Answer::MachineChanged(Vec::new()));
        }
        let settings = self.own_settings(wanted)?;
        self.session_latency = wanted.cpu_latency;
        self.hold_latency(wanted.cpu_latency)?;
        let is_placement = |(target, _): &&(Target, String)| target.is_placement();
        self.placed = settings.iter().filter(is_placement).cloned().collect();
        let journal = self.journal()?;
        journal.change(&settings).map_err(Refusal::of_settings)?;
        let changed = journal.changes().filter(|change| !change.is_nothing());
        Ok(Answer::MachineChanged(changed.cloned().collect()))
    }

    fn own_settings(&self, wanted: &MachineRequest) -> Result<Vec<(Target, String)>, Refusal> {
        let mut settings = wanted.settings(&Machine::system()).map_err(Refusal::passing)?;
        // Settings of the whole machine belong to one agent of the session: they are undone once.
        settings.retain(|(target, _)| !self.launch.shares_machine || !target.is_of_whole_machine());
        Ok(settings)
    }

    fn hold_latency(&mut self, microseconds: Option<u32>) -> Result<(), Refusal> {
        if self.latency.as_ref().map(|(held, _)| *held) != microseconds {
            // The old bound holds until the new one does.
            let hold = |microseconds| hold_latency(&Machine::system(), microseconds);
            let file = microseconds.map(hold).transpose().map_err(Refusal::passing)?;
            self.latency = microseconds.zip(file);
        }
        Ok(())
    }

    pub(crate) fn preview(&self, wanted: &MachineRequest) -> Result<Vec<Change>, Refusal> {
        self.check_allowed()?;
        let machine = Machine::system();
        let mut changes = Vec::new();
        for (number, (target, value)) in (1..).zip(self.own_settings(wanted)?) {
            let before = machine.read(&target).map_err(Refusal::passing)?;
            if !machine.has(&target, &value) {
                changes.push(Change { number, target, before, after: Some(value.as_str().into()) });
            }
        }
        Ok(changes)
    }

    // Called before the first change: another number of queues changes these CPUs too.
    pub(crate) fn remember(&mut self, tuning: &Tuning, interface: &str) {
        let is_varied = tuning.placement.is_some() || tuning.irq_affinity.is_some();
        if is_varied && self.remembered.insert(interface.to_owned()) {
            let machine = Machine::system();
            for target in machine.receiving(interface) {
                if let Ok(before) = machine.read(&target) {
                    self.tuned.entry(target).or_insert_with(|| as_written(&before));
                }
            }
        }
    }

    /// Also sets back earlier conditions' changes that it does not ask for.
    pub(crate) fn tune(&mut self, tuning: &Tuning, interface: &str) -> Result<(), Refusal> {
        let wanted = MachineRequest::of_condition(tuning, interface);
        if wanted.is_empty() && self.tuned.is_empty() && self.latency.is_none() {
            return Ok(());
        }
        let has_own_network = matches!(
            self.launch.isolation,
            Isolation::Network | Isolation::UserAndNetwork | Isolation::NetworkInUserOf(_)
        );
        // In a network namespace of the agent's own only sysctls can be set, alike for all
        // conditions, and the namespace ends with the agent.
        if has_own_network && wanted.cpu_latency.is_none() {
            let settings = wanted.settings(&Machine::system()).map_err(Refusal::passing)?;
            let set = |(target, value): &(Target, String)| Machine::system().set_of_network(target, value);
            return settings.iter().try_for_each(set).map_err(Refusal::passing);
        }
        self.check_allowed()?;
        self.hold_latency(wanted.cpu_latency.or(self.session_latency))?;
        let machine = Machine::system();
        let settings = self.own_settings(&wanted)?;
        let is_wanted = |target: &Target| settings.iter().any(|(wanted, _)| wanted == target);
        // An interrupt may be gone with its queue.
        let back = self.tuned.iter().filter(|(target, _)| !is_wanted(target) && machine.read(target).is_ok());
        let back = back.map(|(target, value)| (target.clone(), value.clone()));
        let mut all: Vec<(Target, String)> = back.chain(settings.iter().cloned()).collect();
        all.retain(|(target, value)| !machine.has(target, value));
        for (target, _) in settings {
            let before = machine.read(&target).map_err(Refusal::passing)?;
            self.tuned.entry(target).or_insert_with(|| as_written(&before));
        }
        if all.is_empty() { Ok(()) } else { self.journal()?.switch(&all).map_err(Refusal::of_settings) }
    }

    pub(crate) fn place_again(&mut self) -> Result<(), Refusal> {
        let machine = Machine::system();
        let mut again = self.placed.clone();
        again.retain(|(target, value)| !self.tuned.contains_key(target) && !machine.has(target, value));
        if again.is_empty() { Ok(()) } else { self.journal()?.change(&again).map_err(Refusal::of_settings) }
    }

    pub(crate) fn check_allowed(&self) -> Result<(), Refusal> {
        if self.is_allowed() {
            return Ok(());
        }
        Err("this agent was not launched to change the settings of its machine".into())
    }

    pub(crate) fn allow_changing_applied(&mut self) -> Result<(), Refusal> {
        self.check_allowed()?;
        self.journal()?.may_change_applied = true;
        Ok(())
    }

    pub(crate) fn keep(&mut self, why: &str) -> Reply {
        self.check_allowed()?;
        let kept = self.journal.take().map_or(Ok(Vec::new()), |journal| journal.keep(why));
        Ok(Answer::MachineChanged(kept.map_err(Refusal::of_settings)?))
    }

    pub(crate) fn cover<T>(
        &mut self,
        targets: &[Target],
        action: impl FnOnce() -> Result<T, host::Error>,
    ) -> Result<T, Refusal> {
        // They are in the journal, on disk, before the action.
        Ok(self.journal()?.cover(targets, action)?)
    }

    pub(crate) fn undo_matching(&mut self, chosen: impl Fn(&Target) -> bool) -> Result<(), Refusal> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        journal.undo_matching(chosen).map_err(Refusal::of_settings)
    }

    fn journal(&mut self) -> Result<&mut Journal, Refusal> {
        Ok(match &mut self.journal {
            Some(journal) => journal,
            _ if !host::Privileges::read().capabilities.contains(CapabilitySet::NET_ADMIN) => {
                let why = if nix::unistd::geteuid().is_root() { NO_NET_ADMIN } else { NO_ROOT };
                return Err(why.into());
            }
            none => {
                let directory = journal::directory().map_err(Refusal::passing)?;
                let journal = none.insert(Journal::new(&directory, Machine::system()));
                journal.session = self.launch.session;
                journal
            }
        })
    }

    pub(crate) fn differences(&self) -> Answer {
        Answer::MachineDiffers(self.journal.as_ref().map(Journal::differences).unwrap_or_default())
    }

    pub(crate) fn undo(&mut self) -> Reply {
        // Without the journal's lock other sessions may change the machine.
        let journal = self.journal.take();
        *self = Self::new(&self.launch);
        let undone = journal.map_or(Ok(Vec::new()), Journal::undo).map_err(Refusal::of_settings)?;
        Ok(Answer::MachineUndone(undone.iter().map(Undone::from_undoing).collect()))
    }
}

fn as_written(value: &SettingValue) -> String {
    // The kernel adds the end of the line.
    value.text().trim().to_owned()
}

const NO_ROOT: &str = "this would change the machine, and its login is not root: log in as root (root@HOST), let the login run sudo without a \
    password, or choose what changes nothing";
const NO_NET_ADMIN: &str = "this would change the machine, and its root lacks CAP_NET_ADMIN there: give the container that capability, or choose \
    what changes nothing";

impl Drop for MachineSettings {
    // A killed controller's signal may reach this agent at any moment, and stop an undo half-way:
    // the journal is left to the next session.
    fn drop(&mut self) {
        if self.launch.parent.is_some() {
            std::mem::forget(self.journal.take());
        }
    }
}

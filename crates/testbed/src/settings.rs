//! The machine's settings that a study changes, by an agent that keeps the undo journal.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use agent::Interrupt;
use agent::message::{Answer, Request, Undone};
use host::InterfaceEnvironment;
use host::journal::{Change, ReadBackDifference};
use host::machine::MachineRequest;
use record::NamedMachine;
use study::{BySide, Placement, feature};

use crate::error::Error;
use crate::hosts::{HostPlace, Hosts, MachineSideSettings};
use crate::intended_change::IntendedChange;
use crate::launched_agent::{AGENT, AgentStart, LaunchedAgent, answer, ask};
use crate::path::await_running;
use crate::two_machines::{self, ConnectedMachine};

// Each change is on disk before it is made, and a setting of each CPU makes thousands of them.
const WORK: Duration = Duration::from_secs(300);

/// Makes the study's settings on both machines. Returns the CPUs of each end's traffic, and the
/// machine with its changes.
pub(crate) fn apply_settings(
    settings: &BySide<MachineSideSettings>,
    hosts: &Hosts,
    machines: &mut BySide<ConnectedMachine>,
) -> Result<BySide<(Vec<u32>, NamedMachine)>, Error> {
    BySide::try_from_fn(|side| {
        let ConnectedMachine { agent, located } = &mut machines[side];
        let (settings, interface) = (&settings[side], located.interface.clone());
        let mut cpus = two_machines::cpus(agent, located);
        if let Some(Placement { traffic, .. }) = settings.placement {
            let all = agent.cpu_numbers();
            if !all.contains(&traffic) {
                return Err(not_allowed(hosts.end(side), traffic, &all));
            }
            cpus = vec![traffic];
        }
        // The agent undoes the settings at its end.
        agent.work = WORK;
        let answer = agent.call(&Request::ChangeMachine(settings.request(&interface)));
        agent.work = Duration::ZERO;
        let answer = answer.map_err(|error| error.or_not_set(hosts.end(side)))?;
        let changed = answer!(agent, answer, Answer::MachineChanged(changes) => changes);
        // Another number of queues restarts some cards.
        await_running(agent, &interface)?;
        Ok((cpus, NamedMachine { host: hosts.places[side].to_string(), interface, changed }))
    })
}

pub(crate) fn not_allowed(end: impl Display, cpu: u32, may: &[u32]) -> Error {
    let may = words::format_cpu_list(may);
    Error::Failed(format!("the {end}: the traffic cannot run on CPU {cpu}: it may use the CPUs {may}"))
}

/// Changes the settings of a machine. Dropping it undoes the changes that are not kept: by itself,
/// or by the agent's undo process.
#[derive(Debug)]
pub struct SettingsAgent {
    agent: LaunchedAgent,
    is_changed: bool,
}

impl SettingsAgent {
    /// Changes nothing yet. `program`: the netassay binary. `interrupt`: one that nobody trips, so
    /// that changes are undone even after the user has asked to stop.
    ///
    /// # Errors
    /// When no agent can be started.
    pub fn of_this_machine(program: &Path, interrupt: &Interrupt) -> Result<Self, Error> {
        let start = AgentStart::of_machine("host", program, interrupt);
        let mut agent = LaunchedAgent::process(start)?.greeted()?;
        agent.work = WORK;
        Ok(Self { agent, is_changed: false })
    }

    /// Changes settings, and tells each change.
    ///
    /// # Errors
    /// [`agent::CallError::Refused`] if one cannot be changed: those before it stay until they are
    /// undone. Any other error: the agent is gone, and `netassay restore` undoes its journal.
    pub fn change(&mut self, wanted: MachineRequest) -> Result<Vec<Change>, Error> {
        self.is_changed = true;
        Ok(ask!(self.agent, &Request::ChangeMachine(wanted), Answer::MachineChanged(changes) => changes))
    }

    /// Compares the settings with the values that were set; empty if nobody has touched them.
    ///
    /// # Errors
    /// When the agent is gone.
    pub fn differences(&mut self) -> Result<Vec<ReadBackDifference>, Error> {
        let request = Request::MachineDifferences;
        Ok(ask!(self.agent, &request, Answer::MachineDiffers(differences) => differences))
    }

    /// Undoes every change, the last first.
    ///
    /// # Errors
    /// When the journal cannot be written, or the agent is gone: `netassay undo` undoes the rest.
    pub fn undo(&mut self) -> Result<Vec<Undone>, Error> {
        self.is_changed = false;
        Ok(ask!(self.agent, &Request::UndoMachine, Answer::MachineUndone(changes) => changes))
    }

    /// Starts the agent on a machine; nothing is changed. `program`: the netassay binary.
    ///
    /// # Errors
    /// When no agent can be started.
    pub fn open(place: &HostPlace, program: &Path, interrupt: &Interrupt) -> Result<Self, Error> {
        let start = AgentStart::of_machine("host", program, interrupt);
        let agent = LaunchedAgent::on_machine(place, AGENT, start)?.greeted()?;
        Ok(Self { agent, is_changed: false })
    }

    /// The interface with this name or alternative name, as it is now.
    ///
    /// # Errors
    /// There is none, or the agent is gone.
    pub fn look(&mut self, interface: &str) -> Result<InterfaceEnvironment, Error> {
        let request = Request::Environment { interfaces: vec![interface.to_owned()] };
        let about = ask!(self.agent, &request, Answer::Environment(about) => about);
        about.interfaces.into_values().flatten().next().ok_or_else(|| {
            let host = self.agent.machine();
            Error::Failed(format!("{host} has no interface {interface:?}: `ip link` lists those that it has"))
        })
    }

    /// Sets an interface, and reads it back.
    ///
    /// # Errors
    /// When a setting is refused, or reads back otherwise; dropping this undoes the rest.
    pub fn set(&mut self, interface: &str, wanted: &InterfaceSettings) -> Result<(), Error> {
        let InterfaceSettings { mtu, features } = wanted.clone();
        let request = Request::Apply { interface: interface.to_owned(), mtu, features };
        let settled = ask!(self.agent, &request, Answer::Settled(settled) => settled);
        let refused = |what: String| {
            Error::Failed(format!(
                "{}, interface {interface}: {what}; so nothing is applied, and what was set is undone",
                self.agent.machine()
            ))
        };
        if let Some((name, why)) = settled.refused.iter().next() {
            return Err(refused(format!("{name} is refused: {why}")));
        }
        if let Some(mtu) = wanted.mtu.filter(|mtu| *mtu != settled.mtu) {
            return Err(refused(format!("the MTU reads back {} and not {mtu}", settled.mtu)));
        }
        Ok(())
    }

    /// Lets all changes stay, and tells each. `why`: for readers of the journal on the machine.
    ///
    /// # Errors
    /// When the journal cannot be written, or the agent is gone: then all is undone.
    pub fn keep(mut self, why: &str) -> Result<Vec<Change>, Error> {
        let request = Request::Keep { why: why.to_owned() };
        Ok(ask!(self.agent, &request, Answer::MachineChanged(changes) => changes))
    }
}

/// A feature that an interface cannot switch, as the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the interface {interface} cannot switch it {state}")]
pub struct FixedFeature {
    interface: String,
    state: &'static str,
}

impl Drop for SettingsAgent {
    fn drop(&mut self) {
        if self.is_changed {
            // Nobody reads the result here; the journal stays if anything is left.
            let _ = self.undo();
        }
    }
}

/// Settings to be made on one interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct InterfaceSettings {
    /// The MTU, in bytes; `None` keeps it.
    pub mtu: Option<u32>,
    pub features: BTreeMap<String, bool>,
}

impl InterfaceSettings {
    /// Adds a feature by any name that `ethtool` takes, as far as the interface can switch it.
    ///
    /// # Errors
    /// If none of it can be switched.
    pub fn add(&mut self, name: &str, on: bool, now: &InterfaceEnvironment) -> Result<(), FixedFeature> {
        let members = feature::expand(name).unwrap_or_else(|| vec![name]);
        let there = now.features.clone().unwrap_or_default();
        let state = if on { "on" } else { "off" };
        let can = |one: &&str| there.get(*one).is_some_and(|now| now.changeable || now.active == on);
        let able: Vec<&str> = members.into_iter().filter(can).collect();
        if able.is_empty() {
            return Err(FixedFeature { interface: now.link.name.clone(), state });
        }
        let changeable = able.into_iter().filter(|one| there.get(*one).is_some_and(|now| now.changeable));
        self.features.extend(changeable.map(|one| (one.to_owned(), on)));
        Ok(())
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.mtu.is_none() && self.features.is_empty()
    }

    /// The settings that the interface does not have yet.
    pub fn differing(self, now: &InterfaceEnvironment) -> Self {
        let there = now.features.clone().unwrap_or_default();
        let differs = |name: &String, on: bool| there.get(name).is_none_or(|now| now.active != on);
        Self {
            mtu: self.mtu.filter(|mtu| *mtu != now.link.mtu),
            features: self.features.into_iter().filter(|(name, on)| differs(name, *on)).collect(),
        }
    }

    /// Each change as a command that a person could give, with the one that undoes it.
    pub fn intended(&self, now: &InterfaceEnvironment) -> Vec<IntendedChange> {
        let interface = &now.link.name;
        let features = self.features.iter().map(|(name, on)| IntendedChange::feature(interface, name, *on));
        let mtu = self.mtu.map(|mtu| IntendedChange::mtu(interface, mtu, now.link.mtu, &[]));
        features.chain(mtu).collect()
    }
}

#[cfg(test)]
mod lasting_settings_tests {
    use super::*;

    /// An interface with three features of `ethtool`'s `tso`, of which one is fixed.
    fn interface() -> InterfaceEnvironment {
        let environment = host::HostEnvironment::read(&["lo"], "1");
        let mut now = environment.interfaces["lo"].clone().unwrap();
        now.link.name = "eth1".to_owned();
        now.link.mtu = 1500;
        let state = |active, changeable| host::FeatureState { active, wanted: active, changeable };
        let features = [
            ("tx-tcp-segmentation", state(true, true)),
            ("tx-tcp6-segmentation", state(false, true)),
            ("tx-tcp-ecn-segmentation", state(true, false)),
            ("rx-lro", state(false, false)),
        ];
        now.features = Some(features.into_iter().map(|(name, state)| (name.to_owned(), state)).collect());
        now
    }

    #[test]
    fn a_group_is_switched_as_far_as_the_interface_can_and_told_with_its_undo() {
        let now = interface();
        let mut wanted = InterfaceSettings { mtu: Some(9000), ..InterfaceSettings::default() };
        wanted.add("tso", false, &now).unwrap();
        assert_eq!(wanted.features.len(), 2, "what is fixed stays: {wanted:?}");
        let wanted = wanted.differing(&now);
        let lines: Vec<String> =
            wanted.intended(&now).iter().map(|one| format!("{} | {}", one.change, one.undo)).collect();
        assert_eq!(
            lines,
            [
                "ethtool -K eth1 tx-tcp-segmentation off | ethtool -K eth1 tx-tcp-segmentation on",
                "ip link set dev eth1 mtu 9000 | ip link set dev eth1 mtu 1500",
            ]
        );
    }

    #[test]
    fn what_an_interface_cannot_switch_is_refused_by_name() {
        let (now, mut wanted) = (interface(), InterfaceSettings::default());
        for name in ["lro", "rx-gro"] {
            let why = wanted.add(name, true, &now).unwrap_err().to_string();
            assert_eq!(why, "the interface eth1 cannot switch it on");
        }
        // A feature that is fixed as it is wanted asks for nothing.
        wanted.add("lro", false, &now).unwrap();
        assert!(wanted.is_empty());
        wanted.add("tx-tcp-segmentation", true, &now).unwrap();
        assert!(wanted.differing(&now).is_empty());
    }
}

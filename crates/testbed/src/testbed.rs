//! The testbed: two hosts and the path between them, built for every boot.

use std::collections::BTreeMap;
use std::net::IpAddr;

use agent::message::{Answer, Request};
use host::DiscardDevice;
use record::{Cause, CpuSplit, Disturbance, Environment, NamedMachine, Note, Part};
use study::{BySide, Family, Scenario, Side};

use crate::builder::TestbedOptions;
use crate::error::Error;
use crate::guests::VirtualMachine;
use crate::launched_agent::{LaunchedAgent, ask};
use crate::pair::Crossing;
use crate::path::node::Node;
use crate::path::{Addresses, TRAFFIC};

/// Two hosts with a path between them, or one without a receiver. Dropping it removes everything.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Testbed {
    pub transmitter: End,
    /// The host that receives it; `None` where all packets are discarded.
    pub receiver: Option<End>,
    pub(crate) scenario: Scenario,
    pub(crate) tunnel: Option<Family>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) discard: Option<(DiscardDevice, Vec<String>)>,
    pub(crate) cpus: CpuSplit,
    rootless: bool,
    /// Whether instructions are counted instead of time.
    pub exact: bool,
    pub(crate) machines: Vec<VirtualMachine>,
    pub(crate) watcher: Option<Node>,
    pub(crate) named: Option<BySide<NamedMachine>>,
    pub(crate) crossed: Vec<Crossing>,
    /// The limitations of this testbed, each with the consequence.
    pub notes: Vec<Note>,
}

impl Testbed {
    pub(crate) fn between(
        options: &TestbedOptions,
        hosts: BySide<LaunchedAgent>,
        interfaces: BySide<&str>,
        addresses: BySide<Addresses>,
        tunnel: Option<&str>,
    ) -> Self {
        let cpus = &options.cpus;
        let BySide { transmitter, receiver } = hosts.map(|side, agent| match tunnel {
            None => End::new(side, agent, &cpus[side], interfaces[side], addresses[side]),
            Some(tunnel) => End {
                underlay: Some(interfaces[side].to_owned()),
                ..End::new(side, agent, &cpus[side], tunnel, TRAFFIC[side])
            },
        });
        Self::new(options, transmitter, Some(receiver))
    }

    pub(crate) fn new(options: &TestbedOptions, transmitter: End, receiver: Option<End>) -> Self {
        Self {
            transmitter,
            receiver,
            scenario: options.state.scenario,
            tunnel: options.tunnel(),
            nodes: Vec::new(),
            discard: None,
            cpus: options.cpus.clone(),
            rootless: options.rootless,
            exact: options.exact,
            machines: Vec::new(),
            watcher: None,
            named: None,
            crossed: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(crate) fn add_machines(&mut self, machines: Vec<VirtualMachine>) {
        let notes = machines.iter().flat_map(VirtualMachine::notes);
        self.notes = words::distinct(std::mem::take(&mut self.notes).into_iter().chain(notes));
        self.machines.extend(machines);
    }

    pub(crate) fn steer(&mut self) {
        if self.named.is_some() || self.scenario == Scenario::Discard || self.exact {
            return;
        }
        if self.cpus.is_shared() {
            return self.notes.push(Note::OneCore);
        }
        match self.scenario {
            Scenario::Veth | Scenario::Vxlan => {}
            Scenario::Loopback => return self.notes.push(Note::Loopback),
            // Received packets are processed on the CPUs that the interface chooses.
            _ => return,
        }
        let steered = self.ends().try_for_each(|end| {
            // A tunnel's packets are steered where they enter the host.
            let interface = end.underlay.as_ref().unwrap_or(&end.interface).clone();
            end.agent.order(&Request::Steer { interface, cpus: end.cpus.clone() })
        });
        if let Err(error) = steered {
            // Then receive work runs on the sending CPU. Both ends are refused for the same reason.
            self.notes.push(Note::NotSteered(error.to_string()));
        }
    }

    pub(crate) fn node(&self, side: Side) -> Option<(usize, usize)> {
        let guest_of = |node: &Node| node.guests.iter().position(|guest| guest.side == Some(side));
        self.nodes.iter().enumerate().find_map(|(number, node)| Some((number, guest_of(node)?)))
    }

    /// The first virtual machine's host: a process in its network namespace, and its bridge.
    pub fn bridge(&self) -> Option<(u32, &str)> {
        self.nodes.first().map(|node| (node.agent.pid, node.bridge.as_str()))
    }

    /// The settings of the user's machines that differ from the study's, with their machine.
    pub fn differences(&mut self) -> Vec<Disturbance> {
        let Some(named) = self.named.clone() else { return Vec::new() };
        let mut all = Vec::new();
        for side in Side::BOTH.into_iter().filter(|side| !named[*side].changed.is_empty()) {
            let agent = match self.node(side) {
                Some((number, _)) => &mut self.nodes[number].agent,
                None => &mut self.end(side).agent,
            };
            let mut ask = || {
                let differences = ask!(
                    agent, &Request::MachineDifferences, Answer::MachineDiffers(differences) => differences
                );
                Ok::<_, Error>(differences.into_iter().map(Cause::Setting).collect())
            };
            let causes = ask().unwrap_or_else(|error| vec![Cause::SettingsUnread(error.to_string())]);
            let at = Some(if side == Side::Transmitter { Part::Transmitter } else { Part::Receiver });
            all.extend(causes.into_iter().map(|cause| Disturbance { at, cause }));
        }
        all
    }

    pub(crate) fn end(&mut self, side: Side) -> &mut End {
        match (side, &mut self.receiver) {
            (Side::Receiver, Some(receiver)) => receiver,
            _ => &mut self.transmitter,
        }
    }

    /// The device that discards the packets, if there is one.
    pub fn discard_device(&self) -> Option<DiscardDevice> {
        self.discard.as_ref().map(|(device, _)| *device)
    }

    /// The host of a side, as messages name it.
    pub fn host(&self, side: Side) -> &str {
        match (side, &self.receiver) {
            (Side::Receiver, Some(receiver)) => receiver.host(),
            _ => self.transmitter.host(),
        }
    }

    pub(crate) fn ends(&mut self) -> impl Iterator<Item = &mut End> {
        std::iter::once(&mut self.transmitter).chain(&mut self.receiver)
    }

    pub(crate) fn underlay(&mut self, side: Side) -> (&mut LaunchedAgent, String) {
        if let Some((number, _)) = self.node(side) {
            let node = &mut self.nodes[number];
            let interface =
                node.underlay.clone().expect("nodes with a tunnel between them know its underlay");
            return (&mut node.agent, interface);
        }
        let end = self.end(side);
        let interface = end.underlay.as_ref().unwrap_or(&end.interface).clone();
        (&mut end.agent, interface)
    }

    /// Describes both hosts and the testbed.
    ///
    /// # Errors
    /// When an agent is gone.
    pub fn environment(&mut self) -> Result<Environment, Error> {
        let mut hosts = Vec::new();
        for end in self.ends() {
            let interfaces = std::iter::once(&end.interface).chain(&end.underlay).cloned().collect();
            let environment = Request::Environment { interfaces };
            hosts.push(ask!(end.agent, &environment, Answer::Environment(about) => *about));
        }
        let nodes = self.nodes.iter_mut().chain(&mut self.watcher);
        let nodes = nodes.map(Node::environment).collect::<Result<Vec<_>, _>>()?;
        let guests = self.machines.iter();
        let guests: BTreeMap<_, _> =
            guests.map(|machine| (machine.order.name.clone(), machine.describe())).collect();
        let mut hosts = hosts.into_iter();
        Ok(Environment {
            scenario: self.scenario,
            rootless: self.rootless,
            underlay_family: self.tunnel,
            discard_device: self.discard_device(),
            discard_devices_lacking: self.discard.as_ref().map(|(_, lacking)| lacking.clone()),
            cpus: self.cpus.clone(),
            guests: (!guests.is_empty()).then_some(guests),
            nodes: (!nodes.is_empty()).then_some(nodes),
            notes: self.notes.clone(),
            transmitter: hosts.next().expect("there always is a transmitter"),
            receiver: hosts.next(),
            machines: self.named.clone(),
            changed: Vec::new(),
        })
    }
}

/// One host of a workload: its agent, its interface and its addresses.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct End {
    pub side: Side,
    pub interface: String,
    /// The interface under it, if it is a tunnel.
    pub underlay: Option<String>,
    pub(crate) addresses: Addresses,
    pub cpus: Vec<u32>,
    /// Its CPUs in conditions without a placement of their own.
    pub(crate) home: Vec<u32>,
    pub(crate) agent: LaunchedAgent,
}

impl End {
    pub(crate) fn new(
        side: Side,
        agent: LaunchedAgent,
        cpus: &[u32],
        interface: &str,
        addresses: Addresses,
    ) -> Self {
        Self {
            side,
            interface: interface.to_owned(),
            underlay: None,
            addresses,
            cpus: cpus.to_vec(),
            home: cpus.to_vec(),
            agent,
        }
    }

    /// Its address of this family on that interface.
    pub fn address(&self, family: Family) -> IpAddr {
        self.addresses.in_family(family)
    }

    /// Its host, as messages name it.
    pub fn host(&self) -> &str {
        &self.agent.client.host
    }

    /// The agent's process id in its own namespace.
    pub fn pid(&self) -> u32 {
        self.agent.pid
    }
}

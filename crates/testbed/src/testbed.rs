//! The testbed: two hosts and the wire between them, built anew for every boot.

use std::collections::BTreeMap;
use std::net::IpAddr;

use agent::Interrupt;
use agent::message::{Answer, Request};
use host::{Discard, DiscardDevice};
use record::{CpuSplit, Environment};
use study::{Family, Scenario, Side};

use crate::builder::Builder;
use crate::end::End;
use crate::error::Error;
use crate::launched::Launched;
use crate::machines::Machine;
use crate::node::{BRIDGE, Node};
use crate::options::Options;

/// Two hosts with a wire between them, or one that sends to nobody. Dropping it takes everything down.
#[derive(Debug)]
pub struct Testbed {
    /// The host that sends the load.
    pub transmitter: End,
    /// The host that takes it; `None` where everything is thrown away.
    pub receiver: Option<End>,
    pub(crate) scenario: Scenario,
    pub(crate) cpus: CpuSplit,
    rootless: bool,
    pub(crate) exact: bool,
    pub(crate) discard: Option<Discard>,
    /// What carries the tunnel, where there is one.
    pub(crate) underlay_family: Option<Family>,
    /// The virtual machines, the transmitter's first; one, if everything is inside it.
    pub(crate) machines: Vec<Machine>,
    /// The host's side of virtual machines: one for both, or the transmitter's and the receiver's.
    pub(crate) nodes: Vec<Node>,
    /// Who watches the virtual machine that everything is inside, from its host.
    pub(crate) watcher: Option<Node>,
    notes: Vec<String>,
}

impl Testbed {
    /// Builds the testbed: namespaces, agents, wire, addresses, CPU sets, steering.
    ///
    /// # Errors
    /// When a namespace is not allowed, an interface cannot be made, or the user interrupts; what had been built
    /// is gone again.
    pub fn build(options: &Options, interrupt: &Interrupt) -> Result<Self, Error> {
        let mut builder = Builder { options, interrupt, inside: None };
        if options.inside_guest { Self::inside(&builder) } else { Self::build_with(&mut builder) }
    }

    /// Builds it with the given builder.
    pub(crate) fn build_with(builder: &mut Builder<'_>) -> Result<Self, Error> {
        let mut testbed = match builder.options.scenario {
            Scenario::Discard => Self::discard(builder)?,
            Scenario::Loopback => Self::loopback(builder)?,
            Scenario::Veth => Self::veth(builder)?,
            Scenario::Vxlan => Self::vxlan(builder)?,
            Scenario::Vm => Self::vm(builder)?,
            Scenario::VmVxlan => Self::vm_vxlan(builder)?,
        };
        testbed.steer();
        Ok(testbed)
    }

    /// Of two hosts whose traffic uses these interfaces and addresses.
    pub(crate) fn two(
        options: &Options,
        [one, other]: [Launched; 2],
        interfaces: [&str; 2],
        [ipv4, ipv6]: [[IpAddr; 2]; 2],
    ) -> Self {
        let CpuSplit { transmitter, receiver, .. } = &options.cpus;
        let transmitter = End::new(Side::Transmitter, one, transmitter, (interfaces[0], ipv4[0], ipv6[0]));
        let receiver = End::new(Side::Receiver, other, receiver, (interfaces[1], ipv4[1], ipv6[1]));
        Self::of(options, transmitter, Some(receiver))
    }

    pub(crate) fn of(options: &Options, transmitter: End, receiver: Option<End>) -> Self {
        Self {
            transmitter,
            receiver,
            scenario: options.scenario,
            cpus: options.cpus.clone(),
            rootless: options.rootless,
            exact: options.exact,
            discard: None,
            underlay_family: options.scenario.has_tunnel().then_some(options.state.underlay_family),
            machines: Vec::new(),
            nodes: Vec::new(),
            watcher: None,
            notes: Vec::new(),
        }
    }

    /// Asks for receive work on the CPUs of the host that receives. Where that is refused, the work runs on the
    /// CPU that sends, and the CPU figures of the two hosts mix: said in a note, never passed over.
    fn steer(&mut self) {
        if self.receiver.is_none() || self.exact {
            return;
        }
        if self.cpus.is_shared() {
            self.notes
                .push("one core only: both hosts share it, so their CPU use cannot be separated".to_owned());
            return;
        }
        if self.scenario.has_guests() {
            // The network card of a guest has one queue, and its receive work a vCPU of the guest.
            return;
        }
        if self.ends_share_an_interface() {
            self.notes.push(
                "loopback delivers on the CPU that sends: receive softirq work counts as the transmitter's"
                    .to_owned(),
            );
            return;
        }
        let steered = self.ends().try_for_each(|end| {
            // What comes out of a tunnel is steered where it enters the host.
            let interface = end.underlay.as_ref().unwrap_or(&end.interface).clone();
            end.order(&Request::Steer { interface, cpus: end.cpus.clone() })
        });
        if let Err(error) = steered {
            // What is refused at one end is refused at the other, for the same reason.
            self.notes.push(format!("receive work is not steered to each host's own CPUs: {error}"));
        }
    }

    /// The host's side of the first virtual machine: a process in its network namespace, and the bridge there.
    #[must_use]
    pub fn bridge(&self) -> Option<(u32, &'static str)> {
        self.nodes.first().map(|node| (node.agent.pid(), BRIDGE))
    }

    /// What this testbed cannot give, each with what follows from it.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What throws the packets away, where something does.
    #[must_use]
    pub fn discard_device(&self) -> Option<DiscardDevice> {
        self.discard.as_ref().map(|discard| discard.device)
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Every end that there is, the transmitter first.
    pub(crate) fn ends(&mut self) -> impl Iterator<Item = &mut End> {
        std::iter::once(&mut self.transmitter).chain(&mut self.receiver)
    }

    /// Who has the interface under the tunnel on this side, and its name.
    pub(crate) fn underlay(&mut self, side: Side) -> (&mut Launched, String) {
        let node = if side == Side::Receiver { self.nodes.last_mut() } else { self.nodes.first_mut() };
        if let Some(node) = node {
            let interface =
                node.underlay.clone().expect("nodes with a tunnel between them know its underlay");
            return (&mut node.agent, interface);
        }
        let end = match (side, &mut self.receiver) {
            (Side::Receiver, Some(receiver)) => receiver,
            _ => &mut self.transmitter,
        };
        let interface = end.underlay.as_ref().unwrap_or(&end.interface).clone();
        (&mut end.agent, interface)
    }

    pub(crate) fn ends_share_an_interface(&self) -> bool {
        self.scenario == Scenario::Loopback
    }

    /// Both hosts as they describe themselves, and the testbed between them.
    ///
    /// # Errors
    /// When an agent is gone.
    pub fn environment(&mut self) -> Result<Environment, Error> {
        let mut hosts = Vec::new();
        for end in self.ends() {
            let interfaces = std::iter::once(&end.interface).chain(&end.underlay).cloned().collect();
            match end.call(&Request::Environment { interfaces })? {
                Answer::Environment(about) => hosts.push(*about),
                other => return Err(end.agent.client.unexpected(&other).into()),
            }
        }
        let nodes = self
            .nodes
            .iter_mut()
            .chain(&mut self.watcher)
            .map(Node::environment)
            .collect::<Result<Vec<_>, _>>()?;
        let guests: BTreeMap<_, _> =
            self.machines.iter().map(|machine| (machine.name.clone(), machine.describe())).collect();
        let mut hosts = hosts.into_iter();
        Ok(Environment {
            scenario: self.scenario,
            rootless: self.rootless,
            underlay_family: self.underlay_family,
            discard_device: self.discard_device(),
            discard_devices_lacking: self.discard.as_ref().map(|discard| discard.lacking.clone()),
            cpus: self.cpus.clone(),
            guests: (!guests.is_empty()).then_some(guests),
            nodes: (!nodes.is_empty()).then_some(nodes),
            notes: self.notes.clone(),
            transmitter: hosts.next().expect("there always is a transmitter"),
            receiver: hosts.next(),
            changed: Vec::new(),
        })
    }
}

//! Nodes: the host's side of virtual machines, in a network namespace with a bridge.

use agent::message::{Answer, Request, Watched};
use study::{BySide, Side};

use crate::error::Error;
use crate::launched_agent::{LaunchedAgent, answer, ask};

pub(crate) const BRIDGE: &str = "bridge0";

pub(crate) const TAPS: BySide<&str> = BySide { transmitter: "tap-transmit", receiver: "tap-receive" };

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) agent: LaunchedAgent,
    pub(crate) bridge: String,
    pub(crate) ports: Vec<String>,
    pub(crate) wire: Option<(String, u32)>,
    pub(crate) guests: Vec<NodeGuest>,
    pub(crate) underlay: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeGuest {
    /// The side whose host it is; `None`: both are inside it.
    pub(crate) side: Option<Side>,
    pub(crate) process: u32,
    pub(crate) cpus: Vec<u32>,
}

impl Node {
    pub(crate) fn without_bridge(agent: LaunchedAgent) -> Self {
        let bridge = String::new();
        Self { agent, bridge, ports: Vec::new(), wire: None, guests: Vec::new(), underlay: None }
    }

    pub(crate) fn new(mut agent: LaunchedAgent, bridge: &str) -> Result<Self, Error> {
        agent.order(&Request::CreateBridge { name: bridge.to_owned() })?;
        Ok(Self { bridge: bridge.to_owned(), ..Self::without_bridge(agent) })
    }

    pub(crate) fn add_tap(&mut self, name: &str) -> Result<(), Error> {
        self.agent.order(&Request::CreateTap { name: name.to_owned(), bridge: self.bridge.clone() })?;
        self.ports.push(name.to_owned());
        Ok(())
    }

    pub(crate) fn add_wire(&mut self, name: &str, mtu: u32) -> Result<(), Error> {
        let (bridge, interface) = (self.bridge.clone(), name.to_owned());
        self.agent.order(&Request::AddPort { bridge, interface })?;
        self.wire = Some((name.to_owned(), mtu));
        Ok(())
    }

    pub(crate) fn set_mtu(&mut self, mtu: u32) -> Result<(), Error> {
        // A bridge drops packets that are too long for the outgoing port.
        if let Some((interface, own)) = self.wire.clone() {
            self.agent.order(&Request::SetMtu { interface, mtu: own.max(mtu) })?;
        }
        for interface in self.ports.clone() {
            self.agent.order(&Request::SetMtu { interface, mtu })?;
        }
        Ok(())
    }

    pub(crate) fn watch(&mut self, ramp_ns: u64, window_ns: u64) -> Result<(), Error> {
        let processes = self.guests.iter().map(|guest| guest.process).collect();
        let cpus = self.guests.iter().flat_map(|guest| &guest.cpus).copied().collect();
        let underlay = self.underlay.clone();
        let watch = Request::Watch { processes, cpus, underlay, ramp_ns, window_ns };
        self.agent.send(&watch, self.agent.patience())
    }

    pub(crate) fn watched(&mut self) -> Result<Watched, Error> {
        Ok(answer!(self.agent, self.agent.receive()?, Answer::Watched(watched) => *watched))
    }

    pub(crate) fn environment(&mut self) -> Result<host::HostEnvironment, Error> {
        let wire = self.wire.as_ref().map(|(name, _)| name);
        let mut interfaces: Vec<String> =
            self.ports.iter().chain(&self.underlay).chain(wire).cloned().collect();
        if !interfaces.is_empty() {
            interfaces.push(self.bridge.clone());
        }
        Ok(ask!(self.agent, &Request::Environment { interfaces }, Answer::Environment(about) => *about))
    }
}

//! The path between the hosts: links, a tunnel over them, the nodes of virtual machines, or a
//! device that discards packets.

pub(crate) mod address;
pub(crate) mod discard;
pub(crate) mod node;
pub(crate) mod tunnel;
pub(crate) mod tunnel_mtu;
pub(crate) mod veth;

use host::Discard;
use study::{Family, Scenario, Side};

use crate::path::node::Node;

/// The path between the hosts, for runs and switches.
#[derive(Debug)]
pub(crate) struct NetworkPath {
    /// Its scenario, which gives its name and its default MTU.
    pub(crate) scenario: Scenario,
    pub(crate) receive_work: ReceiveWork,
    /// The IP version that carries the tunnel, if there is one.
    pub(crate) tunnel: Option<Family>,
    /// The host's side of virtual machines: one node for both, or one for each.
    pub(crate) nodes: Vec<Node>,
    pub(crate) discard: Option<Discard>,
}

/// The place where received packets are processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveWork {
    /// Processed on CPUs of the receiving host, if the kernel allows steering.
    Steered,
    /// Processed on the sending CPU: both ends are one interface.
    AtTheSender,
    /// Processed on the receiving machine or guest, on the CPUs that its interface chooses.
    AtItsInterface,
    /// Nowhere: there is no receiver.
    Nowhere,
}

impl NetworkPath {
    pub(crate) fn new(scenario: Scenario, receive_work: ReceiveWork) -> Self {
        Self { scenario, receive_work, tunnel: None, nodes: Vec::new(), discard: None }
    }

    pub(crate) fn is_one_interface(&self) -> bool {
        self.receive_work == ReceiveWork::AtTheSender
    }

    /// The node of this side's virtual machine, and the index of its guest there.
    pub(crate) fn node(&self, side: Side) -> Option<(usize, usize)> {
        self.nodes.iter().enumerate().find_map(|(number, node)| Some((number, node.guest_of(side)?)))
    }
}

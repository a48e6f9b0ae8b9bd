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
pub(crate) struct Path {
    /// Its scenario, which gives its name and its default MTU.
    pub(crate) scenario: Scenario,
    pub(crate) receive_work: ReceiveWork,
    /// The IP version that carries the tunnel, if there is one.
    pub(crate) tunnel: Option<Family>,
    /// The host's side of virtual machines: one node for both, or one for each.
    pub(crate) nodes: Vec<Node>,
    /// The device that discards packets, if there is one.
    pub(crate) discard: Option<Discard>,
}

/// The place where received packets are processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveWork {
    /// On CPUs of the receiving host, where the kernel allows steering.
    Steered,
    /// On the sending CPU: both ends are one interface.
    AtTheSender,
    /// On the receiving machine or guest, where its interface puts it.
    AtItsInterface,
    /// Nowhere: there is no receiver.
    Nowhere,
}

impl Path {
    /// A path of links only.
    pub(crate) fn new(scenario: Scenario, receive_work: ReceiveWork) -> Self {
        Self { scenario, receive_work, tunnel: None, nodes: Vec::new(), discard: None }
    }

    /// Whether both ends are one interface.
    pub(crate) fn is_one_interface(&self) -> bool {
        self.receive_work == ReceiveWork::AtTheSender
    }

    /// The node of this side's virtual machine, and the index of its guest there.
    pub(crate) fn node(&self, side: Side) -> Option<(usize, usize)> {
        self.nodes.iter().enumerate().find_map(|(number, node)| Some((number, node.guest_of(side)?)))
    }
}

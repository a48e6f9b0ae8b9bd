//! What lies between the hosts: links, a tunnel over them, the nodes of virtual machines, or what
//! throws packets away.

pub(crate) mod address;
pub(crate) mod discard;
pub(crate) mod node;
pub(crate) mod tunnel;
pub(crate) mod tunnel_mtu;
pub(crate) mod veth;

use host::Discard;
use study::{Family, Scenario, Side};

use crate::path::node::Node;

/// What lies between the hosts, as far as a run and its switches need to know it.
#[derive(Debug)]
pub(crate) struct Path {
    /// The scenario that composed it: its name, and the MTU that its interfaces come up with.
    pub(crate) scenario: Scenario,
    pub(crate) receive_work: ReceiveWork,
    /// What carries the tunnel, where there is one.
    pub(crate) tunnel: Option<Family>,
    /// The host's side of virtual machines: one node for both, or one for each.
    pub(crate) nodes: Vec<Node>,
    /// What throws the packets away, where something does.
    pub(crate) discard: Option<Discard>,
}

/// Where packets that arrive are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveWork {
    /// On CPUs of the host that receives, where the kernel lets it be steered there.
    Steered,
    /// On the CPU that sends: both ends are one interface.
    AtTheSender,
    /// On a virtual CPU of the guest that receives: its network card has one queue.
    InGuests,
    /// Nowhere: nobody receives.
    Nowhere,
}

impl Path {
    /// With nothing but links between the hosts.
    pub(crate) fn new(scenario: Scenario, receive_work: ReceiveWork) -> Self {
        Self { scenario, receive_work, tunnel: None, nodes: Vec::new(), discard: None }
    }

    /// Whether both ends are one interface.
    pub(crate) fn is_one_interface(&self) -> bool {
        self.receive_work == ReceiveWork::AtTheSender
    }

    /// The node of this side's virtual machine, and which of its guests that is.
    pub(crate) fn node(&self, side: Side) -> Option<(usize, usize)> {
        self.nodes.iter().enumerate().find_map(|(number, node)| Some((number, node.guest_of(side)?)))
    }
}

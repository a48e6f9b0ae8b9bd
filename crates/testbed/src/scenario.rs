//! The scenarios: each composes hosts and the path between them.

use host::DiscardDevice;
use record::Note;
use study::{BySide, Family, Scenario, Side};

use crate::builder::Builder;
use crate::end::End;
use crate::error::Error;
use crate::guests::Guests;
use crate::options::Options;
use crate::path::address::{LOOPBACK, TRAFFIC};
use crate::path::discard::{DISCARD, create_discard};
use crate::path::node::{BRIDGE, Node, TAPS};
use crate::path::tunnel::{TUNNEL, TunnelEnd, create_tunnel};
use crate::path::veth::{VETH, VethEnd, await_running, create_veth};
use crate::path::{NetworkPath, ReceiveWork};
use crate::remote_guests;
use crate::testbed::Testbed;
use crate::two_machines;

/// The composition of a scenario, and its needs inside a virtual machine.
pub(crate) struct Composition {
    pub(crate) compose: fn(&mut Builder<'_>) -> Result<Testbed, Error>,
    /// `None`: it has machines of its own.
    pub(crate) inside: Option<GuestNeeds>,
}

/// Needs of a scenario from the virtual machine around it.
pub(crate) struct GuestNeeds {
    pub(crate) agents: usize,
    /// Kernel modules: one of each group.
    pub(crate) modules: &'static [&'static [&'static str]],
}

pub(crate) fn compose(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let mut testbed = (composition(builder.options.state.scenario).compose)(builder)?;
    testbed.steer();
    Ok(testbed)
}

pub(crate) fn composition(scenario: Scenario) -> Composition {
    let inside = |agents, modules| Some(GuestNeeds { agents, modules });
    match scenario {
        Scenario::Loopback => Composition { compose: loopback, inside: inside(2, &[]) },
        Scenario::Veth => Composition { compose: veth, inside: inside(2, &[&["veth"]]) },
        Scenario::Discard => {
            Composition { compose: discard, inside: inside(1, &[&["dummy", "bridge", "veth"]]) }
        }
        Scenario::Vxlan => Composition { compose: vxlan, inside: inside(2, &[&["veth"], &["vxlan"]]) },
        Scenario::Vm => Composition { compose: vm, inside: None },
        Scenario::VmVxlan => Composition { compose: vm_vxlan, inside: None },
        Scenario::Ssh => Composition { compose: two_machines::ssh, inside: None },
        Scenario::SshVxlan => Composition { compose: two_machines::ssh_vxlan, inside: None },
    }
}

pub(crate) const NAMES: BySide<&str> = BySide { transmitter: "transmitter", receiver: "receiver" };

/// Two agents in a network namespace of our own, so that the machine's `lo` keeps its features.
fn loopback(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let cpus = &builder.options.cpus;
    let mut transmitter = builder.agent_in_namespace(NAMES.transmitter, &cpus.transmitter)?;
    // The kernel adds both when the interface is set up. The agent adds its own again after an MTU
    // too small for IPv6.
    let own = [(Family::Ipv4, (LOOPBACK.ipv4, 8)), (Family::Ipv6, (LOOPBACK.ipv6, 128))];
    let is_used = |family: &Family| builder.options.families.contains(family);
    let addresses = own.into_iter().filter(|(family, _)| is_used(family)).map(|(_, own)| own).collect();
    transmitter.order(&agent::message::Request::Configure { interface: "lo".to_owned(), addresses })?;
    let receiver = builder.agent_beside(&transmitter, NAMES.receiver, &cpus.receiver)?;
    let hosts = BySide { transmitter, receiver };
    let ends = hosts.map(|side, agent| End::new(side, agent, &cpus[side], "lo", LOOPBACK));
    Ok(Testbed::two(builder.options, ends, NetworkPath::new(Scenario::Loopback, ReceiveWork::AtTheSender)))
}

fn veth(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let cpus = &builder.options.cpus;
    let mut hosts = builder.two_agents(NAMES, cpus.by_side())?;
    let families = builder.options.families.as_slice();
    let end =
        |side| VethEnd { addresses: TRAFFIC[side].with_prefixes(families), steered: builder.steered(side) };
    create_veth(&mut hosts.each_mut(), BySide::from_fn(end))?;
    for (side, host) in hosts.each_mut() {
        await_running(host, VETH[side])?;
    }
    let ends = hosts.map(|side, agent| End::new(side, agent, &cpus[side], VETH[side], TRAFFIC[side]));
    Ok(Testbed::two(builder.options, ends, NetworkPath::new(Scenario::Veth, ReceiveWork::Steered)))
}

/// Two network namespaces, one veth pair, and a tunnel over it with the traffic's addresses.
fn vxlan(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let (cpus, family) = (&builder.options.cpus, builder.options.state.underlay_family);
    let mut hosts = builder.two_agents(NAMES, cpus.by_side())?;
    let end = |side| TunnelEnd {
        addresses: TRAFFIC[side].with_prefixes(&builder.options.families),
        steered: builder.steered(side),
        bridge: None,
    };
    create_tunnel(&mut hosts.each_mut(), family, BySide::from_fn(end))?;
    let path =
        NetworkPath { tunnel: Some(family), ..NetworkPath::new(Scenario::Vxlan, ReceiveWork::Steered) };
    let ends = hosts.map(|side, agent| End {
        underlay: Some(VETH[side].to_owned()),
        ..End::new(side, agent, &cpus[side], TUNNEL, TRAFFIC[side])
    });
    Ok(Testbed::two(builder.options, ends, path))
}

/// One network namespace and one interface that discards all packets.
fn discard(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let options = Options { cpus: builder.options.cpus.for_one_host(), ..builder.options.clone() };
    let cpus = &options.cpus.transmitter;
    let mut host = builder.agent_in_namespace(NAMES.transmitter, cpus)?;
    let discard = create_discard(&mut host, options.discard_device, &options.families)?;
    let lacking = DiscardDevice::ALL.into_iter().take(discard.lacking.len()).collect();
    let note = Note::Discards { device: discard.device, lacking };
    let transmitter = End::new(Side::Transmitter, host, cpus, DISCARD, TRAFFIC.transmitter);
    let path =
        NetworkPath { discard: Some(discard), ..NetworkPath::new(Scenario::Discard, ReceiveWork::Nowhere) };
    let mut testbed = Testbed::new(&options, transmitter, None, path);
    testbed.note(note);
    Ok(testbed)
}

fn vm(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    if builder.options.hosts.is_some() {
        return remote_guests::vm(builder);
    }
    let mut node = Node::new(builder.agent_in_namespace("node", &builder.options.cpus.controller)?, BRIDGE)?;
    TAPS.into_iter().try_for_each(|(_, tap)| node.add_tap(tap))?;
    let place = node.agent.pid();
    let guests = Guests::boot(builder, BySide::from_fn(|_| place))?;
    node.guests = guests.of_nodes(&builder.options.cpus).into_iter().map(|(_, guest)| guest).collect();
    let path =
        NetworkPath { nodes: vec![node], ..NetworkPath::new(Scenario::Vm, ReceiveWork::AtItsInterface) };
    let mut testbed = guests.testbed(builder.options, path)?;
    testbed.note_oversubscription(builder.options);
    Ok(testbed)
}

/// Two virtual machines, each on the bridge of its own node, and a tunnel between the nodes.
fn vm_vxlan(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    if builder.options.hosts.is_some() {
        return remote_guests::vm_vxlan(builder);
    }
    let (controller, family) = (&builder.options.cpus.controller, builder.options.state.underlay_family);
    let names = BySide { transmitter: "transmitter's node", receiver: "receiver's node" };
    let BySide { transmitter, receiver } =
        builder.two_agents(names, BySide::from_fn(|_| controller.as_slice()))?;
    let mut nodes =
        BySide { transmitter: Node::new(transmitter, BRIDGE)?, receiver: Node::new(receiver, BRIDGE)? };
    let BySide { transmitter, receiver } = nodes.each_mut();
    let mut agents = BySide { transmitter: &mut transmitter.agent, receiver: &mut receiver.agent };
    let end = TunnelEnd { bridge: Some(BRIDGE), ..TunnelEnd::default() };
    create_tunnel(&mut agents, family, BySide::from_fn(|_| end.clone()))?;
    for (side, node) in nodes.each_mut() {
        node.add_tap(TAPS[side])?;
        node.ports.push(TUNNEL.to_owned());
        node.underlay = Some(VETH[side].to_owned());
    }
    let guests = Guests::boot(builder, BySide::from_fn(|side| nodes[side].agent.pid()))?;
    for (side, guest) in guests.of_nodes(&builder.options.cpus) {
        nodes[side].guests = vec![guest];
    }
    let nodes = nodes.into_iter().map(|(_, node)| node).collect();
    let path = NetworkPath {
        tunnel: Some(family),
        nodes,
        ..NetworkPath::new(Scenario::VmVxlan, ReceiveWork::AtItsInterface)
    };
    let mut testbed = guests.testbed(builder.options, path)?;
    testbed.note_oversubscription(builder.options);
    Ok(testbed)
}

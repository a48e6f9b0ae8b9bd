//! The scenarios: each composes hosts and the path between them.

use agent::message::Request;
use host::DiscardDevice;
use record::Note;
use study::{BySide, Family, Scenario, Side};

use crate::builder::{Builder, TestbedOptions};
use crate::cpus::oversubscription;
use crate::error::Error;
use crate::guests::{between_guests, boot_guests, guests_of_nodes};
use crate::path::node::{BRIDGE, Node, TAPS};
use crate::path::{DISCARD, LOOPBACK, TRAFFIC, TUNNEL, VETH, create_discard, create_link};
use crate::testbed::{End, Testbed};
use crate::two_machines::between_machines;

pub(crate) fn compose(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let has_hosts = builder.options.hosts.is_some();
    let mut testbed = match builder.options.state.scenario {
        Scenario::Loopback => loopback(builder),
        Scenario::Veth | Scenario::Vxlan => veth(builder),
        Scenario::Discard => discard(builder),
        Scenario::Vm | Scenario::VmVxlan if !has_hosts => virtual_machines(builder),
        Scenario::Vm | Scenario::VmVxlan | Scenario::Ssh | Scenario::SshVxlan => between_machines(builder),
    }?;
    testbed.steer();
    Ok(testbed)
}

const NAMES: BySide<&str> = BySide { transmitter: "transmitter", receiver: "receiver" };

fn loopback(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let cpus = &builder.options.cpus;
    let mut transmitter = builder.agent_in_namespace(None, NAMES.transmitter, &cpus.transmitter)?;
    // The kernel adds both; the agent adds its own again after an MTU too small for IPv6.
    let own = [(Family::Ipv4, (LOOPBACK.ipv4, 8)), (Family::Ipv6, (LOOPBACK.ipv6, 128))];
    let is_used = |family: &Family| builder.options.families.contains(family);
    let addresses = own.into_iter().filter(|(family, _)| is_used(family)).map(|(_, own)| own).collect();
    transmitter.order(&Request::Configure { interface: "lo".to_owned(), addresses })?;
    let receiver = builder.agent_in_namespace(Some(&transmitter), NAMES.receiver, &cpus.receiver)?;
    let hosts = BySide { transmitter, receiver };
    let (interfaces, addresses) = (BySide::from_fn(|_| "lo"), BySide::from_fn(|_| LOOPBACK));
    Ok(Testbed::between(builder.options, hosts, interfaces, addresses, None))
}

fn veth(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let (options, tunnel) = (builder.options, builder.options.tunnel());
    let cpus = &options.cpus;
    let mut hosts = builder.two_agents(NAMES, BySide::from_fn(|side| cpus[side].as_slice()))?;
    let is_steered = !options.exact && !cpus.is_shared();
    let steered = BySide::from_fn(|side| if is_steered { cpus[side].clone() } else { Vec::new() });
    create_link(&mut hosts.each_mut(), tunnel, &options.families, &steered, None)?;
    Ok(Testbed::between(options, hosts, VETH, TRAFFIC, tunnel.map(|_| TUNNEL)))
}

fn discard(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let options = TestbedOptions { cpus: builder.options.cpus.for_one_host(), ..builder.options.clone() };
    let cpus = &options.cpus.transmitter;
    let mut host = builder.agent_in_namespace(None, NAMES.transmitter, cpus)?;
    let (device, errors) = create_discard(&mut host, options.discard_device, &options.families)?;
    let lacking = DiscardDevice::ALL.into_iter().take(errors.len()).collect();
    let note = Note::Discards { device, lacking };
    let transmitter = End::new(Side::Transmitter, host, cpus, DISCARD, TRAFFIC.transmitter);
    let mut testbed = Testbed::new(&options, transmitter, None);
    testbed.discard = Some((device, errors));
    testbed.notes.push(note);
    Ok(testbed)
}

fn virtual_machines(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let (cpus, tunnel) = (&builder.options.cpus, builder.options.tunnel());
    let controller = cpus.controller.as_slice();
    let mut nodes = if tunnel.is_some() {
        // Each guest is on its node's bridge, with the tunnel between the nodes.
        let names = BySide { transmitter: "transmitter's node", receiver: "receiver's node" };
        let agents = builder.two_agents(names, BySide::from_fn(|_| controller))?;
        let mut nodes = agents.try_map(|_, agent| Node::new(agent, BRIDGE))?;
        let mut agents = nodes.each_mut().map(|_, node| &mut node.agent);
        create_link(&mut agents, tunnel, &[], &BySide::default(), Some(BRIDGE))?;
        for (side, node) in nodes.each_mut() {
            node.add_tap(TAPS[side])?;
            node.ports.push(TUNNEL.to_owned());
            node.underlay = Some(VETH[side].to_owned());
        }
        nodes.into_iter().map(|(_, node)| node).collect()
    } else {
        // Both guests are on one bridge.
        let mut node = Node::new(builder.agent_in_namespace(None, "node", controller)?, BRIDGE)?;
        TAPS.into_iter().try_for_each(|(_, tap)| node.add_tap(tap))?;
        vec![node]
    };
    let place = |side: Side| usize::from(tunnel.is_some() && side == Side::Receiver);
    let guests = boot_guests(builder, BySide::from_fn(|side| nodes[place(side)].agent.pid))?;
    for (side, guest) in guests_of_nodes(&guests, cpus) {
        nodes[place(side)].guests.push(guest);
    }
    let mut testbed = between_guests(guests, builder.options, nodes)?;
    testbed.notes.extend(oversubscription(&builder.options.state, false, cpus));
    Ok(testbed)
}

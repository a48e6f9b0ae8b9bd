//! Guests on two machines of the user's: each on a bridge of its machine, and the network between
//! the machines.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

use agent::message::Request;
use agent::{CallError, Launch};
use host::LocatedInterface;
use study::{BySide, Scenario, Side};

use crate::builder::Builder;
use crate::error::Error;
use crate::guest::{self, GuestOrder, Initramfs, Kernel};
use crate::guests::{BootedGuest, Guests};
use crate::hosts::{Brought, Hosts};
use crate::launched_agent::LaunchedAgent;
use crate::path::address::UNDERLAY;
use crate::path::node::{Node, TAPS};
use crate::path::tunnel::{free_number, numbered, vxlan_of};
use crate::path::veth::await_running;
use crate::path::{NetworkPath, ReceiveWork};
use crate::testbed::Testbed;
use crate::two_machines::{self, ConnectedMachine, MachineSetup, reachable};
use crate::virtual_machines;

/// Two guests. The bridge of each has the machine's own interface as a port.
pub(crate) fn vm(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let hosts = two_machines::hosts(builder)?;
    let mut machines = two_machines::machines(&hosts, &builder.options.program, builder.interrupt)?;
    for (side, machine) in machines.each_ref() {
        if machine.located.carries {
            let (host, interface) = (hosts.places[side].to_string(), machine.located.interface.clone());
            return Err(Error::BridgeCutsOff { host, interface });
        }
    }
    let guests = RemoteGuests::open(builder, &hosts, &machines)?;
    two_machines::prepare(&mut machines, None, &[])?;
    let set = two_machines::apply_settings(builder, &hosts, &mut machines)?;
    let nodes = nodes(machines, |side, node, machine| {
        node.add_wire(&machine.interface, machine.mtu)?;
        node.add_tap(TAPS[side])
    })?;
    guests.testbed(builder, nodes, set, NetworkPath::new(Scenario::Vm, ReceiveWork::AtItsInterface))
}

/// Two guests, and a tunnel between their bridges over the network of the machines.
pub(crate) fn vm_vxlan(builder: &mut Builder<'_>) -> Result<Testbed, Error> {
    let family = builder.options.state.underlay_family;
    let hosts = two_machines::hosts(builder)?;
    let mut machines = two_machines::machines(&hosts, &builder.options.program, builder.interrupt)?;
    let guests = RemoteGuests::open(builder, &hosts, &machines)?;
    let under = two_machines::prepare(&mut machines, hosts.own_addresses.then_some(UNDERLAY), &[family])?;
    let set = two_machines::apply_settings(builder, &hosts, &mut machines)?;
    let number = free_number(&machines.each_ref().map(|_, machine| &machine.located));
    let [tunnel, _] = numbered(number);
    let mut nodes = nodes(machines, |side, node, machine| {
        let local = reachable(under[side].in_family(family), family, hosts.end(side))?;
        let remote = reachable(under[side.other()].in_family(family), family, hosts.end(side.other()))?;
        let vxlan = vxlan_of(local, remote, &machine.interface, number);
        let (name, bridge) = (tunnel.clone(), Some(node.bridge.clone()));
        node.agent.order(&Request::CreateVxlan { name, vxlan, addresses: Vec::new(), bridge })?;
        node.ports.push(tunnel.clone());
        node.underlay = Some(machine.interface.clone());
        node.add_tap(TAPS[side])
    })?;
    for (_, (node, _)) in nodes.each_mut() {
        await_running(&mut node.agent, &tunnel)?;
    }
    let path = NetworkPath {
        tunnel: Some(family),
        ..NetworkPath::new(Scenario::VmVxlan, ReceiveWork::AtItsInterface)
    };
    guests.testbed(builder, nodes, set, path)
}

/// A node of each machine with the bridge that `join` adds ports to, and the machine's interface.
fn nodes(
    machines: BySide<ConnectedMachine>,
    join: impl Fn(Side, &mut Node, &LocatedInterface) -> Result<(), Error>,
) -> Result<BySide<(Node, String)>, Error> {
    let [_, bridge] = numbered(free_number(&machines.each_ref().map(|_, machine| &machine.located)));
    machines.try_map(|side, ConnectedMachine { agent, located, .. }| {
        let mut node = Node::new(agent, &bridge)?;
        join(side, &mut node, &located)?;
        Ok((node, located.interface))
    })
}

/// The relays that will boot a guest on each machine, with everything that the guests need there.
struct RemoteGuests(BySide<RemoteGuest>);

struct RemoteGuest {
    agent: LaunchedAgent,
    /// The machine in messages.
    host: String,
    order: GuestOrder,
    /// Modules that the kernel lacks.
    absent: Vec<String>,
    kernel: Brought,
    initramfs: Brought,
}

impl RemoteGuests {
    /// Finds QEMU on both machines, and brings there what their guests boot from. Nothing is
    /// changed.
    fn open(
        builder: &Builder<'_>,
        hosts: &Hosts,
        machines: &BySide<ConnectedMachine>,
    ) -> Result<Self, Error> {
        let (places, interrupt) = (&hosts.places, builder.interrupt);
        let host = |side: Side| format!("the {}", hosts.end(side));
        for (side, place) in places.each_ref() {
            if !place.is_root() {
                let why = format!("{}: only root may make a bridge and a tap there", place.not_root());
                return Err(Error::NoGuest { host: host(side), why });
            }
        }
        let program = &builder.options.program;
        let launch =
            |side: Side| LaunchedAgent::remote_guest(&places[side], program, &side.to_string(), interrupt);
        // Both start in parallel.
        let mut agents = BySide::try_from_fn(launch)?;
        for (side, agent) in agents.each_mut() {
            agent.greet().map_err(|error| no_guest(&host(side), error))?;
            if machines[side].located.carries {
                agent.client.wait_for_answers_within(Launch::LEASE);
            }
        }
        let each = agents.try_map(|side, agent| {
            let cpus = two_machines::cpus(&machines[side].agent, &machines[side].located);
            let order = builder.order(&side.to_string(), &cpus)?;
            let order = GuestOrder { tap: Some(TAPS[side].to_owned()), mac: some_card(), ..order };
            let Initramfs { bytes, absent } = guest::pack(&order)?;
            let kernel = places[side].bring(guest::read_image(&order.kernel)?, interrupt)?;
            let initramfs = places[side].bring(bytes, interrupt)?;
            Ok::<_, Error>(RemoteGuest { agent, host: host(side), order, absent, kernel, initramfs })
        })?;
        Ok(Self(each))
    }

    /// Boots both guests, and has the testbed between them.
    fn testbed(
        mut self,
        builder: &Builder<'_>,
        nodes: BySide<(Node, String)>,
        set: BySide<MachineSetup>,
        path: NetworkPath,
    ) -> Result<Testbed, Error> {
        for (side, guest) in self.0.each_mut() {
            if !guest.order.pin.is_empty() {
                guest.order.pin.clone_from(&set[side].cpus);
            }
            guest.boot()?;
        }
        let options = two_machines::options(builder, set.each_ref().map(|_, set| set.cpus.clone()));
        let guests = Guests(self.0.try_map(|_, guest| guest.booted())?);
        let of_nodes = guests.of_nodes(&options.cpus);
        let (mut all, mut interfaces) = (Vec::new(), BySide::default());
        for ((side, (mut node, interface)), (_, guest)) in nodes.into_iter().zip(of_nodes) {
            node.guests = vec![guest];
            all.push(node);
            interfaces[side] = interface;
        }
        let mut testbed = guests.testbed(&options, NetworkPath { nodes: all, ..path })?;
        testbed.named = two_machines::named_machines(builder, interfaces, set);
        Ok(testbed)
    }
}

impl RemoteGuest {
    fn boot(&mut self) -> Result<(), Error> {
        let kernel = Kernel { image: self.kernel.path.clone(), modules: None, release: None };
        let packed = Some(self.initramfs.path.clone());
        self.agent.boot(&GuestOrder { kernel, packed, ..self.order.clone() })
    }

    fn booted(mut self) -> Result<BootedGuest, Error> {
        let booted = self.agent.booted().map_err(|error| no_guest(&self.host, error))?;
        let card = self.order.mac;
        Ok(BootedGuest {
            machine: virtual_machines::VirtualMachine::new(self.order, booted, self.absent),
            agent: self.agent,
            card,
        })
    }
}

/// Adds the machine's name to the reason why it boots no guest.
fn no_guest(host: &str, error: Error) -> Error {
    match error {
        Error::Call(CallError::Refused { why, .. }) => Error::NoGuest { host: host.to_owned(), why },
        error => error,
    }
}

/// The address of a network card: locally administered, and hardly that of another guest on the
/// same network.
fn some_card() -> [u8; 6] {
    let [a, b, c, d, e, ..] = RandomState::new().build_hasher().finish().to_ne_bytes();
    [0x02, a, b, c, d, e]
}

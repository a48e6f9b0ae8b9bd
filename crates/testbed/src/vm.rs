//! The scenarios `vm` and `vm-vxlan`, and any local scenario inside one virtual machine.

use agent::Isolation;
use agent::message::{Answer, Request};
use record::CpuSplit;
use study::{Scenario, Side};

use crate::builder::{Builder, IPV4, IPV6, PREFIXES, await_running};
use crate::cpus::split;
use crate::crowd::crowded;
use crate::end::End;
use crate::error::Error;
use crate::launched::Launched;
use crate::local::VETH;
use crate::machines::{Machine, Wish};
use crate::node::{BRIDGE, Node, TAPS};
use crate::options::Options;
use crate::testbed::Testbed;
use crate::vxlan::{TUNNEL, create_tunnel};

/// The addresses of the guests' network cards: locally administered, and nobody else's in a namespace of ours.
const CARDS: [[u8; 6]; 2] = [[0x02, 0x00, 0x5e, 0x10, 0x01, 0x01], [0x02, 0x00, 0x5e, 0x10, 0x01, 0x02]];

const SIDES: [&str; 2] = ["transmitter", "receiver"];

/// Modules that local scenarios may need of a guest's kernel.
const LOCAL_MODULES: [&str; 4] = ["veth", "vxlan", "bridge", "dummy"];

/// Which of them a scenario cannot do without: of each group one.
fn needed(scenario: Scenario) -> &'static [&'static [&'static str]] {
    match scenario {
        Scenario::Veth => &[&["veth"]],
        Scenario::Vxlan => &[&["veth"], &["vxlan"]],
        Scenario::Discard => &[&["dummy", "bridge", "veth"]],
        Scenario::Loopback | Scenario::Vm | Scenario::VmVxlan => &[],
    }
}

impl Testbed {
    /// Two virtual machines on one bridge.
    pub(crate) fn vm(builder: &mut Builder<'_>) -> Result<Self, Error> {
        let CpuSplit { transmitter, receiver, controller } = &builder.options.cpus;
        let mut agent = builder.launch("node", builder.first(), controller)?;
        agent.greet()?;
        let both: Vec<u32> = transmitter.iter().chain(receiver).copied().collect();
        let mut node = Node::new(agent, &both)?;
        TAPS.iter().try_for_each(|tap| node.add_tap(tap))?;
        let place = node.agent.pid();
        let machines = machines(builder, [place; 2])?;
        node.guests = machines.iter().map(|machine| machine.guest.borrow().pid()).collect();
        Self::of_machines(builder, machines, vec![node])
    }

    /// Two virtual machines, each on the bridge of its own node, and a tunnel between the nodes.
    pub(crate) fn vm_vxlan(builder: &mut Builder<'_>) -> Result<Self, Error> {
        let CpuSplit { transmitter, receiver, controller } = &builder.options.cpus;
        let names = ["transmitter's node", "receiver's node"];
        let [one, other] = builder.pair(names, [controller, controller])?;
        let mut nodes = [Node::new(one, transmitter)?, Node::new(other, receiver)?];
        let [one, other] = &mut nodes;
        let family = builder.options.state.underlay_family;
        create_tunnel(
            [&mut one.agent, &mut other.agent],
            family,
            [vec![], vec![]],
            Default::default(),
            Some(BRIDGE),
        )?;
        for ((node, tap), underlay) in nodes.iter_mut().zip(TAPS).zip(VETH) {
            node.add_tap(tap)?;
            node.ports.push(TUNNEL.to_owned());
            node.underlay = Some(underlay.to_owned());
        }
        let machines = machines(builder, nodes.each_ref().map(|node| node.agent.pid()))?;
        for (node, machine) in nodes.iter_mut().zip(&machines) {
            node.guests = vec![machine.guest.borrow().pid()];
        }
        Self::of_machines(builder, machines, nodes.into())
    }

    /// The scenario, built inside one virtual machine.
    pub(crate) fn inside(builder: &Builder<'_>) -> Result<Self, Error> {
        let options = builder.options;
        if options.scenario.has_guests() {
            return Err(Error::Nested { scenario: options.scenario });
        }
        let host = options.cpus.for_one_host();
        let ports = if options.scenario == Scenario::Discard { 1 } else { 2 };
        let needed = needed(options.scenario);
        let cpus = &host.transmitter;
        let wish = Wish { name: "guest", card: None, ports, modules: &LOCAL_MODULES, needed, cpus };
        let machines = builder.boot(&[wish])?;
        let Machine { guest, .. } = &machines[0];
        let vcpus = options.state.guest.as_ref().map_or(1, |guest| guest.vcpus);
        let cpus: Vec<(u32, u32)> = (0..vcpus).map(|cpu| (cpu, cpu)).collect();
        // Inside, everything is ours: there are no users to keep apart.
        let options = Options { cpus: split(&cpus), rootless: false, ..options.clone() };
        let inside = Some((std::rc::Rc::clone(guest), 0));
        let mut testbed =
            Self::build_with(&mut Builder { options: &options, interrupt: builder.interrupt, inside })?;
        note(&mut testbed, &machines);
        // Exact mode has no windows to watch, and counts what does not depend on waits.
        if !options.exact {
            testbed.note_crowd(builder.options);
            let controller = &builder.options.cpus.controller;
            let mut agent =
                Launched::process(&options.program, "host", Isolation::None, controller, builder.interrupt)?;
            agent.greet()?;
            testbed.watcher =
                Some(Node::watching(agent, machines[0].guest.borrow().pid(), &host.transmitter));
        }
        testbed.machines = machines;
        Ok(testbed)
    }

    /// With an end in each of two virtual machines.
    fn of_machines(builder: &Builder<'_>, machines: Vec<Machine>, nodes: Vec<Node>) -> Result<Self, Error> {
        let vcpus = builder.options.state.guest.as_ref().map_or(1, |guest| guest.vcpus);
        let cpus: Vec<u32> = (0..vcpus).collect();
        let mut ends = Vec::new();
        for (index, machine) in machines.iter().enumerate() {
            let name = SIDES[index];
            let place = Isolation::None;
            let mut agent = Launched::in_guest(&machine.guest, 0, name, place, &cpus, builder.interrupt)?;
            agent.greet()?;
            let interface = find(&mut agent, CARDS[index])?;
            let addresses = vec![(IPV4[index], PREFIXES[0]), (IPV6[index], PREFIXES[1])];
            agent.order(&Request::Configure { interface: interface.clone(), addresses })?;
            let side = [Side::Transmitter, Side::Receiver][index];
            ends.push(End::new(side, agent, &cpus, (&interface, IPV4[index], IPV6[index])));
        }
        for end in &mut ends {
            let interface = end.interface.clone();
            await_running(&mut end.agent, &interface)?;
        }
        let receiver = ends.pop();
        let transmitter = ends.pop().expect("there are two machines");
        let mut testbed = Self::of(builder.options, transmitter, receiver);
        note(&mut testbed, &machines);
        testbed.note_crowd(builder.options);
        testbed.machines = machines;
        testbed.nodes = nodes;
        Ok(testbed)
    }

    fn note_crowd(&mut self, options: &Options) {
        if let Some(note) = crowded(&options.state, options.scenario, options.inside_guest, &options.cpus) {
            self.note(note);
        }
    }
}

/// Boots a machine for each side, in the places of these processes.
fn machines(builder: &Builder<'_>, places: [u32; 2]) -> Result<Vec<Machine>, Error> {
    let cpus = &builder.options.cpus;
    let cpus = [&cpus.transmitter, &cpus.receiver];
    let wish = |index: usize| Wish {
        name: SIDES[index],
        card: Some((TAPS[index], CARDS[index], places[index])),
        ports: 1,
        modules: &[],
        needed: &[],
        cpus: cpus[index],
    };
    builder.boot(&[wish(0), wish(1)])
}

/// What there is to say about the machines, each thing once.
fn note(testbed: &mut Testbed, machines: &[Machine]) {
    for note in machines.iter().flat_map(Machine::notes) {
        if !testbed.notes().contains(&note) {
            testbed.note(note);
        }
    }
}

/// The name that a guest's kernel gave to its network card.
fn find(agent: &mut Launched, card: [u8; 6]) -> Result<String, Error> {
    let address = card.map(|byte| format!("{byte:02x}")).join(":");
    match agent.call(&Request::FindInterface { address })? {
        Answer::Interface { name } => Ok(name),
        other => Err(agent.client.unexpected(&other).into()),
    }
}

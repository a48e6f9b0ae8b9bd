//! Two virtual machines, one for each side, whose network cards connect to nodes of the path.

use agent::Isolation;
use agent::message::{Answer, Request};
use record::CpuSplit;
use study::{BySide, Side};

use crate::builder::Builder;
use crate::end::End;
use crate::error::Error;
use crate::guest::GuestOrder;
use crate::launched_agent::LaunchedAgent;
use crate::options::Options;
use crate::path::NetworkPath;
use crate::path::address::TRAFFIC;
use crate::path::node::{NodeGuest, TAPS};
use crate::path::veth::await_running;
use crate::testbed::Testbed;
use crate::virtual_machines::{LocalGuest, VirtualMachine};

/// The addresses of the guests' network cards: locally administered, and unique in a namespace of
/// ours.
const CARDS: BySide<[u8; 6]> = BySide {
    transmitter: [0x02, 0x00, 0x5e, 0x10, 0x01, 0x01],
    receiver: [0x02, 0x00, 0x5e, 0x10, 0x01, 0x02],
};

pub(crate) struct Guests(pub(crate) BySide<BootedGuest>);

/// A guest that runs, and its agent, which is not greeted yet.
pub(crate) struct BootedGuest {
    pub(crate) machine: VirtualMachine,
    pub(crate) agent: LaunchedAgent,
    pub(crate) card: [u8; 6],
}

impl Guests {
    /// Boots a machine for each side, in the network namespaces of these processes.
    pub(crate) fn boot(builder: &Builder<'_>, places: BySide<u32>) -> Result<Self, Error> {
        let orders = BySide::try_from_fn(|side: Side| {
            let order = builder.order(&side.to_string(), &builder.options.cpus[side])?;
            let tap = Some(TAPS[side].to_owned());
            // Instructions are counted where a path is traced; the other one answers.
            let exact = order.exact && side == Side::Transmitter;
            Ok::<_, Error>(GuestOrder { tap, mac: CARDS[side], place: Some(places[side]), exact, ..order })
        })?;
        let booted = |side: Side, (machine, guest): LocalGuest| {
            let name = side.to_string();
            let agent = LaunchedAgent::in_guest(&guest, 0, &name, Isolation::None, &[], builder.interrupt)?;
            Ok::<_, Error>(BootedGuest { machine, agent, card: CARDS[side] })
        };
        Ok(Self(builder.boot_pair(orders)?.try_map(booted)?))
    }

    /// The machines as their nodes see them.
    pub(crate) fn of_nodes(&self, cpus: &CpuSplit) -> BySide<NodeGuest> {
        self.0.each_ref().map(|side, booted| NodeGuest {
            side: Some(side),
            process: booted.machine.booted.process,
            cpus: cpus[side].clone(),
        })
    }

    /// The testbed with an end in each machine.
    pub(crate) fn testbed(self, options: &Options, path: NetworkPath) -> Result<Testbed, Error> {
        let mut machines = Vec::new();
        let end = |side: Side, BootedGuest { machine, mut agent, card }| {
            machines.push(machine);
            agent.greet()?;
            let cpus: Vec<u32> = agent.cpus().iter().map(|(cpu, _)| *cpu).collect();
            let interface = interface_of(&mut agent, card)?;
            let addresses = TRAFFIC[side].with_prefixes(&options.families);
            agent.order(&Request::Configure { interface: interface.clone(), addresses })?;
            Ok::<_, Error>(End::new(side, agent, &cpus, &interface, TRAFFIC[side]))
        };
        let mut ends = self.0.try_map(end)?;
        for (_, end) in ends.each_mut() {
            await_running(&mut end.agent, &end.interface.clone())?;
        }
        let mut testbed = Testbed::two(options, ends, path);
        testbed.add_machines(machines);
        Ok(testbed)
    }
}

fn interface_of(agent: &mut LaunchedAgent, card: [u8; 6]) -> Result<String, Error> {
    let address = card.map(|byte| format!("{byte:02x}")).join(":");
    Ok(ask!(agent, &Request::FindInterface { address }, Answer::Interface { name } => name))
}

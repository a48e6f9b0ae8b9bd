//! Two virtual machines, one for each side, whose network cards connect to nodes of the path.

use agent::Isolation;
use agent::message::{Answer, Request};
use guest::Order;
use study::{BySide, Side};

use crate::builder::Builder;
use crate::end::End;
use crate::error::Error;
use crate::launched::Launched;
use crate::machines::Machine;
use crate::options::Options;
use crate::path::Path;
use crate::path::address::TRAFFIC;
use crate::path::node::{NodeGuest, TAPS};
use crate::path::veth::await_running;
use crate::testbed::Testbed;

/// The addresses of the guests' network cards: locally administered, and unique in a namespace of
/// ours.
const CARDS: BySide<[u8; 6]> = BySide {
    transmitter: [0x02, 0x00, 0x5e, 0x10, 0x01, 0x01],
    receiver: [0x02, 0x00, 0x5e, 0x10, 0x01, 0x02],
};

/// The machines of both sides.
pub(crate) struct Guests(BySide<Machine>);

impl Guests {
    /// Boots a machine for each side, in the network namespaces of these processes.
    pub(crate) fn boot(builder: &Builder<'_>, places: BySide<u32>) -> Result<Self, Error> {
        let orders = BySide::try_of(|side: Side| {
            let order = builder.order(&side.to_string(), &builder.options.cpus[side])?;
            let tap = Some(TAPS[side].to_owned());
            Ok::<_, Error>(Order { tap, mac: CARDS[side], place: Some(places[side]), ..order })
        })?;
        Ok(Self(builder.boot_pair(orders)?))
    }

    /// The machines as their nodes see them.
    pub(crate) fn of_nodes(&self, options: &Options) -> BySide<NodeGuest> {
        self.0.each_ref().map(|side, machine| NodeGuest {
            side: Some(side),
            process: machine.guest.borrow().pid(),
            cpus: options.cpus[side].clone(),
        })
    }

    /// The testbed with an end in each machine.
    pub(crate) fn testbed(self, builder: &Builder<'_>, path: Path) -> Result<Testbed, Error> {
        let mut ends = BySide::try_of(|side| {
            let (guest, name) = (&self.0[side].guest, side.to_string());
            let mut agent = Launched::in_guest(guest, 0, &name, Isolation::None, &[], builder.interrupt)?;
            agent.greet()?;
            let cpus: Vec<u32> = agent.cpus().iter().map(|(cpu, _)| *cpu).collect();
            let interface = interface_of(&mut agent, CARDS[side])?;
            let addresses = TRAFFIC[side].with_prefixes();
            agent.order(&Request::Configure { interface: interface.clone(), addresses })?;
            Ok::<_, Error>(End::new(side, agent, &cpus, &interface, TRAFFIC[side]))
        })?;
        for (_, end) in ends.each_mut() {
            await_running(&mut end.agent, &end.interface.clone())?;
        }
        let mut testbed = Testbed::two(builder.options, ends, path);
        testbed.add_machines(self.0.into_iter().map(|(_, machine)| machine).collect());
        testbed.note_crowd(builder.options);
        Ok(testbed)
    }
}

/// The name of a network card in its guest.
fn interface_of(agent: &mut Launched, card: [u8; 6]) -> Result<String, Error> {
    let address = card.map(|byte| format!("{byte:02x}")).join(":");
    match agent.call(&Request::FindInterface { address })? {
        Answer::Interface { name } => Ok(name),
        other => Err(agent.client.unexpected(&other).into()),
    }
}

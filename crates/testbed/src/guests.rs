//! The virtual machines of a testbed, here or on two machines of the user's.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::rc::Rc;

use agent::Launch;
use agent::message::{Answer, Booted, Request};
use record::{CpuSplit, GuestEnvironment, Note};
use study::{BySide, Side};
use words::Accelerated;

use crate::builder::{Builder, TestbedOptions};
use crate::error::Error;
use crate::guest::{self, GuestOrder, Kernel, RunningGuest, Tools};
use crate::hosts::{Brought, Hosts};
use crate::launched_agent::{ANY_TIME, AgentStart, GUEST, LaunchedAgent, ask};
use crate::path::node::{Node, NodeGuest, TAPS};
use crate::path::{TRAFFIC, await_running};
use crate::testbed::{End, Testbed};
use crate::two_machines::{self, ConnectedMachine};

pub(crate) const IMPAIRING: [&str; 2] = ["sch_netem", "sch_tbf"];

/// A virtual machine that lives, as its host sees it.
#[derive(Debug)]
pub(crate) struct VirtualMachine {
    // Kept, so that no port closes while others are in use: it ends with the last of its agents.
    pub(crate) agent: Option<LaunchedAgent>,
    pub(crate) booted: Booted,
    pub(crate) order: GuestOrder,
    absent: Vec<String>,
}

type LocalGuest = (VirtualMachine, Rc<RefCell<RunningGuest>>);

impl Builder<'_> {
    pub(crate) fn await_boot(&self, guest: RunningGuest, order: GuestOrder) -> Result<LocalGuest, Error> {
        let (guest, booted) = guest.alive(&order, &Tools::of_this_machine(), self.interrupt)?;
        let absent = guest.absent_modules.clone();
        Ok((VirtualMachine { agent: None, booted, order, absent }, Rc::new(RefCell::new(guest))))
    }

    /// The part that all machines share: no network card, one agent. `cpus`: the host's CPUs for
    /// it.
    pub(crate) fn order(&self, name: &str, cpus: &[u32]) -> Result<GuestOrder, Error> {
        let options = self.options;
        let asked = options.state.guest.clone().unwrap_or_default();
        Ok(GuestOrder {
            name: name.to_owned(),
            kernel: Kernel::find(asked.kernel.as_deref())?,
            command_line: asked.command_line,
            vcpus: asked.vcpus,
            memory_mib: asked.memory_mib,
            nic: asked.nic,
            tap: None,
            mac: [0; 6],
            ports: 1,
            acceleration: asked.acceleration,
            exact: options.exact,
            copies: asked.copies,
            program: options.program.clone(),
            modules: &IMPAIRING,
            packed: None,
            place: None,
            rootless: options.rootless,
            pin: if asked.pin { cpus.to_vec() } else { Vec::new() },
        })
    }
}

impl VirtualMachine {
    pub(crate) fn describe(&self) -> GuestEnvironment {
        let Self { order, booted, .. } = self;
        GuestEnvironment {
            kernel_image: order.kernel.image.display().to_string(),
            kernel_release: order.kernel.release.clone(),
            vcpus: order.vcpus,
            memory_mib: order.memory_mib,
            nic: order.tap.is_some().then(|| order.nic.to_string()),
            acceleration: booted.acceleration.clone(),
            pinned_to: order.pin.clone(),
            modules_absent: self.absent.clone(),
            exact: order.exact,
            boot_ms: booted.boot_ms,
            failed_first: booted.failed_first.clone(),
        }
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        let run_by = match &self.booted.acceleration {
            _ if self.order.exact => Note::CountsInstructions,
            Accelerated::Kvm => Note::Kvm,
            Accelerated::Emulation { why } => Note::Emulation { why: why.clone(), tried: None },
        };
        let first = self.booted.failed_first.as_deref().and_then(|first| first.lines().next());
        let again = first.map(|first| Note::BootedAgain(first.to_owned()));
        let root = self.booted.stays_root.clone().map(Note::QemuAsRoot);
        std::iter::once(run_by).chain(root).chain(again).collect()
    }
}

// Locally administered, and unique in a namespace of ours.
const CARDS: BySide<[u8; 6]> = BySide {
    transmitter: [0x02, 0x00, 0x5e, 0x10, 0x01, 0x01],
    receiver: [0x02, 0x00, 0x5e, 0x10, 0x01, 0x02],
};

pub(crate) type Guests = BySide<(VirtualMachine, LaunchedAgent)>;

pub(crate) fn boot_guests(builder: &Builder<'_>, places: BySide<u32>) -> Result<Guests, Error> {
    let orders = BySide::try_from_fn(|side: Side| {
        let order = builder.order(side.word(), &builder.options.cpus[side])?;
        let tap = Some(TAPS[side].to_owned());
        // Instructions are counted where a path is traced; the other one answers.
        let exact = order.exact && side == Side::Transmitter;
        Ok::<_, Error>(GuestOrder { tap, mac: CARDS[side], place: Some(places[side]), exact, ..order })
    })?;
    let mut started = BySide::try_from_fn(|side| RunningGuest::start(&orders[side]).map(Some))?;
    orders.try_map(|side, order| {
        let guest = started[side].take().expect("one was started for each side");
        let (machine, guest) = builder.await_boot(guest, order)?;
        let agent = LaunchedAgent::in_guest(&guest, 0, builder.start(side.word()))?;
        Ok((machine, agent))
    })
}

pub(crate) fn guests_of_nodes(guests: &Guests, cpus: &CpuSplit) -> BySide<NodeGuest> {
    guests.each_ref().map(|side, (machine, _)| NodeGuest {
        side: Some(side),
        process: machine.booted.process,
        cpus: cpus[side].clone(),
    })
}

pub(crate) fn between_guests(
    guests: Guests,
    options: &TestbedOptions,
    nodes: Vec<Node>,
) -> Result<Testbed, Error> {
    let mut machines = Vec::new();
    let mut ends = guests.try_map(|side: Side, (machine, mut agent)| {
        agent.greet()?;
        let address = machine.order.mac.map(|byte| format!("{byte:02x}")).join(":");
        machines.push(machine);
        let request = Request::FindInterface { address };
        let interface = ask!(agent, &request, Answer::Interface(name) => name);
        let addresses = TRAFFIC[side].with_prefixes(&options.families);
        agent.order(&Request::Configure { interface: interface.clone(), addresses })?;
        let cpus = agent.cpu_numbers();
        Ok::<_, Error>(End::new(side, agent, &cpus, &interface, TRAFFIC[side]))
    })?;
    for (_, end) in ends.each_mut() {
        await_running(&mut end.agent, &end.interface)?;
    }
    let mut testbed = Testbed::new(options, ends.transmitter, Some(ends.receiver));
    testbed.nodes = nodes;
    testbed.add_machines(machines);
    Ok(testbed)
}

pub(crate) struct RemoteGuest {
    agent: LaunchedAgent,
    order: GuestOrder,
    absent: Vec<String>,
    kernel: Brought,
    initramfs: Brought,
}

impl RemoteGuest {
    /// Finds QEMU on both machines, and brings the guests' files there. Nothing is changed.
    pub(crate) fn open(
        builder: &Builder<'_>,
        hosts: &Hosts,
        machines: &BySide<ConnectedMachine>,
    ) -> Result<BySide<Self>, Error> {
        let (places, interrupt) = (&hosts.places, builder.interrupt);
        for (side, place) in places.each_ref() {
            if !place.is_root() {
                return Err(Error::Failed(format!(
                    "the {} cannot boot a guest: {}: only root may make a bridge and a tap there",
                    hosts.end(side),
                    place.not_root()
                )));
            }
        }
        let program = &builder.options.program;
        let mut agents = BySide::try_from_fn(|side: Side| {
            let start = AgentStart::of_machine(side.word(), program, interrupt);
            LaunchedAgent::on_machine(&places[side], GUEST, start)
        })?;
        for (side, agent) in agents.each_mut() {
            agent.greet().map_err(|error| boots_none(&hosts.end(side), error))?;
            if machines[side].located.carries {
                agent.client.answers_within = Some(Launch::LEASE);
            }
        }
        agents.try_map(|side, agent| {
            let cpus = two_machines::cpus(&machines[side].agent, &machines[side].located);
            let order = builder.order(side.word(), &cpus)?;
            // Locally administered, and hardly the address of another guest on the same network.
            let [a, b, c, d, e, ..] = RandomState::new().build_hasher().finish().to_ne_bytes();
            let mac = [0x02, a, b, c, d, e];
            let order = GuestOrder { tap: Some(TAPS[side].to_owned()), mac, ..order };
            let (bytes, absent) = guest::pack(&order)?;
            let kernel = places[side].bring(guest::read_image(&order.kernel)?, interrupt)?;
            let initramfs = places[side].bring(bytes, interrupt)?;
            Ok(Self { agent, order, absent, kernel, initramfs })
        })
    }

    pub(crate) fn between(
        mut both: BySide<Self>,
        options: &TestbedOptions,
        nodes: BySide<Node>,
        cpus: BySide<Vec<u32>>,
    ) -> Result<Testbed, Error> {
        for (side, Self { agent, order, kernel: (image, _), initramfs: (packed, _), .. }) in both.each_mut() {
            if !order.pin.is_empty() {
                order.pin.clone_from(&cpus[side]);
            }
            let kernel = Kernel { image: image.clone(), modules: None, release: None };
            let order = GuestOrder { kernel, packed: Some(packed.clone()), ..order.clone() };
            agent.send(&order, ANY_TIME)?;
        }
        let options = two_machines::with_cpus(options, cpus);
        let guests = both.try_map(|_, Self { mut agent, order, absent, .. }| {
            let booted = agent.booted().map_err(|error| boots_none(&agent.client.host, error))?;
            Ok::<_, Error>((VirtualMachine { agent: None, booted, order, absent }, agent))
        })?;
        let of_nodes = guests_of_nodes(&guests, &options.cpus);
        let nodes = nodes.into_iter().zip(of_nodes);
        let nodes = nodes.map(|((_, node), (_, guest))| Node { guests: vec![guest], ..node }).collect();
        between_guests(guests, &options, nodes)
    }
}

fn boots_none(host: &str, error: Error) -> Error {
    error.or_not_set(format_args!("{host} cannot boot a guest"))
}

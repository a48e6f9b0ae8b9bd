//! Checks two machines as a pair, before changes, by a few packets; where some are lost, the facts
//! that both agents tell name the cause.

mod crossing;
mod fault;

use std::net::IpAddr;
use std::time::{Duration, Instant};

use agent::message::{Answer, Request};
use load::{TCP, UDP};
use study::{BySide, Effective, Side};

use crate::error::Error;
use crate::hosts::Hosts;
use crate::launched_agent::{LaunchedAgent, ask};
use crate::path::{await_running, pairs, reachable};
use crate::run::RunOrder;
use crate::testbed::Testbed;
use crate::two_machines;
pub use crossing::Crossing;
pub use fault::PairFault;
use fault::{CHECKS, ExchangedPackets, PairEnd};

// Time for packets to cross the network unchanged: TCP tries a connection again after 1 s.
const PATIENCE: Duration = Duration::from_millis(1150);

// Packets have the time that the traffic's own connections have.
const AFTER_CHANGES: Duration = Duration::from_secs(5);

// In ms. The packets of the end that is asked second have not been sent when the first one waits.
const WITHIN_MS: BySide<u16> = BySide { transmitter: 10, receiver: 100 };

/// A check of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairCheck {
    /// The compared fact; for packets, their family.
    pub name: &'static str,
    /// The finding, or the faults.
    pub outcome: Result<String, Vec<PairFault>>,
}

impl PairCheck {
    fn new(name: &'static str, faults: Vec<PairFault>, fine: String) -> Self {
        Self { name, outcome: if faults.is_empty() { Ok(fine) } else { Err(faults) } }
    }

    /// Refuses machines between which something would not be measured.
    ///
    /// # Errors
    /// [`Error::Pair`] with every fault.
    pub fn refuse(checks: Vec<Self>) -> Result<(), Error> {
        let faults: Vec<PairFault> =
            checks.into_iter().filter_map(|one| one.outcome.err()).flatten().collect();
        if faults.is_empty() { Ok(()) } else { Err(Error::Pair(faults)) }
    }
}

impl Hosts {
    /// Checks both machines as a pair for these packets. Nothing is changed.
    ///
    /// # Errors
    /// When an agent is gone, an interface without carrier, or a family without addresses.
    pub fn check_pair(&self, crossings: &[Crossing]) -> Result<Vec<PairCheck>, Error> {
        let mut machines = two_machines::machines(self)?;
        let chosen = pairs(&machines.each_ref().map(|_, machine| machine.located.addresses.as_slice()));
        let mut places =
            machines.each_mut().map(|_, machine| (&mut machine.agent, machine.located.interface.clone()));
        let own = crossings.iter().filter(|_| self.own_addresses);
        let asked: Vec<IpAddr> =
            own.flat_map(|one| Side::BOTH.map(|side| one.own[side].in_family(one.family))).collect();
        let ends = BySide::try_from_fn(|side| tell(side, &mut places[side], &asked))?;
        let mut checks: Vec<PairCheck> = Vec::new();
        let are_well = |checks: &[PairCheck]| checks.iter().all(|one| one.outcome.is_ok());
        for (name, fine, check) in CHECKS {
            let faults = Side::BOTH.into_iter();
            let faults = faults.filter_map(|side| check(&ends[side], &ends[side.other()], crossings));
            checks.push(PairCheck::new(name, faults.collect(), fine.to_owned()));
        }
        // Interfaces and addresses that the study sets up are tried then.
        let are_there = !self.own_addresses && ends.each_ref().into_iter().all(|(_, end)| end.facts.link.up);
        if !are_there || !are_well(&checks) {
            return Ok(checks);
        }
        for (_, (agent, interface)) in places.each_mut() {
            await_running(agent, interface)?;
        }
        let mtus = ends.each_ref().map(|_, end| end.facts.link.mtu);
        let mut crossed = Vec::new();
        for crossing in crossings {
            let (crossing, family) = (crossing.clone().within(mtus), crossing.family);
            let addresses = BySide::try_from_fn(|side| {
                reachable(chosen[side].in_family(family), family, self.end(side))
            })?;
            if crossed.contains(&crossing) {
                continue;
            }
            // Packets after a fault hardly ever arrive.
            let patience = if are_well(&checks) { PATIENCE } else { PATIENCE / 8 };
            let faults = cross(&mut places, crossing.clone(), addresses, patience)?;
            let BySide { transmitter, receiver } = addresses;
            let fine = format!("packets arrive both ways ({transmitter}, {receiver})");
            checks.push(PairCheck::new(family.word(), faults, fine));
            crossed.push(crossing);
        }
        Ok(checks)
    }
}

impl Testbed {
    /// Refuses machines between which this traffic's packets do not arrive now; tries them once.
    ///
    /// # Errors
    /// [`Error::Pair`], or when an agent is gone.
    pub fn check_path(&mut self, order: &RunOrder, effective: &Effective) -> Result<(), Error> {
        let (Some(_), Some(receiver), Some(of_receiver)) =
            (&self.named, &mut self.receiver, &effective.receiver)
        else {
            return Ok(());
        };
        let mtus = BySide { transmitter: effective.transmitter.mtu, receiver: of_receiver.mtu };
        let crossing = Crossing::of_workload(order).within(mtus);
        if !self.scenario.has_machines() || self.crossed.contains(&crossing) {
            return Ok(());
        }
        let ends = BySide { transmitter: &mut self.transmitter, receiver };
        let addresses = ends.each_ref().map(|_, end| end.address(crossing.family));
        let mut places = ends.map(|_, end| (&mut end.agent, end.interface.clone()));
        let faults = cross(&mut places, crossing.clone(), addresses, AFTER_CHANGES)?;
        self.crossed.push(crossing);
        PairCheck::refuse(vec![PairCheck::new("path", faults, String::new())])
    }
}

/// An end's agent and interface.
type PairMachine<'a> = (&'a mut LaunchedAgent, String);

fn tell(side: Side, (agent, interface): &mut PairMachine<'_>, asked: &[IpAddr]) -> Result<PairEnd, Error> {
    let request = Request::PairFacts { interface: interface.clone(), addresses: asked.to_vec() };
    let facts = ask!(agent, &request, Answer::PairFacts(facts) => *facts);
    Ok(PairEnd { side, host: agent.machine(), facts })
}

fn cross(
    places: &mut BySide<PairMachine<'_>>,
    crossing: Crossing,
    addresses: BySide<IpAddr>,
    patience: Duration,
) -> Result<Vec<PairFault>, Error> {
    let is_used = |protocol: usize| Side::BOTH.iter().any(|side| crossing.sent[*side][protocol].is_some());
    let sockets = BySide::try_from_fn(|side| {
        let (agent, interface) = &mut places[side];
        let (interface, local, listens) = (interface.clone(), addresses[side], side == Side::Receiver);
        let ports = [UDP, TCP].map(|protocol| crossing.port.filter(|_| listens && is_used(protocol)));
        let request = Request::OpenProbe { interface, local, ports, listens };
        let addresses = ask!(agent, &request, Answer::Sockets(addresses) => addresses);
        match addresses[..] {
            [udp, tcp] => Ok([udp, tcp]),
            _ => Err(agent.client.unexpected(&Answer::Sockets(addresses)).into()),
        }
    });
    let sockets = match sockets {
        Ok(sockets) => sockets,
        // The traffic itself tells why it has no socket, and other traffic may have one.
        Err(error) => return Error::refusal(error).map(|_| Vec::new()),
    };
    let until = Instant::now() + patience;
    let arrived = loop {
        let arrived = BySide::try_from_fn(|side| {
            let full = crossing.sent[side].map(Option::unwrap_or_default);
            let exchange =
                Request::ExchangeProbes { to: sockets[side.other()], full, within_ms: WITHIN_MS[side] };
            let (agent, _) = &mut places[side];
            Ok(ask!(agent, &exchange, Answer::Arrived(arrived) => arrived))
        })?;
        if crossing.lost(&arrived).is_empty() {
            return Ok(Vec::new());
        }
        if Instant::now() >= until {
            break arrived;
        }
    };
    let asked = [addresses.transmitter, addresses.receiver];
    let ends = BySide::try_from_fn(|side| tell(side, &mut places[side], &asked))?;
    Ok(ExchangedPackets { crossing, addresses, arrived, ends }.faults())
}

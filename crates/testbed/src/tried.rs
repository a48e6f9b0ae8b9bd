//! The path between two machines, tried with a few packets of each kind before any traffic.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use agent::Interrupt;
use agent::message::{Answer, Probed, Request};
use host::{Firewall, Located, PairFacts, same_network};
use study::{BySide, Effective, Scenario, Side};

use crate::error::Error;
use crate::fault::Fault;
use crate::hosts::Hosts;
use crate::launched::Launched;
use crate::pair::{Checked, Crossing, End, Needs, compare};
use crate::path::address::Addresses;
use crate::run::RunOrder;
use crate::testbed::Testbed;
use crate::wire::{self, Found, Machine, pairs};

/// How long an end waits for packets, in ms. Those of the end that is asked second are there by
/// then.
const WITHIN_MS: BySide<u16> = BySide { transmitter: 300, receiver: 100 };

impl Hosts {
    /// Compares what was found on both machines, and then tries the path between them with a few
    /// packets. Nothing is changed.
    ///
    /// # Errors
    /// When an agent is gone.
    pub fn check_pair(
        &self,
        found: &BySide<Found>,
        needs: &Needs,
        program: &Path,
        interrupt: &Interrupt,
    ) -> Result<Vec<Checked>, Error> {
        let ends = self.ends(found);
        let mut checks = compare(&ends, needs, self.own_addresses);
        // Addresses and interfaces that are not there yet cannot be tried.
        let is_there =
            !self.own_addresses && ends.each_ref().into_iter().all(|(_, end)| end.carrier == Some(true));
        if is_there && !needs.crossings.is_empty() && checks.iter().all(|one| one.outcome.is_ok()) {
            let mut machines = wire::machines(self, program, interrupt)?;
            checks.extend(try_path(&mut machines, &ends, needs)?);
        }
        Ok(checks)
    }
}

impl Testbed {
    /// Refuses machines between which packets of this traffic do not arrive, with the MTUs that
    /// their interfaces have now.
    ///
    /// # Errors
    /// [`Error::Pair`], or when an agent is gone.
    pub fn check_path(&mut self, order: &RunOrder, effective: &Effective) -> Result<(), Error> {
        let (Some(named), Some(receiver), Some(settled)) =
            (&self.named, &mut self.receiver, &effective.receiver)
        else {
            return Ok(());
        };
        if !matches!(self.path.scenario, Scenario::Ssh | Scenario::SshVxlan) {
            return Ok(());
        }
        let mtus = BySide { transmitter: effective.transmitter.mtu, receiver: settled.mtu };
        let both = BySide { transmitter: &mut self.transmitter, receiver };
        let addresses = both.each_ref().map(|_, end| Addresses { ipv4: end.ipv4, ipv6: end.ipv6 });
        let located = both.each_ref().map(|side, end| Located {
            interface: end.interface.clone(),
            mtu: mtus[side],
            addresses: addresses[side].with_prefixes(),
            near: Vec::new(),
            carries: false,
        });
        let facts = PairFacts::default();
        let ends = located.each_ref().map(|side, located| End::new(side, &named[side].host, located, &facts));
        let addresses = addresses.map(|_, addresses| addresses.of(order.family));
        let mut agents = both.map(|_, end| &mut end.agent);
        // The traffic itself tells why no socket opens, and other conditions may go on.
        let crossing = Crossing { must_open: false, ..Crossing::of(order) };
        let faults = faults(&mut agents, &ends, &crossing, addresses, (true, AFTER_CHANGES))?;
        Checked::refuse(vec![Checked::new("path", faults, String::new())])
    }
}

/// How often a path is tried: a packet may be lost on one that is well, and a switch may forward
/// nothing for a while after an interface was set.
const AS_IT_IS: usize = 2;
const AFTER_CHANGES: usize = 6;

/// Tries the packets that will cross the network, up to the first that do not.
fn try_path(
    machines: &mut BySide<Machine>,
    ends: &BySide<End<'_>>,
    needs: &Needs,
) -> Result<Vec<Checked>, Error> {
    let chosen = pairs(&ends.each_ref().map(|_, end| end.located.addresses.as_slice()));
    let mut agents = machines.each_mut().map(|_, machine| &mut machine.agent);
    let mut checks: Vec<Checked> = Vec::new();
    for crossing in &needs.crossings {
        let addresses = chosen.map(|_, addresses| addresses.of(crossing.family));
        let faults = faults(&mut agents, ends, crossing, addresses, (needs.keeps_mtu, AS_IT_IS))?;
        let is_lost = !faults.is_empty();
        let fine = "small and full ones arrive both ways".to_owned();
        checks.push(Checked::new(&format!("{} packets", crossing.family), faults, fine));
        if is_lost {
            break;
        }
    }
    Ok(checks)
}

/// Why packets of a crossing do not arrive in any of these tries; `full`: those of the interfaces'
/// MTU too.
fn faults(
    agents: &mut BySide<&mut Launched>,
    ends: &BySide<End<'_>>,
    crossing: &Crossing,
    addresses: BySide<IpAddr>,
    (full, tries): (bool, usize),
) -> Result<Vec<Fault>, Error> {
    let mut faults = Vec::new();
    for _ in 0..tries {
        faults = match try_once(agents, ends, crossing, addresses)? {
            Ok(tried) => tried.faults(ends, crossing, full),
            Err(fault) => Vec::from_iter(crossing.must_open.then_some(fault)),
        };
        if faults.is_empty() {
            break;
        }
    }
    Ok(faults)
}

/// Sends a few packets each way. A socket that cannot be opened is a fault.
fn try_once(
    agents: &mut BySide<&mut Launched>,
    ends: &BySide<End<'_>>,
    crossing: &Crossing,
    addresses: BySide<IpAddr>,
) -> Result<Result<Tried, Fault>, Error> {
    let ports = [crossing.udp, crossing.tcp].map(|is_needed| crossing.port.filter(|_| is_needed));
    let opened = BySide::try_of(|side| {
        let (listens, local) = (side == Side::Receiver, addresses[side]);
        let (interface, ports) =
            (ends[side].located.interface.clone(), if listens { ports } else { [None; 2] });
        match sockets(agents[side], &Request::OpenProbe { interface, local, ports, listens }) {
            Ok(sockets) => Ok(sockets),
            Err(error) => {
                Err(error.refusal().map(|why| ends[side].fault("it cannot open sockets".to_owned(), why)))
            }
        }
    });
    let opened = match opened {
        Ok(opened) => opened,
        Err(Ok(fault)) => return Ok(Err(fault)),
        Err(Err(error)) => return Err(error),
    };
    for side in Side::BOTH {
        let (to, mtu) = (opened[side.other()], ends[side].located.mtu);
        agents[side].order(&Request::SendProbe { to, mtu })?;
    }
    let probed = BySide::try_of(|side| {
        let agent = &mut agents[side];
        match agent.call(&Request::ReadProbe { within_ms: WITHIN_MS[side] })? {
            Answer::Probed(probed) => Ok(*probed),
            other => Err(Error::from(agent.client.unexpected(&other))),
        }
    })?;
    let is_near = {
        let [one, other] = Side::BOTH.map(|side| ends[side].with_prefix(addresses[side]));
        one.zip(other).is_some_and(|(one, other)| same_network(one, other))
    };
    let answered = BySide::try_of(|side| {
        let found = probed[side.other()]
            .neighbour
            .as_deref()
            .filter(|found| is_near && ends[side].address.is_some_and(|own| own != *found));
        let Some(address) = found.map(str::to_owned) else { return Ok(None) };
        match agents[side].call(&Request::FindInterface { address }).map_err(Error::refusal) {
            Ok(Answer::Interface { name }) => Ok(Some(name)),
            // It is not one of this machine, as where a cloud answers for all.
            Ok(_) | Err(Ok(_)) => Ok(None),
            Err(Err(error)) => Err(error),
        }
    })?;
    Ok(Ok(Tried { addresses, is_near, probed, answered }))
}

fn sockets(agent: &mut Launched, request: &Request) -> Result<[SocketAddr; 2], Error> {
    match agent.call(request)? {
        Answer::Sockets { addresses } if addresses.len() == 2 => Ok([addresses[0], addresses[1]]),
        other => Err(agent.client.unexpected(&other).into()),
    }
}

/// What became of the packets of both ends.
struct Tried {
    addresses: BySide<IpAddr>,
    /// Whether both are in one network.
    is_near: bool,
    probed: BySide<Probed>,
    /// Another interface of a machine that answered for its address.
    answered: BySide<Option<String>>,
}

impl Tried {
    /// Why packets of the crossing did not arrive, each reason once.
    fn faults(&self, ends: &BySide<End<'_>>, crossing: &Crossing, full: bool) -> Vec<Fault> {
        let mut faults: Vec<Fault> = Vec::new();
        for to in Side::BOTH.map(Side::other) {
            let (from, to) = (&ends[to.other()], &ends[to]);
            let arrived = &self.probed[to.side].arrived;
            // The receiver answers in the transmitter's connection.
            let answers = to.side == Side::Receiver || self.probed[Side::Receiver].arrived.tcp[0];
            let udp = crossing.udp.then_some(("UDP", arrived.udp));
            let tcp = (crossing.tcp && answers).then_some(("TCP", arrived.tcp));
            for (protocol, of_it) in [udp, tcp].into_iter().flatten() {
                let fault = match of_it {
                    [false, _] => self.lost([from, to], protocol, crossing.port),
                    [true, false] if full => cut([from, to], protocol),
                    _ => continue,
                };
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
        faults
    }

    /// Why not even a small packet arrived.
    fn lost(&self, [from, to]: [&End<'_>; 2], protocol: &str, port: Option<u16>) -> Fault {
        let address = self.addresses[to.side];
        if let Some(other) = &self.answered[to.side] {
            return to.fault(
                format!(
                    "{other} of this machine answered for its address {address}, so packets arrive there"
                ),
                "connect the two to different segments, or let each answer for its own addresses only: \
                 sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2"
                    .to_owned(),
            );
        }
        if self.is_near && self.probed[from.side].neighbour.is_none() {
            return to.fault(
                format!("nobody answers for its address {address} at {}", from.named()),
                "connect both interfaces to one segment: look at cables, switch and VLAN".to_owned(),
            );
        }
        let port = match (to.side, port) {
            (Side::Receiver, Some(port)) => format!(" to port {port}"),
            _ => String::new(),
        };
        let filters = |end: &End<'_>| self.probed[end.side].firewall.as_ref().and_then(Firewall::filters);
        let rules = "let them pass: `nft list ruleset` and `iptables-save` show the rules".to_owned();
        if self.probed[from.side].arrived.forbidden {
            let cause = format!("rules of this machine forbid to send {protocol}{port} to {}", to.named());
            return from.fault(cause, rules);
        }
        let cause = format!("packets of {protocol}{port} from {} do not arrive", from.named());
        match (filters(to), filters(from)) {
            (Some(here), _) => to.fault(format!("{cause}, and this machine has {here}"), rules),
            (None, Some(there)) => to.fault(format!("{cause}, and that machine has {there}"), rules),
            (None, None) => to.fault(
                cause,
                "look for what filters between the machines, and for rules on both that only root sees"
                    .to_owned(),
            ),
        }
    }
}

/// Small packets arrive, and those of the sender's MTU do not.
fn cut([from, to]: [&End<'_>; 2], protocol: &str) -> Fault {
    let mtu = from.located.mtu;
    to.fault(
        format!("packets of {protocol} as large as the MTU of {} ({mtu}) do not arrive, small ones do", from.named()),
        "what lies between carries less: raise its MTU, or let the study set one that passes (--set mtu=1500)"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use study::Family;

    use super::*;
    use crate::pair::tests::{Told, crossing};

    #[test]
    fn packets_that_do_not_arrive_are_explained() {
        const A: &str = "the transmitter (root@a), interface data0: ";
        const B: &str = "the receiver (b), interface data0: ";
        type Change = fn(&mut Tried, &mut Crossing);
        fn rules(tried: &mut Tried, side: Side) {
            let rules = Some(Firewall { rules: Some(3), ..Firewall::default() });
            tried.probed[side].firewall = rules;
        }
        let cases: &[(Change, &[[&str; 3]])] = &[
            (|_, _| {}, &[]),
            // Nothing of either protocol arrives at the receiver, nor comes back by TCP.
            (
                |tried, _| {
                    tried.probed.receiver.arrived = load::Arrived::default();
                    tried.probed.transmitter.arrived.tcp = [false; 2];
                    tried.answered.receiver = Some("data1".to_owned());
                },
                &[[B, "data1 of this machine answered for its address 10.0.0.2", "arp_ignore=1"]],
            ),
            (
                |tried, _| {
                    tried.probed.receiver.arrived = load::Arrived::default();
                    tried.probed.transmitter = Probed::default();
                },
                &[
                    [
                        B,
                        "nobody answers for its address 10.0.0.2 at the transmitter (root@a)",
                        "switch and VLAN",
                    ],
                    [
                        A,
                        "packets of UDP from the receiver (b), interface data0 do not arrive",
                        "filters between",
                    ],
                ],
            ),
            // A router is between them.
            (
                |tried, _| {
                    tried.is_near = false;
                    tried.probed.receiver.arrived.udp = [false; 2];
                    tried.probed.transmitter.neighbour = None;
                },
                &[[
                    B,
                    "packets of UDP from the transmitter (root@a), interface data0 do not",
                    "filters between",
                ]],
            ),
            (
                |tried, crossing| {
                    crossing.port = Some(5001);
                    tried.probed.receiver.arrived.tcp = [false; 2];
                    tried.probed.transmitter.arrived.tcp = [false; 2];
                    rules(tried, Side::Receiver);
                },
                &[[B, "TCP to port 5001 from the transmitter (root@a)", "`nft list ruleset`"]],
            ),
            (
                |tried, _| {
                    tried.probed.transmitter.arrived.udp = [false; 2];
                    rules(tried, Side::Receiver);
                },
                &[[A, "do not arrive, and that machine has 3 rules of nftables", "let them pass"]],
            ),
            (
                |tried, _| {
                    tried.probed.receiver.arrived.udp = [false; 2];
                    tried.probed.transmitter.arrived.forbidden = true;
                },
                &[[A, "rules of this machine forbid to send UDP to the receiver (b)", "let them pass"]],
            ),
            (
                |tried, _| tried.probed.receiver.arrived.udp[1] = false,
                &[[
                    B,
                    "UDP as large as the MTU of the transmitter (root@a), interface data0 (1500)",
                    "--set mtu=",
                ]],
            ),
            (
                |tried, crossing| {
                    tried.probed.receiver.arrived.udp = [false; 2];
                    crossing.udp = false;
                },
                &[],
            ),
        ];
        let told = Told::pair();
        for (number, (change, expected)) in cases.iter().enumerate() {
            let all = [true; 2];
            let arrived = load::Arrived { udp: all, tcp: all, forbidden: false };
            let probed =
                || Probed { arrived: arrived.clone(), neighbour: Some("02:00".to_owned()), firewall: None };
            let mut tried = Tried {
                addresses: BySide::of(|side| told.ends()[side].located.addresses[0].0),
                is_near: true,
                probed: BySide::of(|_| probed()),
                answered: BySide::default(),
            };
            let mut crossing = crossing(Family::Ipv4);
            change(&mut tried, &mut crossing);
            let faults = tried.faults(&told.ends(), &crossing, true);
            let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
            assert_eq!(said.len(), expected.len(), "case {number}: {said:#?}");
            for (line, [begin, cause, remedy]) in said.iter().zip(*expected) {
                let is_so = line.starts_with(begin) && line.contains(cause) && line.contains(remedy);
                assert!(is_so, "case {number}: {line}");
            }
        }
    }
}

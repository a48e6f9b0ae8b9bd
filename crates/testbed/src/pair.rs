//! Two machines compared before anything is changed: what each of their agents told is enough to
//! name most reasons for which no packet would arrive.

use std::net::IpAddr;

use host::{Located, PairFacts, same_network};
use study::{BootState, BySide, Family, Scenario, Side};

use crate::error::Error;
use crate::fault::Fault;
use crate::hosts::Hosts;
use crate::path::address::{Addresses, TRAFFIC, UNDERLAY};
use crate::run::RunOrder;
use crate::switches::Switches;
use crate::wire::{Found, pairs};

/// What conditions need of the network between their machines.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    pub(crate) crossings: Vec<Crossing>,
    /// Whether packets cross it with the MTU that the interfaces have.
    pub(crate) keeps_mtu: bool,
}

/// Packets that cross the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crossing {
    pub(crate) family: Family,
    /// The receiver's port; `None`: any.
    pub(crate) port: Option<u16>,
    /// Whether these protocols carry them.
    pub(crate) udp: bool,
    pub(crate) tcp: bool,
    /// Whether a socket that cannot be opened is a fault.
    pub(crate) must_open: bool,
}

impl Crossing {
    /// The packets of a workload.
    pub(crate) fn of(order: &RunOrder) -> Self {
        let udp = order.traffic.kind.is_udp();
        Self { family: order.family, port: order.traffic.port, udp, tcp: !udp, must_open: true }
    }
}

impl Needs {
    /// Adds those of a condition.
    pub fn add(&mut self, state: &BootState, order: &RunOrder, switches: &Switches) {
        let crossing = match state.scenario {
            Scenario::Ssh => Crossing::of(order),
            scenario if scenario.has_tunnel() => {
                let (family, port) = (state.underlay_family, Some(host::Vxlan::PORT));
                // Another tunnel may have the port, and shares it.
                Crossing { family, port, udp: true, tcp: false, must_open: false }
            }
            _ => return,
        };
        let known = |one: &&mut Crossing| (one.family, one.port) == (crossing.family, crossing.port);
        match self.crossings.iter_mut().find(known) {
            Some(known) => (known.udp, known.tcp) = (known.udp | crossing.udp, known.tcp | crossing.tcp),
            None => self.crossings.push(crossing),
        }
        self.keeps_mtu |= !state.scenario.has_tunnel() && switches.mtu.is_none();
    }

    fn families(&self) -> Vec<Family> {
        let crosses = |family: &Family| self.crossings.iter().any(|one| one.family == *family);
        Family::ALL.into_iter().filter(crosses).collect()
    }

    /// Every family that both machines have; IPv4 if they have none in common.
    #[must_use]
    pub fn of(found: &BySide<Found>) -> Self {
        let has = |family| move |(_, one): (Side, &Found)| one.located.addresses_of(family).next().is_some();
        let mut families: Vec<Family> = Family::ALL.to_vec();
        families.retain(|family| found.each_ref().into_iter().all(has(*family)));
        if families.is_empty() {
            families.push(Family::Ipv4);
        }
        let crossing = |family| Crossing { family, port: None, udp: true, tcp: true, must_open: true };
        Self { crossings: families.into_iter().map(crossing).collect(), keeps_mtu: true }
    }
}

/// One check of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What was compared.
    pub name: String,
    /// What was found, or what is wrong.
    pub outcome: Result<String, Vec<Fault>>,
}

impl Hosts {
    /// Both ends, as their agents told of them.
    pub(crate) fn ends<'f>(&self, found: &'f BySide<Found>) -> BySide<End<'f>> {
        found.each_ref().map(|side, one| End {
            boot_id: one.environment.kernel.boot_id.as_deref(),
            carrier: one.about().filter(|about| about.link.up).map(|about| about.link.carrier),
            address: one.about().and_then(|about| about.link.address.as_deref()),
            ..End::new(side, &self.places[side].to_string(), &one.located, &one.facts)
        })
    }
}

impl Checked {
    pub(crate) fn new(name: &str, faults: Vec<Fault>, fine: String) -> Self {
        Self { name: name.to_owned(), outcome: if faults.is_empty() { Ok(fine) } else { Err(faults) } }
    }

    /// Refuses machines between which nothing could be measured.
    ///
    /// # Errors
    /// [`Error::Pair`] with every fault.
    pub fn refuse(checks: Vec<Self>) -> Result<(), Error> {
        let faults: Vec<Fault> = checks.into_iter().filter_map(|one| one.outcome.err()).flatten().collect();
        if faults.is_empty() { Ok(()) } else { Err(Error::Pair(faults)) }
    }
}

/// One end, as its agent told of it.
pub(crate) struct End<'f> {
    pub(crate) side: Side,
    host: String,
    boot_id: Option<&'f str>,
    /// Whether its interface has a carrier; `None` while that is down.
    pub(crate) carrier: Option<bool>,
    /// Its link-layer address.
    pub(crate) address: Option<&'f str>,
    pub(crate) located: &'f Located,
    facts: &'f PairFacts,
}

impl<'f> End<'f> {
    /// An end that is set up.
    pub(crate) fn new(side: Side, host: &str, located: &'f Located, facts: &'f PairFacts) -> Self {
        let host = format!("the {side} ({host})");
        Self { side, host, boot_id: None, carrier: Some(true), address: None, located, facts }
    }

    pub(crate) fn fault(&self, cause: String, remedy: String) -> Fault {
        Fault { host: self.host.clone(), interface: self.located.interface.clone(), cause, remedy }
    }

    /// An address of its own, with the length of its prefix.
    pub(crate) fn with_prefix(&self, address: IpAddr) -> Option<(IpAddr, u8)> {
        self.located.addresses.iter().copied().find(|(own, _)| *own == address)
    }

    /// The end in a sentence about the other one.
    pub(crate) fn named(&self) -> String {
        format!("{}, interface {}", self.host, self.located.interface)
    }
}

/// A check of each end by itself, where the other end explains it.
type OfEnd<'c> = &'c dyn Fn(&End<'_>, &End<'_>) -> Option<Fault>;

/// What keeps two machines from being a pair, from what their agents told alone.
pub(crate) fn compare(ends: &BySide<End<'_>>, needs: &Needs, own: bool) -> Vec<Checked> {
    let each = |of_end: OfEnd<'_>| -> Vec<Fault> {
        let sides = ends.each_ref().into_iter();
        sides.filter_map(|(side, end)| of_end(end, &ends[side.other()])).collect()
    };
    if let Some(fault) = one_place(ends) {
        // Everything else would only follow from it.
        return vec![Checked::new("machines", vec![fault], String::new())];
    }
    let mut all = vec![
        Checked::new("machines", Vec::new(), "each end has a network of its own".to_owned()),
        Checked::new("ports", each(&port), "neither interface is a port of a bridge or of a bond".to_owned()),
        Checked::new("carrier", each(&carrier), "neither interface lacks one".to_owned()),
        Checked::new(
            "taken",
            each(&|end, _| taken(end, own)),
            "no address of one end is elsewhere too".to_owned(),
        ),
    ];
    let chosen = pairs(&ends.each_ref().map(|_, end| end.located.addresses.as_slice()));
    let families = needs.families();
    for family in families.iter().filter(|_| !own) {
        let faults = each(&|end, other| unreachable(end, other, chosen[other.side].of(*family), *family));
        let [one, other] = Side::BOTH.map(|side| chosen[side].of(*family));
        all.push(Checked::new(family.word(), faults, format!("{one} and {other}")));
    }
    if needs.keeps_mtu {
        let routed = |family: &Family| {
            let [one, other] = Side::BOTH.map(|side| ends[side].with_prefix(chosen[side].of(*family)));
            !own && one.zip(other).is_some_and(|(one, other)| !same_network(one, other))
        };
        // A router between them adapts what it passes on.
        let faults = if families.iter().all(routed) { Vec::new() } else { each(&smaller) };
        let mtus = Side::BOTH.map(|side| ends[side].located.mtu);
        all.push(Checked::new("MTU", faults, format!("{} and {}", mtus[0], mtus[1])));
    }
    all
}

/// Packets between two interfaces of one network namespace never leave it.
fn one_place(ends: &BySide<End<'_>>) -> Option<Fault> {
    let BySide { transmitter, receiver } = ends;
    let boots = transmitter.boot_id.zip(receiver.boot_id);
    let namespaces = transmitter.facts.namespace.zip(receiver.facts.namespace);
    let is_one =
        boots.is_some_and(|(one, other)| one == other) && namespaces.is_some_and(|(one, other)| one == other);
    is_one.then(|| {
        receiver.fault(
            format!(
                "{} is on the same machine, in the same network namespace, so no packet would leave it",
                transmitter.named()
            ),
            "name two machines; without --transmitter, --receiver and --hosts netassay makes two hosts on this one"
                .to_owned(),
        )
    })
}

/// Kinds of interfaces that take every packet which their ports receive.
const MASTERS: [&str; 4] = ["bridge", "bond", "team", "openvswitch"];

fn port(end: &End<'_>, _: &End<'_>) -> Option<Fault> {
    let master = end.facts.master.as_ref()?;
    let kind = master.kind.as_deref().filter(|kind| MASTERS.contains(kind))?;
    let (name, interface) = (&master.name, &end.located.interface);
    Some(end.fault(
        format!("it is a port of the {kind} {name}, which takes each packet that arrives"),
        format!("name {name}, another interface, or free this one (ip link set dev {interface} nomaster)"),
    ))
}

fn carrier(end: &End<'_>, other: &End<'_>) -> Option<Fault> {
    // One that is down is set up later, which gives the other end its carrier.
    let lacks = end.carrier == Some(false) && other.carrier.is_some();
    lacks.then(|| {
        let cause = "it has no carrier".to_owned();
        end.fault(cause, format!("look at its cable, at the switch, and at {}", other.named()))
    })
}

/// An address of the other end that this one has too, or one of netassay's that is in use.
fn taken(end: &End<'_>, own: bool) -> Option<Fault> {
    let is_to_be = |address: &IpAddr| {
        own && [TRAFFIC, UNDERLAY].iter().any(|ours| {
            let Addresses { ipv4, ipv6 } = ours[end.side];
            [ipv4, ipv6].contains(address)
        })
    };
    let is_fine =
        |(address, interface): &&(IpAddr, String)| is_to_be(address) && *interface == end.located.interface;
    let (address, interface) = end.facts.taken.iter().find(|taken| !is_fine(taken))?;
    let whose = if own { "which --addresses own needs" } else { "which the other end has" };
    Some(end.fault(
        format!("this machine has the address {address}, {whose}, on its interface {interface}"),
        format!("remove it there (ip addr del {address} dev {interface}), or change it"),
    ))
}

/// Why the other end's address of a family cannot be reached.
fn unreachable(end: &End<'_>, other: &End<'_>, to: IpAddr, family: Family) -> Option<Fault> {
    let own = "or let netassay add a pair for the time of the study (--addresses own)";
    let addresses: Vec<(IpAddr, u8)> = end.located.addresses_of(family).collect();
    if addresses.is_empty() {
        let cause = format!("it has no {family} address, and the study needs one");
        return Some(end.fault(cause, format!("give it one of the network of {}, {own}", other.named())));
    }
    let there = other.with_prefix(to)?;
    let is_near = addresses.iter().any(|address| same_network(*address, there));
    (!is_near && !end.facts.routed.contains(&to)).then(|| {
        let addresses: Vec<String> =
            addresses.iter().map(|(address, prefix)| format!("{address}/{prefix}")).collect();
        let (has, to) = (addresses.join(", "), format!("{}/{}", there.0, there.1));
        end.fault(
            format!("it has {has}, and no route leaves by it to {to} of {}", other.named()),
            format!("give both addresses of one network, add a route, {own}"),
        )
    })
}

fn smaller(end: &End<'_>, other: &End<'_>) -> Option<Fault> {
    let [mtu, large] = [end, other].map(|end| end.located.mtu);
    let (interface, there) = (&end.located.interface, &other.located.interface);
    (mtu < large).then(|| {
        end.fault(
            format!("its MTU is {mtu}, and {large} that of {}: larger packets would be lost", other.named()),
            format!(
                "let the study set both (--set mtu={mtu}), or set one: ip link set dev {interface} mtu {large} here, \
                 or ip link set dev {there} mtu {mtu} there"
            ),
        )
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What the agents of two machines tell that are a pair.
    pub(crate) struct Told {
        own: bool,
        boots: [&'static str; 2],
        carriers: [Option<bool>; 2],
        pub(crate) located: [Located; 2],
        facts: [PairFacts; 2],
        needs: Needs,
    }

    fn address(text: &str) -> (IpAddr, u8) {
        let (address, prefix) = text.split_once('/').unwrap();
        (address.parse().unwrap(), prefix.parse().unwrap())
    }

    pub(crate) fn crossing(family: Family) -> Crossing {
        Crossing { family, port: None, udp: true, tcp: true, must_open: true }
    }

    impl Told {
        pub(crate) fn pair() -> Self {
            let located = |addresses: [&str; 2]| Located {
                interface: "data0".to_owned(),
                mtu: 1500,
                addresses: addresses.map(address).to_vec(),
                near: Vec::new(),
                carries: false,
            };
            let facts = |namespace| PairFacts { namespace: Some(namespace), ..PairFacts::default() };
            Self {
                own: false,
                boots: ["1", "2"],
                carriers: [Some(true); 2],
                located: [
                    located(["10.0.0.1/24", "2001:db8::1/64"]),
                    located(["10.0.0.2/24", "2001:db8::2/64"]),
                ],
                facts: [4026531840, 4026531840].map(facts),
                needs: Needs { crossings: Family::ALL.map(crossing).to_vec(), keeps_mtu: true },
            }
        }

        pub(crate) fn ends(&self) -> BySide<End<'_>> {
            BySide::of(|side| {
                let place = usize::from(side == Side::Receiver);
                End {
                    boot_id: Some(self.boots[place]),
                    carrier: self.carriers[place],
                    ..End::new(side, ["root@a", "b"][place], &self.located[place], &self.facts[place])
                }
            })
        }

        fn checks(&self) -> Vec<Checked> {
            compare(&self.ends(), &self.needs, self.own)
        }

        fn master(&mut self, kind: &str) {
            let (name, kind) = (format!("{kind}7"), Some(kind.to_owned()));
            self.facts[1].master = Some(host::Master { name, kind });
        }

        fn taken(&mut self, place: usize, address: &str, interface: &str) {
            self.facts[place].taken.push((address.parse().unwrap(), interface.to_owned()));
        }

        fn addresses(&mut self, place: usize, all: &[&str]) {
            self.located[place].addresses = all.iter().map(|one| self::address(one)).collect();
        }
    }

    #[test]
    fn each_fault_of_a_pair_names_host_interface_cause_and_remedy() {
        const A: &str = "the transmitter (root@a), interface data0: ";
        const B: &str = "the receiver (b), interface data0: ";
        type Change = fn(&mut Told);
        let cases: &[(Change, &[[&str; 3]])] = &[
            (|_| {}, &[]),
            (
                |told| told.boots = ["1", "1"],
                &[[B, "root@a), interface data0 is on the same machine", "name two"]],
            ),
            // Two namespaces of one machine, and machines of which one is a copy of the other.
            (|told| (told.boots, told.facts[0].namespace) = (["1", "1"], Some(7)), &[]),
            (|told| told.facts[1].namespace = None, &[]),
            (|told| told.master("bridge"), &[[B, "a port of the bridge bridge7", "name bridge7"]]),
            (|told| told.master("bond"), &[[B, "a port of the bond bond7", "nomaster"]]),
            (|told| told.master("vrf"), &[]),
            (|told| told.carriers[0] = Some(false), &[[A, "it has no carrier", "look at its cable"]]),
            (|told| told.carriers = [Some(false), None], &[]),
            (
                |told| told.taken(0, "10.0.0.2", "data1"),
                &[[A, "10.0.0.2, which the other end has", "dev data1"]],
            ),
            (
                |told| {
                    told.own = true;
                    told.taken(1, "198.18.0.2", "eth5");
                },
                &[[B, "198.18.0.2, which --addresses own needs", "ip addr del 198.18.0.2 dev eth5"]],
            ),
            (
                |told| {
                    told.own = true;
                    told.taken(1, "198.18.0.2", "data0");
                },
                &[],
            ),
            (
                |told| {
                    told.own = true;
                    told.taken(1, "198.18.0.1", "data0");
                },
                &[[B, "198.18.0.1, which --addresses own needs", "dev data0"]],
            ),
            (|told| told.addresses(1, &["10.0.0.2/24"]), &[[B, "it has no ipv6 address", "--addresses own"]]),
            (
                |told| {
                    told.addresses(1, &["10.0.0.2/24"]);
                    told.needs.crossings.truncate(1);
                },
                &[],
            ),
            (
                |told| told.addresses(1, &["10.1.0.2/24", "2001:db8::2/64"]),
                &[
                    [A, "no route leaves by it to 10.1.0.2/24 of the receiver (b)", "add a route"],
                    [B, "it has 10.1.0.2/24, and no route leaves by it to 10.0.0.1/24", "one network"],
                ],
            ),
            (
                |told| {
                    told.addresses(1, &["10.1.0.2/24", "2001:db8::2/64"]);
                    told.facts[0].routed = vec!["10.1.0.2".parse().unwrap()];
                },
                &[[B, "no route leaves by it to 10.0.0.1/24", "--addresses own"]],
            ),
            (
                |told| told.located[0].mtu = 9000,
                &[[B, "its MTU is 1500, and 9000 that of the transmitter (root@a)", "--set mtu=1500"]],
            ),
            (
                |told| {
                    told.located[0].mtu = 9000;
                    told.needs.keeps_mtu = false;
                },
                &[],
            ),
            // A router is between them.
            (
                |told| {
                    told.located[0].mtu = 9000;
                    told.addresses(0, &["10.1.0.1/24"]);
                    told.facts[0].routed = vec!["10.0.0.2".parse().unwrap()];
                    told.facts[1].routed = vec!["10.1.0.1".parse().unwrap()];
                    told.needs.crossings.truncate(1);
                },
                &[],
            ),
        ];
        for (number, (change, expected)) in cases.iter().enumerate() {
            let mut told = Told::pair();
            change(&mut told);
            let faults = told.checks().into_iter().filter_map(|one| one.outcome.err()).flatten();
            let said: Vec<String> = faults.map(|fault| fault.to_string()).collect();
            assert_eq!(said.len(), expected.len(), "case {number}: {said:#?}");
            for (line, [begin, cause, remedy]) in said.iter().zip(*expected) {
                let is_so = line.starts_with(begin) && line.contains(cause) && line.contains(remedy);
                assert!(is_so, "case {number}: {line}");
            }
        }
    }
}

//! Faults of a pair, and the facts that explain them.

use std::fmt;
use std::io;
use std::net::IpAddr;

use host::{PairFacts, TakenAddress, same_network};
use load::Arrived;
use study::{BySide, Side};
use thiserror::Error;

use super::crossing::Crossing;

/// Why nothing would be measured between two machines.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{cause}: {remedy}")]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct PairFault {
    /// The machine, its interface, and what is wrong there.
    pub cause: String,
    pub remedy: String,
}

/// An end, as its agent described it.
// It is no error: thiserror names it.
#[derive(Debug, Error)]
#[error("the {side} ({host}), interface {}", .facts.link.name)]
pub(super) struct PairEnd {
    pub(super) side: Side,
    pub(super) host: String,
    pub(super) facts: PairFacts,
}

impl PairEnd {
    fn fault(&self, cause: impl fmt::Display, remedy: impl Into<String>) -> PairFault {
        PairFault { cause: format!("{self}: {cause}"), remedy: remedy.into() }
    }

    fn is_in_namespace_of(&self, other: &Self) -> bool {
        let [one, other] = [self, other].map(|end| end.facts.boot_id.as_ref().zip(end.facts.namespace));
        one.is_some() && one == other
    }
}

pub(super) type FaultCheck = fn(&PairEnd, &PairEnd, &[Crossing]) -> Option<PairFault>;

/// Each with its name and with the meaning of no finding.
pub(super) const CHECKS: [(&str, &str, FaultCheck); 3] = [
    ("interfaces", "each end has its own", one_interface),
    ("ports", "neither interface is a port of a bridge or of a bond", port),
    ("addresses", "none that netassay would add is in use", taken),
];

fn one_interface(end: &PairEnd, other: &PairEnd, _: &[Crossing]) -> Option<PairFault> {
    // A copy of a virtual machine has the boot id of the first, and another link-layer address.
    let [one, two] = [end, other].map(|end| (end.facts.link.index, &end.facts.link.address));
    (end.side == Side::Receiver && end.is_in_namespace_of(other) && one == two).then(|| {
        end.fault(
            format!("it is the same as {other}: no packet would leave the machine"),
            "name two machines; without --transmitter, --receiver and --hosts netassay makes two hosts on this one",
        )
    })
}

// Kinds of interfaces that take every packet which their ports receive.
const MASTERS: [&str; 4] = ["bridge", "bond", "team", "openvswitch"];

fn port(end: &PairEnd, _: &PairEnd, crossings: &[Crossing]) -> Option<PairFault> {
    let PairFacts { link, master: Some(master), .. } = &end.facts else { return None };
    // Guests have interfaces of their own.
    let kind = master.kind.as_deref().filter(|kind| MASTERS.contains(kind) && !crossings.is_empty())?;
    let (name, free) = (&master.name, ["ip", "link", "set", "dev", &link.name, "nomaster"]);
    Some(end.fault(
        format!("it is a port of the {kind} {name}, which takes each packet that arrives"),
        format!("name {name}, another interface, or free this one ({})", words::shell_command(free)),
    ))
}

fn taken(end: &PairEnd, _: &PairEnd, crossings: &[Crossing]) -> Option<PairFault> {
    // Its own may be left from a session that was killed.
    let own_address = |one: &Crossing| one.own[end.side].in_family(one.family);
    let is_left = |address: &IpAddr| crossings.iter().any(|one| own_address(one) == *address);
    let mut taken = end.facts.taken.iter();
    let TakenAddress { address, interface, prefix } =
        taken.find(|one| one.interface != end.facts.link.name || !is_left(&one.address))?;
    let address_there = format!("{address}/{prefix}");
    let remove = ["ip", "addr", "del", &address_there, "dev", interface];
    Some(end.fault(
        format!("{address}, which --addresses own would add, is in use on its interface {interface}"),
        format!("remove it ({}), or leave --addresses own out", words::shell_command(remove)),
    ))
}

#[derive(Debug)]
pub(super) struct ExchangedPackets {
    pub(super) crossing: Crossing,
    pub(super) addresses: BySide<IpAddr>,
    pub(super) arrived: BySide<Arrived>,
    pub(super) ends: BySide<PairEnd>,
}

const LET_PASS: &str = "let the rules of both pass the packets (`nft list ruleset` and `iptables-save` as root), and look for filters between them";

const JOIN: &str = "give both addresses of one network, or routes (--addresses own adds a pair), ";

impl ExchangedPackets {
    pub(super) fn faults(&self) -> Vec<PairFault> {
        let fault = |(from, protocol, small): (Side, usize, bool)| {
            if small { self.cut(from, protocol) } else { self.lost(from, protocol) }
        };
        words::distinct(self.crossing.lost(&self.arrived).into_iter().map(fault))
    }

    fn lost(&self, from: Side, protocol: usize) -> PairFault {
        let [other, end] = [&self.ends[from], &self.ends[from.other()]];
        let (address, name) = (self.addresses[end.side], ["UDP", "TCP"][protocol]);
        if end.is_in_namespace_of(other) {
            return end.fault(
                format!("it is on the same machine as {other}, in the same network namespace"),
                "name two machines, or give each end a network namespace of its own",
            );
        }
        // The lengths of prefixes are known of addresses that the interfaces have.
        let networks = [end, other].map(|end| {
            let mut taken = end.facts.taken.iter();
            let own = taken.find(|one| one.address == self.addresses[end.side])?;
            Some((own.address, own.prefix))
        });
        let is_near = matches!(networks, [Some(one), Some(two)] if same_network(one, two));
        let let_pass = if is_near { LET_PASS.to_owned() } else { format!("{JOIN}{LET_PASS}") };
        if let Some(errno) = self.arrived[from].unsent[protocol] {
            let why = io::Error::from_raw_os_error(errno);
            return other.fault(format!("it cannot send {name} to {end}: {why}"), let_pass);
        }
        if is_near && !other.facts.neighbours.iter().any(|(of, _)| *of == address) {
            return end.fault(
                format!("nobody answers for its address {address} at {other}"),
                "connect both interfaces to one segment: look at cables, switch and VLAN",
            );
        }
        let port = self.crossing.port.filter(|_| from == Side::Transmitter);
        let port = port.map(|port| format!(" to port {port}")).unwrap_or_default();
        let mut cause = format!("packets of {name}{port} from {other} do not arrive");
        if let ([Some(one), Some(two)], false) = (networks, is_near) {
            cause += &format!("; {}/{} and {}/{} are not of one network", one.0, one.1, two.0, two.1);
        }
        let rules =
            |end: &PairEnd, at: &str| Some(format!("; {at} machine has {}", end.facts.firewall.filters()?));
        cause.extend(rules(end, "this").or_else(|| rules(other, "that")));
        end.fault(cause, let_pass)
    }

    fn cut(&self, from: Side, protocol: usize) -> PairFault {
        let [other, end] = [&self.ends[from], &self.ends[from.other()]];
        let (bytes, name) =
            (self.crossing.sent[from][protocol].unwrap_or_default(), ["UDP", "TCP"][protocol]);
        let lost = format!("packets of {name} of {bytes} bytes from {other} do not arrive, small ones do");
        let (mtu, interface) = (end.facts.link.mtu, &end.facts.link.name);
        if mtu < bytes {
            let large = bytes.to_string();
            let set = ["ip", "link", "set", "dev", interface, "mtu", &large];
            return end.fault(
                format!("its MTU is {mtu}: {lost}"),
                format!(
                    "let the study set both (--set mtu={mtu}), or set this one: {}",
                    words::shell_command(set)
                ),
            );
        }
        end.fault(lost, "what lies between carries less: raise its MTU, or let the study set one that passes (--set mtu=1500)")
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use host::{Firewall, Link};
    use load::{TCP, UDP};
    use study::Family;

    use super::*;
    use crate::path::TRAFFIC;

    fn end(side: Side) -> PairEnd {
        let (number, host) = if side == Side::Transmitter { (1, "root@a") } else { (2, "b") };
        let [own, other] =
            [number, 3 - number].map(|number| (IpAddr::from([10, 0, 0, number]), format!("02:0{number}")));
        let lo = PairFacts::read("lo", &[]).unwrap();
        let link = Link { name: "data0".to_owned(), mtu: 9000, address: Some(own.1), ..lo.link };
        let facts = PairFacts {
            boot_id: Some(number.to_string()),
            namespace: Some(1),
            link,
            taken: vec![taken(own.0, "data0")],
            neighbours: vec![other],
            firewall: Firewall::default(),
            ..lo
        };
        PairEnd { side, host: host.to_owned(), facts }
    }

    fn taken(address: IpAddr, interface: &str) -> TakenAddress {
        TakenAddress { address, interface: interface.to_owned(), prefix: 24 }
    }

    fn crossing() -> Crossing {
        let sent = BySide::from_fn(|_| [Some(9000); 2]);
        Crossing { family: Family::Ipv4, own: TRAFFIC, port: None, sent }
    }

    fn listed(text: &mut String, case: &str, faults: impl IntoIterator<Item = PairFault>) {
        writeln!(text, "{case}").unwrap();
        faults.into_iter().for_each(|fault| writeln!(text, "  {fault}").unwrap());
    }

    #[test]
    fn faults_that_need_no_packets_name_host_interface_cause_and_remedy() {
        type Change = fn(&mut PairEnd, &PairEnd);
        fn port(end: &mut PairEnd, kind: &str) {
            let link = end.facts.link.clone();
            end.facts.master = Some(Link { name: "above7".to_owned(), kind: Some(kind.to_owned()), ..link });
        }
        fn uses(end: &mut PairEnd, address: &str, interface: &str) {
            end.facts.taken = vec![taken(address.parse().unwrap(), interface)];
        }
        let cases: [(&str, Change); 11] = [
            ("a pair", |_, _| {}),
            ("one interface", |end, other| end.facts = other.facts.clone()),
            ("another namespace of the machine", |end, other| {
                end.facts = PairFacts { namespace: Some(7), ..other.facts.clone() };
            }),
            ("a copy of the virtual machine", |end, other| {
                end.facts.boot_id.clone_from(&other.facts.boot_id)
            }),
            ("an unknown boot", |end, other| end.facts = PairFacts { boot_id: None, ..other.facts.clone() }),
            ("a port of a bridge", |end, _| port(end, "bridge")),
            ("a port of a bond", |end, _| port(end, "bond")),
            ("a port of a VRF", |end, _| port(end, "vrf")),
            ("an address in use", |end, _| uses(end, "198.18.0.2", "eth5")),
            ("its own address", |end, _| uses(end, "198.18.0.2", "data0")),
            ("the other end's address", |end, _| uses(end, "198.18.0.1", "data0")),
        ];
        let mut text = String::new();
        for (case, change) in cases {
            let mut ends = BySide::from_fn(end);
            ends.each_mut().into_iter().for_each(|(_, end)| end.facts.taken.clear());
            change(&mut ends.receiver, &ends.transmitter);
            let check = |check: FaultCheck| check(&ends.receiver, &ends.transmitter, &[crossing()]);
            listed(&mut text, case, CHECKS.iter().filter_map(|(_, _, of)| check(*of)));
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn packets_that_do_not_arrive_are_explained() {
        type Change = fn(&mut ExchangedPackets);
        fn lose(tried: &mut ExchangedPackets, all: &[(Side, usize)]) {
            all.iter()
                .for_each(|(from, protocol)| tried.arrived[from.other()].packets[*protocol] = [false; 2]);
        }
        use Side::{Receiver, Transmitter};
        let cases: [(&str, Change); 10] = [
            ("all arrive", |_| {}),
            ("nobody answered", |tried| {
                lose(tried, &[(Transmitter, UDP)]);
                tried.ends.transmitter.facts.neighbours.clear();
            }),
            ("two networks", |tried| {
                lose(tried, &[(Transmitter, UDP)]);
                tried.ends.transmitter.facts.neighbours.clear();
                tried.ends.receiver.facts.taken[0].prefix = 16;
            }),
            ("rules at the receiver", |tried| {
                tried.crossing.port = Some(5001);
                lose(tried, &[(Transmitter, TCP), (Receiver, TCP)]);
                tried.ends.receiver.facts.firewall.rules = Some(3);
            }),
            ("rules at the sender", |tried| {
                lose(tried, &[(Receiver, UDP)]);
                tried.ends.receiver.facts.firewall.tables = vec!["filter".to_owned()];
            }),
            ("a rule that forbids to send", |tried| {
                lose(tried, &[(Transmitter, UDP)]);
                tried.arrived.transmitter.unsent[UDP] = Some(1);
            }),
            ("one network namespace", |tried| {
                lose(tried, &[(Transmitter, UDP)]);
                tried.ends.receiver.facts.boot_id = Some("1".to_owned());
            }),
            ("no reason is known", |tried| lose(tried, &[(Transmitter, UDP), (Receiver, UDP)])),
            ("a path of a smaller MTU", |tried| tried.arrived.receiver.packets[UDP][1] = false),
            ("an interface of a smaller MTU", |tried| {
                tried.arrived.receiver.packets[UDP][1] = false;
                tried.ends.receiver.facts.link.mtu = 1500;
            }),
        ];
        let mut text = String::new();
        for (case, change) in cases {
            let ends = BySide::from_fn(end);
            let mut tried = ExchangedPackets {
                crossing: crossing(),
                addresses: BySide::from_fn(|side| ends[side].facts.taken[0].address),
                arrived: BySide::from_fn(|_| Arrived { packets: [[true; 2]; 2], unsent: [None; 2] }),
                ends,
            };
            change(&mut tried);
            listed(&mut text, case, tried.faults());
        }
        insta::assert_snapshot!(text);
    }
}

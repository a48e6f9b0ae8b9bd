//! The packets that traffic sends between two machines.

use load::{Arrived, Direction, Kind, TCP, UDP};
use study::{BootState, BySide, Family, Scenario, Side};

use crate::path::{Addresses, TRAFFIC, UNDERLAY, pairs};
use crate::run::RunOrder;
use crate::switches::Switches;
use crate::two_machines::FoundMachine;

/// Packets that cross the network between two machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossing {
    pub(super) family: Family,
    pub(super) own: BySide<Addresses>,
    // The receiver's last port, as rules often let the first one alone pass.
    pub(super) port: Option<u16>,
    /// The largest packet of UDP, and of TCP, in bytes; `None`: the side sends none.
    pub(super) sent: BySide<[Option<u32>; 2]>,
}

impl Crossing {
    /// The packets of a condition on the machines' own interfaces, also under a tunnel.
    pub fn of_condition(state: &BootState, order: &RunOrder, switches: &Switches) -> Option<Self> {
        match state.scenario {
            // Full packets of an MTU that the study sets are tried once it is set.
            Scenario::Ssh if switches.own.mtu.is_some() => {
                Some(Self::of_workload(order).within(BySide::from_fn(|_| 0)))
            }
            Scenario::Ssh => Some(Self::of_workload(order)),
            Scenario::SshVxlan => {
                let (own, family) = (UNDERLAY, state.underlay_family);
                Some(Self { own, family, port: None, sent: BySide::default() })
            }
            _ => None,
        }
    }

    /// Full packets of both protocols, in every family of which both machines have addresses.
    pub fn all_between(found: &BySide<FoundMachine>, own_addresses: bool) -> Vec<Self> {
        let there = pairs(&found.each_ref().map(|_, found| found.located.addresses.as_slice()));
        let has = |family: &Family| {
            own_addresses || Side::BOTH.iter().all(|side| !there[*side].in_family(*family).is_unspecified())
        };
        // The error of the last names what is missing.
        let families =
            Family::ALL.into_iter().filter(|family| has(family) || Family::ALL.iter().all(|one| !has(one)));
        let sent = BySide::from_fn(|_| [Some(u32::MAX); 2]);
        families.map(|family| Self { family, own: TRAFFIC, port: None, sent }).collect()
    }

    pub(super) fn of_workload(order: &RunOrder) -> Self {
        let RunOrder { traffic, family, .. } = order;
        let (is_rr, is_udp) = (traffic.kind.is_rr(), traffic.kind.is_udp());
        let sent = BySide::from_fn(|side| {
            let is_receiver = side == Side::Receiver;
            let is_sender = match traffic.direction {
                Direction::Both => true,
                direction => is_rr || (direction == Direction::Reverse) == is_receiver,
            };
            let message = if is_rr && is_receiver { traffic.response } else { traffic.message };
            let largest = match traffic.kind {
                // Acknowledgements.
                kind if !is_sender => kind.is_tcp().then_some(0),
                // A stream fills its packets, whatever its messages.
                Kind::TcpStream => Some(u32::MAX),
                _ => Some(message.saturating_add(family.udp_headers())),
            };
            if is_udp { [largest, None] } else { [None, largest] }
        });
        let further = u16::try_from(traffic.endpoints().saturating_sub(1)).unwrap_or(u16::MAX);
        let port = traffic.port.map(|first| first.saturating_add(further));
        Self { family: *family, own: TRAFFIC, port, sent }
    }

    pub(super) fn within(self, mtus: BySide<u32>) -> Self {
        let sent = self.sent.map(|side, sent| sent.map(|largest| Some(largest?.min(mtus[side]))));
        Self { sent, ..self }
    }

    pub(super) fn lost(&self, arrived: &BySide<Arrived>) -> Vec<(Side, usize, bool)> {
        let lost = |(from, protocol): (Side, usize)| {
            let largest = self.sent[from][protocol]?;
            let [small, full] = arrived[from.other()].packets[protocol];
            // The receiver answers in the transmitter's connection.
            let can_send = protocol == UDP || from == Side::Transmitter || arrived.receiver.packets[TCP][0];
            (can_send && !(small && (full || largest == 0))).then_some((from, protocol, small))
        };
        Side::BOTH.into_iter().flat_map(|from| [(from, UDP), (from, TCP)]).filter_map(lost).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use load::Traffic;

    use super::*;
    use crate::switches::InterfaceSwitches;

    fn order(traffic: Traffic) -> RunOrder {
        let [ramp, window, step] = [Duration::from_secs(1); 3];
        RunOrder { traffic, family: Family::Ipv4, ramp, window, step }
    }

    #[test]
    fn packets_that_the_traffic_does_not_send_are_not_needed() {
        let reverse = |kind| Traffic { direction: Direction::Reverse, ..Traffic::new(kind) };
        for (traffic, expected) in [
            (Traffic::new(Kind::TcpStream), [Some(u32::MAX), Some(0)]),
            (reverse(Kind::TcpStream), [Some(0), Some(u32::MAX)]),
            (Traffic::new(Kind::TcpRr), [Some(29), Some(29)]),
            (Traffic::new(Kind::UdpStream), [Some(1480), None]),
            (reverse(Kind::UdpStream), [None, Some(1480)]),
            (Traffic { response: 8000, ..Traffic::new(Kind::UdpRr) }, [Some(29), Some(8028)]),
        ] {
            let (used, unused) = if traffic.kind.is_udp() { (UDP, TCP) } else { (TCP, UDP) };
            let Crossing { sent, .. } = Crossing::of_workload(&order(traffic));
            let sent = |protocol: usize| Side::BOTH.map(|side| sent[side][protocol]);
            assert_eq!((sent(used), sent(unused)), (expected, [None; 2]));
        }
    }

    #[test]
    fn the_last_port_is_tried() {
        for (kind, flows, expected) in
            [(Kind::UdpStream, 4, 5004), (Kind::TcpStream, 4, 5001), (Kind::UdpRr, 1, 5001)]
        {
            let traffic = Traffic { port: Some(5001), flows, ..Traffic::new(kind) };
            assert_eq!(Crossing::of_workload(&order(traffic)).port, Some(expected));
        }
    }

    #[test]
    fn full_packets_wait_for_the_mtu_that_a_study_sets_and_guests_have_their_own() {
        let sent = |scenario: Scenario, mtu| {
            let own = InterfaceSwitches { mtu, ..Default::default() };
            let switches = Switches { own, ..Switches::default() };
            let order = order(Traffic::new(Kind::UdpStream));
            Some(Crossing::of_condition(&scenario.into(), &order, &switches)?.sent.transmitter[UDP])
        };
        assert_eq!(sent(Scenario::Ssh, None), Some(Some(1480)));
        assert_eq!(sent(Scenario::Ssh, Some(9000)), Some(Some(0)));
        assert_eq!(sent(Scenario::SshVxlan, None), Some(None));
        assert_eq!(sent(Scenario::Vm, None), None);
    }

    #[test]
    fn packets_are_lost_that_are_needed() {
        let crossing = Crossing::of_workload(&order(Traffic::new(Kind::TcpStream)));
        for (at_receiver, at_transmitter, lost) in [
            ([true; 2], [true, false], None),
            ([true, false], [true; 2], Some((Side::Transmitter, TCP, true))),
            ([true; 2], [false; 2], Some((Side::Receiver, TCP, false))),
            // The receiver answers in the transmitter's connection.
            ([false; 2], [false; 2], Some((Side::Transmitter, TCP, false))),
        ] {
            let of = |packets| Arrived { packets: [[false; 2], packets], unsent: [None; 2] };
            let arrived = BySide { transmitter: of(at_transmitter), receiver: of(at_receiver) };
            assert_eq!(crossing.lost(&arrived), Vec::from_iter(lost));
        }
    }
}

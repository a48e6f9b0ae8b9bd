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
mod tests;

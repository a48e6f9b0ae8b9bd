//! Datagrams that do not fit the MTU: each leaves as several packets, which no switch shows.

use store::StoredStudy;
use study::{Condition, Family, Traffic};

use crate::words::phrases::first_of;

// The largest number of conditions that are named.
const NAMED: usize = 3;
// UDP's header, or IPv6's extension; fragments begin at multiples of it (RFC 791, RFC 8200).
const OCTETS: u32 = 8;

pub(crate) fn note(stored: &StoredStudy) -> Option<String> {
    let fragmented = |condition: &Condition| {
        let mtu = stored.plan.effective.get(condition.index)?.transmitter.mtu;
        let traffic = &condition.workload.traffic;
        let each = if traffic.kind.is_tcp() { 1 } else { packets(traffic.message, mtu, condition.family) };
        (each > 1).then(|| (condition.label.to_string(), each))
    };
    let found: Vec<(String, u32)> = stored.plan.conditions.iter().filter_map(fragmented).collect();
    let (least, most) =
        (found.iter().map(|(_, each)| each).min()?, found.iter().map(|(_, each)| each).max()?);
    let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let labels: Vec<&String> = found.iter().map(|(label, _)| label).collect();
    let is_all = labels.len() == stored.plan.conditions.len();
    let which = if is_all { "every condition".to_owned() } else { first_of(&labels, NAMED) };
    Some(format!(
        "in {which} each datagram leaves as {count} fragments, because it does not fit the MTU; fragments cost \
         CPU time"
    ))
}

/// The number of packets of a datagram of this size, in bytes.
fn packets(message: u32, mtu: u32, family: Family) -> u32 {
    if message <= Traffic::largest_segment(mtu, family) {
        return 1;
    }
    let extension = if family == Family::Ipv6 { OCTETS } else { 0 };
    let ip = family.udp_headers() - OCTETS + extension;
    // Offsets of fragments count in units of eight bytes.
    let room = mtu.saturating_sub(ip) / OCTETS * OCTETS;
    message.saturating_add(OCTETS).div_ceil(room.max(OCTETS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_counted_as_the_kernel_cuts_them() {
        let of = |message, mtu| (packets(message, mtu, Family::Ipv4), packets(message, mtu, Family::Ipv6));
        // Loopback's MTU; `bytes_per_wire_packet` of such runs was 65535 and 32805.5.
        assert_eq!(of(65_507, 65_536), (1, 2));
        assert_eq!(of(65_487, 65_536), (1, 1));
        assert_eq!(of(1472, 1500), (1, 2));
        assert_eq!(of(1452, 1500), (1, 1));
        // 1480 bytes in a fragment over IPv4; 1448 over IPv6.
        assert_eq!(of(2 * 1480 - 8, 1500), (2, 3));
        assert_eq!(of(2 * 1448 - 8, 1500), (2, 2));
        assert_eq!(of(2 * 1480 - 7, 1500), (3, 3));
        assert_eq!(of(u32::MAX, 0), (u32::MAX / 8 + 1, u32::MAX / 8 + 1));
    }
}

//! An interface that discards all packets.

use std::net::SocketAddr;

use agent::message::{Answer, Request};
use host::{Discard, DiscardDevice};
use study::Family;

use crate::error::Error;
use crate::launched_agent::LaunchedAgent;
use crate::path::address::TRAFFIC;

pub(crate) const DISCARD: &str = "discard0";

/// The port of the discard service (RFC 863), where nothing listens here.
const PORT: u16 = 9;

/// Creates the interface, of this kind or of the first that the kernel has. Routes come with its
/// addresses, and its neighbour is permanent: the kernel never has to resolve it.
pub(crate) fn create_discard(
    host: &mut LaunchedAgent,
    device: Option<DiscardDevice>,
    families: &[Family],
) -> Result<Discard, Error> {
    let create = Request::CreateDiscard {
        name: DISCARD.to_owned(),
        device,
        addresses: TRAFFIC.transmitter.with_prefixes(families),
        behind: families.iter().map(|family| TRAFFIC.receiver.in_family(*family)).collect(),
    };
    Ok(ask!(host, &create, Answer::Discards(discard) => discard))
}

/// The destinations of a workload's flows without a receiver: the discard port, or ports from the
/// requested one.
pub(crate) fn nobody(family: Family, flows: u32, port: Option<u16>) -> Vec<SocketAddr> {
    let address = TRAFFIC.receiver.in_family(family);
    let step = u16::from(port.is_some());
    let ports = std::iter::successors(Some(port.unwrap_or(PORT)), |port| Some(port.saturating_add(step)));
    (0..flows).zip(ports).map(|(_, port)| SocketAddr::new(address, port)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_has_somebody_to_send_to() {
        let texts = |family, flows, port| {
            nobody(family, flows, port).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(texts(Family::Ipv4, 2, None), ["198.18.0.2:9", "198.18.0.2:9"]);
        assert_eq!(texts(Family::Ipv6, 2, Some(7000)), ["[2001:2::2]:7000", "[2001:2::2]:7001"]);
        assert_eq!(texts(Family::Ipv4, 2, Some(65535))[1], "198.18.0.2:65535");
    }
}

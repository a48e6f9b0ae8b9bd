//! The programs that netassay's traffic is compared with: how each is told to do the same, and what
//! it says of it.

mod iperf;
mod iperf3;
mod neper;
mod netperf;
mod nuttcp;
mod peer;
mod sockperf;

pub(crate) use peer::{Amount, Door, End, Job, KINDS, Origin, Peer, Polling, Said};

/// Those with a package in Debian's main archive.
pub(crate) const PEERS_IN_DEBIAN: [&dyn Peer; 4] =
    [&iperf3::Iperf3, &nuttcp::Nuttcp, &iperf::Iperf, &sockperf::Sockperf];

/// Those of the grid, where netassay must be as fast as the best of them.
pub(crate) const PEERS_OF_THE_GRID: [&dyn Peer; 3] = [&neper::Neper, &netperf::Netperf, &iperf3::Iperf3];

/// All peers.
pub(crate) const PEERS: [&dyn Peer; 6] =
    [&neper::Neper, &netperf::Netperf, &iperf3::Iperf3, &nuttcp::Nuttcp, &iperf::Iperf, &sockperf::Sockperf];

/// The peer of that name, for the command line.
pub(crate) fn named(name: &str) -> Result<&'static dyn Peer, String> {
    PEERS.into_iter().find(|peer| peer.name() == name).ok_or_else(|| {
        let names: Vec<_> = PEERS.iter().map(|peer| peer.name()).collect();
        format!("no such peer: use one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::peer::number_after;
    use super::*;
    use load::Kind;
    use proptest::prelude::*;

    pub(crate) fn job(kind: Kind, ipv6: bool) -> Job {
        let address = |text: &str| text.parse().unwrap();
        let (client, server) = if ipv6 { ("2001:2::1", "2001:2::2") } else { ("198.18.0.1", "198.18.0.2") };
        let polling = Polling::None;
        Job {
            kind,
            ipv6,
            message: 1000,
            flows: 1,
            cpus: 1,
            congestion_control: None,
            polling,
            seconds: 3,
            client: address(client),
            server: address(server),
        }
    }

    pub(crate) const AMOUNT: Amount = Amount { messages: 77, seconds: 9 };

    #[test]
    fn every_peer_is_told_how_much_to_send() {
        for peer in PEERS {
            for kind in [Kind::TcpStream, Kind::UdpStream].into_iter().filter(|kind| peer.runs(*kind)) {
                let client = peer.sends(&job(kind, false), AMOUNT).join(" ");
                assert!(client.contains("77") || client.contains(" 9"), "{} {kind}: {client}", peer.name());
            }
        }
    }

    #[test]
    fn every_peer_is_told_size_time_and_address() {
        for peer in PEERS {
            for kind in KINDS.into_iter().filter(|kind| peer.runs(*kind)) {
                let job = job(kind, true);
                let client = peer.client(&job).join(" ");
                let has = |what: &str| assert!(client.contains(what), "{} {kind}: {client}", peer.name());
                has("1000");
                has("3");
                has("2001:2::2");
            }
            assert_eq!(named(peer.name()).unwrap().name(), peer.name());
        }
        assert!(named("ttcp").unwrap_err().contains("iperf3, nuttcp"));
    }

    #[test]
    fn numbers_are_found_behind_their_words() {
        assert_eq!(number_after("a=1 rate=12.5.", "rate="), Some(12.5));
        assert_eq!(number_after("rate=", "rate="), None);
        assert_eq!(number_after("x", "rate="), None);
    }

    proptest! {
        #[test]
        fn nothing_a_peer_says_is_a_panic(text in any::<String>(), number in 0..PEERS.len()) {
            for kind in KINDS {
                let _ = PEERS[number].said(&job(kind, false), &text);
                let _ = PEERS[number].sent(&job(kind, false), AMOUNT, &text);
            }
        }
    }
}

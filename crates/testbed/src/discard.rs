//! The scenario `discard`: one host that sends into an interface which throws everything away.

use std::net::{IpAddr, SocketAddr};

use agent::message::{Answer, Request};
use host::DiscardDevice;
use study::Side;

use crate::builder::{Builder, IPV4, IPV6, PREFIXES};
use crate::end::End;
use crate::error::Error;
use crate::options::Options;
use crate::testbed::Testbed;

const INTERFACE: &str = "discard0";

/// The port of the discard service (RFC 863), which nobody serves here.
const PORT: u16 = 9;

impl Testbed {
    /// One network namespace and one interface. Routes come with its addresses, and the neighbour behind it is a
    /// permanent one: the kernel never has to ask.
    pub(crate) fn discard(builder: &mut Builder<'_>) -> Result<Self, Error> {
        let options = Options { cpus: builder.options.cpus.for_one_host(), ..builder.options.clone() };
        let cpus = &options.cpus.transmitter;
        let mut host = builder.launch("transmitter", builder.first(), cpus)?;
        host.greet()?;
        let create = Request::CreateDiscard {
            name: INTERFACE.to_owned(),
            device: options.discard_device,
            addresses: vec![(IPV4[0], PREFIXES[0]), (IPV6[0], PREFIXES[1])],
            behind: vec![IPV4[1], IPV6[1]],
        };
        let discard = match host.call(&create)? {
            Answer::Discards(discard) => discard,
            other => return Err(host.client.unexpected(&other).into()),
        };
        let transmitter = End::new(Side::Transmitter, host, cpus, (INTERFACE, IPV4[0], IPV6[0]));
        let mut testbed = Self::of(&options, transmitter, None);
        testbed.note(note(&discard));
        testbed.discard = Some(discard);
        Ok(testbed)
    }
}

/// Whom the flows of a workload send to where nobody is: the one port, or those from the one that was asked for.
pub(crate) fn nobody(ipv6: bool, flows: u32, port: Option<u16>) -> Vec<SocketAddr> {
    let address: IpAddr = if ipv6 { IPV6[1] } else { IPV4[1] };
    let step = u16::from(port.is_some());
    let ports = std::iter::successors(Some(port.unwrap_or(PORT)), |port| Some(port.saturating_add(step)));
    (0..flows).zip(ports).map(|(_, port)| SocketAddr::new(address, port)).collect()
}

fn note(discard: &host::Discard) -> String {
    let what = match discard.device {
        DiscardDevice::Dummy => "the kernel's dummy device",
        DiscardDevice::Bridge => "a bridge without ports",
        DiscardDevice::VethXdp => "an XDP program at the far end of a veth pair, on the CPUs that send",
    };
    let mut note = format!("packets are discarded by {what}");
    let lacking: Vec<&str> =
        DiscardDevice::ALL.into_iter().map(DiscardDevice::word).take(discard.lacking.len()).collect();
    if !lacking.is_empty() {
        note.push_str(&format!("; this host has no {}", lacking.join(" and no ")));
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_has_somebody_to_send_to() {
        let texts =
            |ipv6, flows, port| nobody(ipv6, flows, port).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts(false, 2, None), ["198.18.0.2:9", "198.18.0.2:9"]);
        assert_eq!(texts(true, 2, Some(7000)), ["[2001:2::2]:7000", "[2001:2::2]:7001"]);
        assert_eq!(texts(false, 2, Some(65535))[1], "198.18.0.2:65535");
    }

    #[test]
    fn the_note_says_what_is_there_and_why_not_the_better() {
        let lacking = vec!["cannot make the dummy device".to_owned()];
        let text = note(&host::Discard { device: DiscardDevice::Bridge, lacking });
        assert_eq!(text, "packets are discarded by a bridge without ports; this host has no dummy");
        let text = note(&host::Discard { device: DiscardDevice::Dummy, lacking: vec![] });
        assert_eq!(text, "packets are discarded by the kernel's dummy device");
    }
}

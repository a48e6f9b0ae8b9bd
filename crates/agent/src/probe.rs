//! The path to another machine, tried with a few packets.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use host::{Firewall, Links};

use crate::message::{Answer, Probed};
use crate::refusal::{Refusal, Reply};

/// Sockets that wait for a few packets of the other machine.
pub(crate) struct Prober {
    probe: load::Probe,
    interface: String,
    /// The other machine's address.
    peer: Option<IpAddr>,
}

impl Prober {
    pub(crate) fn open(
        interface: String,
        local: IpAddr,
        ports: [Option<u16>; 2],
        listens: bool,
    ) -> Result<Self, Refusal> {
        let probe = load::Probe::open(local, &interface, ports, listens).map_err(Refusal::passing)?;
        Ok(Self { probe, interface, peer: None })
    }

    pub(crate) fn addresses(&self) -> Reply {
        let addresses = self.probe.addresses().map_err(Refusal::passing)?;
        Ok(Answer::Sockets { addresses })
    }

    pub(crate) fn send(&mut self, [udp, tcp]: [SocketAddr; 2], mtu: u32) -> Reply {
        self.peer = Some(udp.ip());
        self.probe.send(udp, tcp, mtu);
        Ok(Answer::Done)
    }

    pub(crate) fn read(&mut self, links: &mut Links, within: Duration) -> Reply {
        let arrived = self.probe.arrived(within);
        let neighbour = self.peer.map(|peer| links.neighbour(&self.interface, peer)).transpose()?.flatten();
        let firewall = (!arrived.is_whole()).then(Firewall::read);
        Ok(Answer::Probed(Box::new(Probed { arrived, neighbour, firewall })))
    }
}

//! The scenarios `veth` and `loopback`: network namespaces and nothing more.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use agent::Isolation;
use agent::message::Request;
use study::Side;

use crate::end::End;
use crate::error::Error;
use crate::ground::{Ground, IPV4, IPV6, PREFIXES, Wire, await_running};
use crate::testbed::Testbed;

/// The interfaces of a veth pair.
pub(crate) const VETH: [&str; 2] = ["transmit0", "receive0"];

impl Testbed {
    /// Two network namespaces, one veth pair.
    pub(crate) fn veth(ground: &mut Ground<'_>) -> Result<Self, Error> {
        let cpus = &ground.options.cpus;
        let [mut one, mut other] =
            ground.pair(["transmitter", "receiver"], [&cpus.transmitter, &cpus.receiver])?;
        let addresses = [0, 1].map(|index| vec![(IPV4[index], PREFIXES[0]), (IPV6[index], PREFIXES[1])]);
        Wire { interfaces: VETH, addresses, steered: ground.steered() }.lay([&mut one, &mut other])?;
        await_running(&mut one, VETH[0])?;
        await_running(&mut other, VETH[1])?;
        Ok(Self::two(ground.options, [one, other], VETH, [IPV4, IPV6]))
    }

    /// One network namespace of our own, so that switching features of `lo` does not touch the machine's.
    pub(crate) fn loopback(ground: &mut Ground<'_>) -> Result<Self, Error> {
        let wire = ("lo", IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST));
        let cpus = &ground.options.cpus;
        let mut one = ground.launch("transmitter", ground.first(), &cpus.transmitter)?;
        one.greet()?;
        // Setting the interface up would give it both. Those that the agent gave come back after an MTU too small for IPv6.
        let addresses = vec![(wire.1, 8), (wire.2, 128)];
        one.order(&Request::Configure { interface: wire.0.to_owned(), addresses })?;
        let pid = one.pid();
        let join = if ground.options.rootless {
            Isolation::UserAndNetworkOf(pid)
        } else {
            Isolation::NetworkOf(pid)
        };
        let mut other = ground.launch("receiver", join, &cpus.receiver)?;
        other.greet()?;
        let transmitter = End::new(Side::Transmitter, one, &cpus.transmitter, wire);
        let receiver = End::new(Side::Receiver, other, &cpus.receiver, wire);
        Ok(Self::of(ground.options, transmitter, Some(receiver)))
    }
}

//! The scenarios `veth` and `loopback`: network namespaces and nothing more.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use agent::Isolation;
use agent::message::Request;
use study::Side;

use crate::builder::{Builder, IPV4, IPV6, PREFIXES, Wire, await_running};
use crate::end::End;
use crate::error::Error;
use crate::testbed::Testbed;

/// The interfaces of a veth pair.
pub(crate) const VETH: [&str; 2] = ["transmit0", "receive0"];

impl Testbed {
    /// Two network namespaces, one veth pair.
    pub(crate) fn veth(builder: &mut Builder<'_>) -> Result<Self, Error> {
        let cpus = &builder.options.cpus;
        let [mut one, mut other] =
            builder.pair(["transmitter", "receiver"], [&cpus.transmitter, &cpus.receiver])?;
        let addresses = [0, 1].map(|index| vec![(IPV4[index], PREFIXES[0]), (IPV6[index], PREFIXES[1])]);
        Wire { interfaces: VETH, addresses, steered: builder.steered() }.bring_up([&mut one, &mut other])?;
        await_running(&mut one, VETH[0])?;
        await_running(&mut other, VETH[1])?;
        Ok(Self::two(builder.options, [one, other], VETH, [IPV4, IPV6]))
    }

    /// One network namespace of our own, so that switching features of `lo` does not touch the machine's.
    pub(crate) fn loopback(builder: &mut Builder<'_>) -> Result<Self, Error> {
        let wire = ("lo", IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST));
        let cpus = &builder.options.cpus;
        let mut one = builder.launch("transmitter", builder.first(), &cpus.transmitter)?;
        one.greet()?;
        // Setting the interface up would give it both. Those that the agent gave come back after an MTU too small for IPv6.
        let addresses = vec![(wire.1, 8), (wire.2, 128)];
        one.order(&Request::Configure { interface: wire.0.to_owned(), addresses })?;
        let pid = one.pid();
        let join = if builder.options.rootless {
            Isolation::UserAndNetworkOf(pid)
        } else {
            Isolation::NetworkOf(pid)
        };
        let mut other = builder.launch("receiver", join, &cpus.receiver)?;
        other.greet()?;
        let transmitter = End::new(Side::Transmitter, one, &cpus.transmitter, wire);
        let receiver = End::new(Side::Receiver, other, &cpus.receiver, wire);
        Ok(Self::of(builder.options, transmitter, Some(receiver)))
    }
}

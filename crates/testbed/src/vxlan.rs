//! The scenario `vxlan`: the traffic goes through a tunnel, and the tunnel through a veth pair.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use agent::message::Request;
use host::Vxlan;
use study::Family;

use crate::builder::{Builder, IPV4, IPV6, PREFIXES, Wire, await_running};
use crate::error::Error;
use crate::launched::Launched;
use crate::local::VETH;
use crate::testbed::Testbed;

/// The name of either end of the tunnel.
pub(crate) const TUNNEL: &str = "vxlan0";

/// The network's number: any would do where there is only one.
const ID: u32 = 42;

/// Addresses of the two ends of the wire under the tunnel, apart from those inside it.
const UNDERLAY_IPV4: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(198, 19, 0, 1)), IpAddr::V4(Ipv4Addr::new(198, 19, 0, 2))];
const UNDERLAY_IPV6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 1, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 1, 0, 0, 0, 2)),
];

impl Testbed {
    /// Two network namespaces, one veth pair, and over it a tunnel that has the traffic's addresses.
    pub(crate) fn vxlan(builder: &mut Builder<'_>) -> Result<Self, Error> {
        let cpus = &builder.options.cpus;
        let mut hosts = builder.pair(["transmitter", "receiver"], [&cpus.transmitter, &cpus.receiver])?;
        let inside = [0, 1].map(|index| vec![(IPV4[index], PREFIXES[0]), (IPV6[index], PREFIXES[1])]);
        let family = builder.options.state.underlay_family;
        create_tunnel(hosts.each_mut(), family, inside, builder.steered(), None)?;
        let mut testbed = Self::two(builder.options, hosts, [TUNNEL; 2], [IPV4, IPV6]);
        for (end, underlay) in testbed.ends().zip(VETH) {
            end.underlay = Some(underlay.to_owned());
        }
        Ok(testbed)
    }
}

/// Creates a veth pair between two hosts and a tunnel over it, whose ends have these addresses or are ports of the bridge of this name.
/// `steered`: the CPUs that do each host's receive work.
pub(crate) fn create_tunnel(
    mut hosts: [&mut Launched; 2],
    family: Family,
    inside: [Vec<(IpAddr, u8)>; 2],
    steered: [Vec<u32>; 2],
    bridge: Option<&str>,
) -> Result<(), Error> {
    let (underlay, prefix) = match family {
        Family::Ipv4 => (UNDERLAY_IPV4, PREFIXES[0]),
        Family::Ipv6 => (UNDERLAY_IPV6, PREFIXES[1]),
    };
    let [one, other] = &mut hosts;
    let addresses = underlay.map(|address| vec![(address, prefix)]);
    Wire { interfaces: VETH, addresses, steered }.bring_up([one, other])?;
    for (index, addresses) in inside.into_iter().enumerate() {
        let vxlan = Vxlan {
            id: ID,
            local: underlay[index],
            remote: underlay[1 - index],
            port: Vxlan::PORT,
            underlay: VETH[index].to_owned(),
        };
        let bridge = bridge.map(str::to_owned);
        hosts[index].order(&Request::CreateVxlan { name: TUNNEL.to_owned(), vxlan, addresses, bridge })?;
    }
    for (host, interface) in hosts.into_iter().zip(VETH) {
        await_running(host, interface)?;
        await_running(host, TUNNEL)?;
    }
    Ok(())
}

//! One end of the path: a host's agent as the testbed knows it.

use std::net::IpAddr;

use study::Side;

use crate::launched_agent::LaunchedAgent;
use crate::path::address::Addresses;

/// One host of a workload: its agent, its interface and its addresses.
#[derive(Debug)]
pub struct End {
    /// Its part in a workload.
    pub side: Side,
    /// The interface that the traffic uses.
    pub interface: String,
    /// The interface under it, if it is a tunnel.
    pub underlay: Option<String>,
    /// Its IPv4 address on that interface.
    pub ipv4: IpAddr,
    /// Its IPv6 address on that interface.
    pub ipv6: IpAddr,
    /// The CPUs it runs on, by number.
    pub cpus: Vec<u32>,
    /// Its CPUs in conditions without a placement of their own.
    pub(crate) home: Vec<u32>,
    pub(crate) agent: LaunchedAgent,
}

impl End {
    pub(crate) fn new(
        side: Side,
        agent: LaunchedAgent,
        cpus: &[u32],
        interface: &str,
        addresses: Addresses,
    ) -> Self {
        Self {
            side,
            interface: interface.to_owned(),
            underlay: None,
            ipv4: addresses.ipv4,
            ipv6: addresses.ipv6,
            cpus: cpus.to_vec(),
            home: cpus.to_vec(),
            agent,
        }
    }

    /// Its host, as messages name it.
    #[must_use]
    pub fn host(&self) -> &str {
        self.agent.client.host()
    }

    /// The agent's process id in its own namespace.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.agent.pid()
    }
}

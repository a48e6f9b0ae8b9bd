//! One end of a workload.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use words::{Family, Traffic};

use crate::error::{Error, Result};
use crate::sys;

/// One end of a workload: the common traffic, and this end's address and CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The traffic, common to both ends.
    pub traffic: Traffic,
    /// This end's address: the receiver listens only there, the transmitter sends from there.
    pub local: IpAddr,
    /// The CPUs that flows are pinned to in turn; empty: not pinned.
    pub cpus: Vec<u32>,
    /// The interface that this end's sockets are bound to: on a machine with several, the address
    /// alone would let packets of others in, and routes could lead elsewhere. `None`: not bound.
    #[serde(default)]
    pub interface: Option<String>,
}

impl Spec {
    /// Rejects an invalid field, by its name.
    ///
    /// # Errors
    /// [`Error::Misfit`] or [`Error::Setup`] for the first such field.
    pub fn validate(&self) -> Result<()> {
        let is_of_one_host = match self.local {
            ip if ip.is_unspecified() || ip.is_multicast() => false,
            IpAddr::V4(ip) => !ip.is_broadcast(),
            // A link-local address would need its interface.
            IpAddr::V6(ip) => !ip.is_unicast_link_local() && ip.to_ipv4_mapped().is_none(),
        };
        if !is_of_one_host {
            let reason = "the other end connects to it: give one address of this host, not multicast, broadcast or \
                          link-local, and a mapped one as an IPv4 address";
            return Err(Error::Setup(format!("`local` = {}: {reason}", self.local)));
        }
        self.traffic.validate(Family::from_ipv6(self.local.is_ipv6()))?;
        if let Some(cpu) = self.cpus.iter().find(|cpu| **cpu >= sys::MAX_CPUS) {
            let most = sys::MAX_CPUS - 1;
            return Err(Error::Setup(format!("`cpus` = {cpu}: CPUs are numbered from 0 to {most}")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

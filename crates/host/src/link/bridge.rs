//! Bridges, which join interfaces of one host as a switch does.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoBridge, InfoData, InfoKind, LinkAttribute};

use crate::error::Error;
use crate::link::links::{Links, named};

impl Links {
    /// Makes a bridge, down and without ports. It neither looks into multicast packets nor, being
    /// without spanning tree, makes its ports wait before they carry traffic.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn create_bridge(&mut self, name: &str) -> Result<(), Error> {
        let data = InfoData::Bridge(vec![InfoBridge::MulticastSnooping(false)]);
        self.create(name, InfoKind::Bridge, Some(data), || format!("make the bridge {name:?}"))
    }

    /// Makes an interface a port of a bridge.
    ///
    /// # Errors
    /// The kernel's refusal; no such interface, no such bridge.
    pub fn add_port(&mut self, bridge: &str, port: &str) -> Result<(), Error> {
        let index = self.find(bridge)?.index;
        let mut message = named(port)?;
        message.attributes.push(LinkAttribute::Controller(index));
        self.change(RouteNetlinkMessage::SetLink(message), 0, port, || {
            format!("make interface {port:?} a port of the bridge {bridge:?}")
        })
    }
}

//! Bridges, which connect interfaces of one host as a switch does.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoBridge, InfoData, InfoKind, LinkAttribute};

use crate::error::Error;
use crate::link::links::{Links, named};

impl Links {
    /// Makes a bridge, down and without ports. It has no multicast snooping and no spanning tree,
    /// so that ports forward at once.
    pub fn create_bridge(&mut self, name: &str) -> Result<(), Error> {
        let data = InfoData::Bridge(vec![InfoBridge::MulticastSnooping(false)]);
        self.create(name, InfoKind::Bridge, Some(data), || format!("make the bridge {name:?}"))
    }

    /// Makes an interface a port of a bridge.
    ///
    /// # Errors
    /// The kernel's error; an unknown interface or bridge.
    pub fn add_port(&mut self, bridge: &str, port: &str) -> Result<(), Error> {
        let index = self.find(bridge)?.index;
        let mut message = named(port)?;
        message.attributes.push(LinkAttribute::Controller(index));
        self.change(RouteNetlinkMessage::SetLink(message), 0, port, || {
            format!("make interface {port:?} a port of the bridge {bridge:?}")
        })
    }
}

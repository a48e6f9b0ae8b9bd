//! Interfaces and their addresses, by rtnetlink.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use netlink_packet_core::{DecodeError, DefaultNla, NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags,
    LinkInfo, LinkMessage,
};
use netlink_packet_route::tc::TcMessage;
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::libc;
use words::names::check_interface;

use crate::error::Error;
use crate::kernel::netlink::{Failure, Netlink};
use crate::kernel::raw::RawMessage;
use crate::link::discipline::Discipline;
use crate::link::interface::{Link, group, has_ipv6_ready, master, permanent_address};
use crate::link::programs::{ProgramPlace, xdp_of};
use crate::link::queue::QueueCounters;

// The longest time in which an interface notices its carrier: the kernel checks once a second, and
// usually at once (net/core/link_watch.c).
const CARRIER: Duration = Duration::from_secs(3);

/// The interfaces of one network namespace: that of the thread that opened this, even if it enters
/// another one later.
///
/// Changes need `CAP_NET_ADMIN` in the user namespace that owns the network namespace.
#[derive(Debug)]
pub struct Links {
    netlink: Netlink,
}

impl Links {
    /// Opens an rtnetlink socket.
    pub fn open() -> Result<Self, Error> {
        Netlink::open(NETLINK_ROUTE).map(|netlink| Self { netlink }).map_err(|errno| {
            Error::failed("cannot open a netlink socket for interfaces (rtnetlink)", errno, "")
        })
    }

    /// Every interface of the namespace.
    pub fn list(&mut self) -> Result<Vec<Link>, Error> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        self.dump(request, Link::parse, "", || "list the interfaces".to_owned())
    }

    /// The interface with this name or alternative name (`ip link property add`).
    pub fn find(&mut self, name: &str) -> Result<Link, Error> {
        let request = RouteNetlinkMessage::GetLink(with_any_name(name)?);
        let read = |payloads: Vec<Vec<u8>>| match payloads.first() {
            Some(payload) => Ok(Link::parse(payload)?),
            None => Err(Failure::Malformed("no link in it".to_owned())),
        };
        self.netlink
            .ask(request, 0)
            .and_then(read)
            .map_err(|failure| Error::netlink(format!("read the state of interface {name:?}"), name, failure))
    }

    /// Finds the interface, and the permanent link-layer address of hardware.
    pub(crate) fn find_with_permanent_address(
        &mut self,
        name: &str,
    ) -> Result<(Link, Option<String>), Error> {
        self.look_up(with_any_name(name)?, name, permanent_address)
    }

    /// The interface called `name`, and the bridge that it is a port of.
    pub(crate) fn find_with_master(&mut self, name: &str) -> Result<(Link, Option<Link>), Error> {
        let (link, index) = self.look_up(named(name)?, name, master)?;
        // A bridge of another network namespace is not found.
        let master = index.and_then(|index| self.find_by_index(index, name).ok());
        Ok((link, master.map(|(link, _)| link)))
    }

    /// The interface with this name, and whether netassay made it ([`GROUP`]).
    pub(crate) fn find_with_origin(&mut self, name: &str) -> Result<(Link, bool), Error> {
        self.look_up(named(name)?, name, |payload| group(payload) == Some(GROUP))
    }

    /// The interface with this index, and its permanent address. `name` is for error messages.
    pub(crate) fn find_by_index(&mut self, index: u32, name: &str) -> Result<(Link, Option<String>), Error> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        self.look_up(message, name, permanent_address)
    }

    /// The interface with this index, and whether IPv6 is ready on it. The kernel answers between
    /// two changes, so that its own addresses are there by then.
    pub(crate) fn find_with_ipv6_ready(&mut self, index: u32, name: &str) -> Result<(Link, bool), Error> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        self.look_up(message, name, has_ipv6_ready)
    }

    /// The place and the number of the XDP program of an interface.
    pub(crate) fn xdp(&mut self, link: &Link) -> Result<Option<(ProgramPlace, u32)>, Error> {
        let mut message = LinkMessage::default();
        message.header.index = link.index;
        self.look_up(message, &link.name, xdp_of).map(|(_, xdp)| xdp)
    }

    fn look_up<T>(
        &mut self,
        message: LinkMessage,
        name: &str,
        more: impl FnOnce(&[u8]) -> T,
    ) -> Result<(Link, T), Error> {
        let read = |payloads: Vec<Vec<u8>>| match payloads.first() {
            Some(payload) => Ok((Link::parse(payload)?, more(payload))),
            None => Err(Failure::Malformed("no link in it".to_owned())),
        };
        self.netlink
            .ask(RouteNetlinkMessage::GetLink(message), 0)
            .and_then(read)
            .map_err(|failure| Error::netlink(format!("find interface {name:?}"), name, failure))
    }

    /// The interface with this link-layer address, such as `02:00:5e:00:53:01`: its name depends on
    /// the machine.
    pub fn find_by_address(&mut self, address: &str) -> Result<Link, Error> {
        let mut all = self.list()?;
        match all.iter().position(|link| link.address.as_deref() == Some(address)) {
            Some(found) => Ok(all.swap_remove(found)),
            None => {
                let found = all.into_iter().map(|link| link.name).collect::<Vec<_>>().join(", ");
                Err(Error::from(format!(
                    "no interface here has the link-layer address {address} (there are: {found}): its device was not \
                     created, or this kernel has no driver for it"
                )))
            }
        }
    }

    /// Makes a pair of virtual Ethernet interfaces: `name` here, and `peer` in the network
    /// namespace of the process (or thread) `peer_pid`. Both end with either namespace, or by
    /// [`Links::delete`]. Their link-layer addresses are constant: random ones would change their
    /// places in the kernel's tables.
    pub fn create_veth(&mut self, name: &str, peer: &str, peer_pid: u32) -> Result<(), Error> {
        let mut there = named(peer)?;
        there.attributes.push(LinkAttribute::NetNsPid(peer_pid));
        there.attributes.push(LinkAttribute::Address(VETH[1].to_vec()));
        let mut here = made(name)?;
        here.attributes.push(LinkAttribute::Address(VETH[0].to_vec()));
        here.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(there))),
        ]));
        self.change(RouteNetlinkMessage::NewLink(here), NLM_F_CREATE | NLM_F_EXCL, name, || {
            format!(
                "make the veth pair {name:?} and {peer:?} (in the network namespace of process {peer_pid})"
            )
        })
    }

    /// Makes a virtual interface; `action` as with [`Links::dump`].
    pub(crate) fn create(
        &mut self,
        name: &str,
        kind: InfoKind,
        data: Option<InfoData>,
        action: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        let mut message = made(name)?;
        let info = std::iter::once(LinkInfo::Kind(kind)).chain(data.map(LinkInfo::Data));
        message.attributes.push(LinkAttribute::LinkInfo(info.collect()));
        self.change(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL, name, action)
    }

    /// Puts an existing interface into [`GROUP`].
    pub(crate) fn set_group(&mut self, name: &str) -> Result<(), Error> {
        self.change(RouteNetlinkMessage::SetLink(made(name)?), 0, name, || {
            format!("set the group of interface {name:?}")
        })
    }

    /// Sets the interface up.
    pub fn set_up(&mut self, name: &str) -> Result<(), Error> {
        let mut message = named(name)?;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.change(RouteNetlinkMessage::SetLink(message), 0, name, || format!("set interface {name:?} up"))
    }

    /// Sets the interface down. The kernel then removes its routes, and most of its IPv6 addresses.
    pub(crate) fn set_down(&mut self, name: &str) -> Result<(), Error> {
        let mut message = named(name)?;
        message.header.change_mask = LinkFlags::Up;
        self.change(RouteNetlinkMessage::SetLink(message), 0, name, || format!("set interface {name:?} down"))
    }

    /// Waits until the kernel has noticed the carrier of an interface that is up, and its queue
    /// forwards packets.
    ///
    /// # Errors
    /// If it does not within 3 s, or the interface is gone.
    pub fn await_running(&mut self, name: &str) -> Result<(), Error> {
        let begun = Instant::now();
        let deadline = begun + CARRIER;
        loop {
            // The kernel takes up to a second to notice a lost carrier: both must be set.
            let link = self.find(name)?;
            if link.running && link.carrier {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(Error::from(format!(
                    "interface {name:?} has no carrier after {} s: its other end was removed, or set down",
                    CARRIER.as_secs()
                )));
            }
            // Usually it takes no time; otherwise asking less and less often spares the CPU.
            std::thread::sleep((begun.elapsed() / 8).max(Duration::from_micros(200)));
        }
    }

    /// Sets the MTU, in bytes.
    pub fn set_mtu(&mut self, name: &str, mtu: u32) -> Result<(), Error> {
        let mut message = named(name)?;
        message.attributes.push(LinkAttribute::Mtu(mtu));
        self.change(RouteNetlinkMessage::SetLink(message), 0, name, || {
            format!("set the MTU of interface {name:?} to {mtu} bytes")
        })
    }

    /// Turns off the kernel's own IPv6 link-local address, with duplicate address detection and
    /// router solicitations, before the interface is set up: on a private link these are noise in
    /// the counters of short runs.
    ///
    /// Works where [`Links::add_address`] adds the IPv6 addresses.
    pub fn quiet_ipv6(&mut self, name: &str) -> Result<(), Error> {
        let mut message = named(name)?;
        let off = AfSpecInet6::AddrGenMode(In6AddrGenMode::None);
        message.attributes.push(LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![off])]));
        let done = self.change(RouteNetlinkMessage::SetLink(message), 0, name, || {
            format!("turn off automatic IPv6 addresses of interface {name:?}")
        });
        // A kernel without IPv6 adds none.
        done.or_else(|error| if error.errno() == Some(libc::EAFNOSUPPORT) { Ok(()) } else { Err(error) })
    }

    /// Adds an address to the interface. IPv6 addresses skip duplicate address detection, so that
    /// they can be used at once.
    pub fn add_address(&mut self, name: &str, address: IpAddr, prefix: u8) -> Result<(), Error> {
        let index = self.find(name)?.index;
        let mut message = AddressMessage::default();
        message.header.index = index;
        message.header.prefix_len = prefix;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        message.header.family = match address {
            IpAddr::V4(_) => AddressFamily::Inet,
            IpAddr::V6(_) => {
                message.header.flags = AddressHeaderFlags::Nodad;
                message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
                AddressFamily::Inet6
            }
        };
        self.change(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL, name, || {
            format!("add the address {address}/{prefix} to interface {name:?}")
        })
    }

    /// Dumps the answers to a message, and returns the payloads unread.
    pub(crate) fn dump_raw(
        &mut self,
        request: RawMessage,
        action: impl FnOnce() -> String,
    ) -> Result<Vec<Vec<u8>>, Error> {
        self.netlink.dump(request).map_err(|failure| Error::netlink(action(), "", failure))
    }

    /// Requests a change by an encoded message; `name` and `action` as with [`Links::dump`].
    pub(crate) fn change_raw(
        &mut self,
        message: RawMessage,
        flags: u16,
        name: &str,
        action: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        self.netlink.ask(message, flags).map(drop).map_err(|failure| Error::netlink(action(), name, failure))
    }

    /// Deletes the interface; of a veth pair both ends.
    pub fn delete(&mut self, name: &str) -> Result<(), Error> {
        self.change(RouteNetlinkMessage::DelLink(named(name)?), 0, name, || {
            format!("delete interface {name:?}")
        })
    }

    /// The counters of the interface's transmit queues; zero without a queue, as on a veth by
    /// default.
    pub fn queue(&mut self, name: &str) -> Result<QueueCounters, Error> {
        let index = self.find(name)?.index;
        self.queue_of(index, name)
    }

    /// The counters of the transmit queues of an interface that was just found.
    pub(crate) fn queue_of(&mut self, index: u32, name: &str) -> Result<QueueCounters, Error> {
        // The kernel ignores an index here, and dumps the queues of all interfaces.
        let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let mut sum = QueueCounters::default();
        self.dump(
            request,
            |payload| sum.add(index, payload),
            name,
            || format!("read the queue of interface {name:?}"),
        )?;
        Ok(sum)
    }

    /// The queueing disciplines of an interface, and the classes of its root if that is a
    /// hierarchy.
    pub(crate) fn disciplines(&mut self, link: &Link) -> Result<Vec<Discipline>, Error> {
        let mut found =
            self.traffic_control(RouteNetlinkMessage::GetQueueDiscipline(tc_message(link)), link)?;
        found.retain(|one| one.index == link.index);
        if found.iter().any(|one| one.default_class.is_some()) {
            found.extend(self.traffic_control(RouteNetlinkMessage::GetTrafficClass(tc_message(link)), link)?);
        }
        Ok(found)
    }

    fn traffic_control(
        &mut self,
        request: RouteNetlinkMessage,
        link: &Link,
    ) -> Result<Vec<Discipline>, Error> {
        let name = &link.name;
        self.dump(request, Discipline::parse, name, || {
            format!("read the queueing disciplines of interface {name:?}")
        })
    }

    /// Requests a dump, and reads each answer. `action` is for error messages, and so is `name`,
    /// the interface, or nothing.
    pub(crate) fn dump<T>(
        &mut self,
        request: RouteNetlinkMessage,
        mut read: impl FnMut(&[u8]) -> Result<T, DecodeError>,
        name: &str,
        action: impl FnOnce() -> String,
    ) -> Result<Vec<T>, Error> {
        let read_all = |payloads: Vec<Vec<u8>>| {
            payloads.iter().map(|payload| Ok(read(payload)?)).collect::<Result<_, Failure>>()
        };
        let answered = self.netlink.dump(request).and_then(read_all);
        answered.map_err(|failure| Error::netlink(action(), name, failure))
    }

    /// Requests a change and waits for its acknowledgement; `name` and `action` as with
    /// [`Links::dump`].
    pub(crate) fn change(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
        name: &str,
        action: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        self.netlink.ask(message, flags).map(drop).map_err(|failure| Error::netlink(action(), name, failure))
    }
}

/// Removes cached path MTUs of this network namespace; where that is forbidden, a changed MTU may
/// take effect late.
pub fn forget_path_mtus() {
    for family in ["ipv4", "ipv6"] {
        // Some kernels lack IPv6.
        let _ = std::fs::write(format!("/proc/sys/net/{family}/route/flush"), "1");
    }
}

fn tc_message(link: &Link) -> TcMessage {
    let mut message = TcMessage::default();
    // No index has more than 31 bits.
    message.header.index = i32::try_from(link.index).unwrap_or(0);
    message
}

/// A message about the interface called `name`.
pub(crate) fn named(name: &str) -> Result<LinkMessage, Error> {
    check_name(name)?;
    let mut message = LinkMessage::default();
    message.attributes.push(LinkAttribute::IfName(name.to_owned()));
    Ok(message)
}

/// The group of the interfaces that netassay makes (`ip link show group 1852142689`), which
/// distinguishes them from others of the same name.
pub const GROUP: u32 = u32::from_be_bytes(*b"neta");

/// A message that makes the interface of this name.
fn made(name: &str) -> Result<LinkMessage, Error> {
    let mut message = named(name)?;
    message.attributes.push(LinkAttribute::Group(GROUP));
    Ok(message)
}

/// A message about the interface with this name or alternative name.
fn with_any_name(name: &str) -> Result<LinkMessage, Error> {
    // The kernel looks up a short name among both.
    if name.len() <= NAME_MAX {
        return named(name);
    }
    check_interface(name).map_err(|_| Error::InterfaceName { name: name.to_owned() })?;
    let mut message = LinkMessage::default();
    let bytes = [name.as_bytes(), b"\0"].concat();
    message.attributes.push(LinkAttribute::Other(DefaultNla::new(IFLA_ALT_IFNAME, bytes)));
    Ok(message)
}

// `IFLA_ALT_IFNAME` of linux/if_link.h (Linux 5.5).
const IFLA_ALT_IFNAME: u16 = 53;

// The link-layer addresses of a veth pair: locally administered, and unique on a link of two ends.
const VETH: [[u8; 6]; 2] = [[0x02, 0x00, 0x5e, 0x10, 0x02, 0x01], [0x02, 0x00, 0x5e, 0x10, 0x02, 0x02]];

// `IFNAMSIZ` of linux/if.h, without its final zero.
const NAME_MAX: usize = 15;

/// A name from a file is not cut, and not a path.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let is_name = name.len() <= NAME_MAX && check_interface(name).is_ok();
    if is_name { Ok(()) } else { Err(Error::InterfaceName { name: name.to_owned() }) }
}

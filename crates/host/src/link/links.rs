//! Interfaces and their addresses, by rtnetlink.

use std::fmt::Arguments;
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use netlink_sys::protocols::NETLINK_ROUTE;
use nix::errno::Errno;
use nix::libc;
use words::names::check_interface;

use crate::error::Error;
use crate::kernel::attributes::{encode, number, string};
use crate::kernel::netlink::{CREATE_NEW, Netlink, NetlinkFailure};
use crate::link::entry::family;
use crate::link::interface::{IPV6, LINK_HEADER, Link};
use crate::link::ioctl;

// The kernel looks at carriers at once, or once a second (net/core/link_watch.c).
const CARRIER: Duration = Duration::from_secs(3);

/// The group of the interfaces that netassay makes.
pub const GROUP: u32 = u32::from_be_bytes(*b"neta");

// Attributes of linux/if_link.h and linux/veth.h.
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const IN6_ADDR_GEN_MODE_NONE: u8 = 1;
const IFLA_BR_MCAST_SNOOPING: u16 = 23;
const VETH_INFO_PEER: u16 = 1;

// Of a veth pair: locally administered. Random ones would change places in the kernel's tables.
const VETH: [[u8; 6]; 2] = [[0x02, 0x00, 0x5e, 0x10, 0x02, 0x01], [0x02, 0x00, 0x5e, 0x10, 0x02, 0x02]];

// `IFNAMSIZ` of linux/if.h, without its final zero.
const NAME_MAX: usize = 15;

type LinkAttribute = (u16, Vec<u8>);

/// The interfaces of one network namespace: that of the thread that opened this.
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
        let asked = link_message([0; 3], &[]);
        let payloads = self.dump(libc::RTM_GETLINK, &asked, "", format_args!("list the interfaces"))?;
        Ok(payloads.iter().filter_map(|payload| Link::parse(payload)).collect())
    }

    /// The interface with this name or alternative name (`ip link property add`).
    pub fn find(&mut self, name: &str) -> Result<Link, Error> {
        // The kernel looks up a short name among both.
        if name.len() <= NAME_MAX {
            return self.look_up(0, &[named(name)?], name);
        }
        check_interface(name).map_err(|_| Error::InterfaceName { name: name.to_owned() })?;
        self.look_up(0, &[(libc::IFLA_ALT_IFNAME, string(name))], name)
    }

    pub(crate) fn find_by_index(&mut self, index: u32, name: &str) -> Result<Link, Error> {
        self.look_up(index, &[], name)
    }

    fn look_up(&mut self, index: u32, attributes: &[LinkAttribute], name: &str) -> Result<Link, Error> {
        let asked = link_message([index, 0, 0], attributes);
        let answer = self.netlink.ask(libc::RTM_GETLINK, &asked, 0).and_then(|payloads| {
            let link = payloads.first().and_then(|payload| Link::parse(payload));
            link.ok_or_else(|| NetlinkFailure::Malformed("no link in it".to_owned()))
        });
        let action = format_args!("read the state of interface {name:?}");
        answer.map_err(|failure| Error::netlink(action, name, failure))
    }

    /// The interface with this link-layer address, such as `02:00:5e:00:53:01`.
    pub fn find_by_address(&mut self, address: &str) -> Result<Link, Error> {
        let found = self.list()?.into_iter().find(|link| link.address.as_deref() == Some(address));
        found.ok_or_else(|| {
            Error::from(format!(
                "no interface here has the link-layer address {address}: its device was not created, or this kernel has no \
                 driver for it"
            ))
        })
    }

    /// Makes a veth pair: `name` here, and `peer` in the network namespace of the process (or
    /// thread) `peer_pid`. Both end with either namespace, or by [`Links::delete`].
    pub fn create_veth(&mut self, name: &str, peer: &str, peer_pid: u32) -> Result<(), Error> {
        let [here, there] = VETH.map(|address| (libc::IFLA_ADDRESS, address.to_vec()));
        let other_end = [named(peer)?, (libc::IFLA_NET_NS_PID, number(peer_pid)), there];
        let other_end = [vec![0; LINK_HEADER], encode(&other_end)].concat();
        let about = format_args!(" and {peer:?} in the network namespace of process {peer_pid}");
        self.create(name, "veth", &[(VETH_INFO_PEER, other_end)], &[here], about)
    }

    /// Makes a bridge, down and without ports.
    pub fn create_bridge(&mut self, name: &str) -> Result<(), Error> {
        // Without multicast snooping ports forward at once.
        self.create(name, "bridge", &[(IFLA_BR_MCAST_SNOOPING, vec![0])], &[], format_args!(""))
    }

    /// Makes an interface a port of a bridge.
    ///
    /// # Errors
    /// The kernel's error; an unknown interface or bridge.
    pub fn add_port(&mut self, bridge: &str, port: &str) -> Result<(), Error> {
        let index = self.find(bridge)?.index;
        let action = format_args!("make interface {port:?} a port of the bridge {bridge:?}");
        self.set(port, (libc::IFLA_MASTER, number(index)), action)
    }

    pub(crate) fn create(
        &mut self,
        name: &str,
        kind: &str,
        data: &[LinkAttribute],
        more: &[LinkAttribute],
        about: Arguments<'_>,
    ) -> Result<(), Error> {
        let info = [(libc::IFLA_INFO_KIND, string(kind)), (libc::IFLA_INFO_DATA, encode(data))];
        let own = [named(name)?, (libc::IFLA_GROUP, number(GROUP)), (libc::IFLA_LINKINFO, encode(&info))];
        let payload = link_message([0; 3], &[&own[..], more].concat());
        let action = format_args!("make the {kind} interface {name:?}{about}");
        self.change(libc::RTM_NEWLINK, &payload, CREATE_NEW, name, action)
    }

    pub(crate) fn set(
        &mut self,
        name: &str,
        attribute: LinkAttribute,
        action: Arguments<'_>,
    ) -> Result<(), Error> {
        let payload = link_message([0; 3], &[named(name)?, attribute]);
        self.change(libc::RTM_SETLINK, &payload, 0, name, action)
    }

    /// Sets the interface up.
    pub fn set_up(&mut self, name: &str) -> Result<(), Error> {
        self.set_state(name, true)
    }

    /// Sets the interface up or down, which removes its routes and most of its IPv6 addresses.
    pub(crate) fn set_state(&mut self, name: &str, up: bool) -> Result<(), Error> {
        // The mask of the request limits the change to this flag.
        const UP: u32 = libc::IFF_UP.cast_unsigned();
        let (state, flags) = if up { ("up", UP) } else { ("down", 0) };
        let payload = link_message([0, flags, UP], &[named(name)?]);
        self.change(libc::RTM_SETLINK, &payload, 0, name, format_args!("set interface {name:?} {state}"))
    }

    /// Waits until the kernel has noticed the carrier, and the interface's queue forwards packets.
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
        let action = format_args!("set the MTU of interface {name:?} to {mtu} bytes");
        self.set(name, (libc::IFLA_MTU, number(mtu)), action)
    }

    /// Turns off the kernel's own IPv6 address and solicitations, which are noise in the counters
    /// of short runs, before the interface is set up.
    pub fn quiet_ipv6(&mut self, name: &str) -> Result<(), Error> {
        let ipv6 = encode(&[(IFLA_INET6_ADDR_GEN_MODE, vec![IN6_ADDR_GEN_MODE_NONE])]);
        let families = encode(&[(IPV6, ipv6)]);
        let action = format_args!("turn off automatic IPv6 addresses of interface {name:?}");
        let done = self.set(name, (libc::IFLA_AF_SPEC, families), action);
        // A kernel without IPv6 adds none.
        done.or_else(|error| if error.errno() == Some(libc::EAFNOSUPPORT) { Ok(()) } else { Err(error) })
    }

    /// Adds an address. One of IPv6 can be used at once, without duplicate address detection.
    pub fn add_address(&mut self, name: &str, address: IpAddr, prefix: u8) -> Result<(), Error> {
        let index = self.find(name)?.index;
        let flags = if address.is_ipv6() { libc::IFA_F_NODAD } else { 0 };
        let (family, bytes) = family(address);
        let attributes =
            [(libc::IFA_LOCAL, bytes.clone()), (libc::IFA_ADDRESS, bytes), (libc::IFA_FLAGS, number(flags))];
        // `struct ifaddrmsg`: family, prefix, flags, scope, index.
        let header = [vec![family, prefix, 0, 0], number(index)].concat();
        let payload = [header, encode(&attributes)].concat();
        let action = format_args!("add the address {address}/{prefix} to interface {name:?}");
        self.change(libc::RTM_NEWADDR, &payload, CREATE_NEW, name, action)
    }

    /// Deletes the interface; of a veth pair both ends.
    pub fn delete(&mut self, name: &str) -> Result<(), Error> {
        let payload = link_message([0; 3], &[named(name)?]);
        self.change(libc::RTM_DELLINK, &payload, 0, name, format_args!("delete interface {name:?}"))
    }

    /// Requests a dump. `action`, and `name`, the interface or nothing, are for error messages.
    pub(crate) fn dump(
        &mut self,
        kind: u16,
        payload: &[u8],
        name: &str,
        action: Arguments<'_>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        self.netlink.dump(kind, payload).map_err(|failure| Error::netlink(action, name, failure))
    }

    pub(crate) fn change(
        &mut self,
        kind: u16,
        payload: &[u8],
        flags: i32,
        name: &str,
        action: Arguments<'_>,
    ) -> Result<(), Error> {
        let done = self.netlink.ask(kind, payload, flags);
        done.map(drop).map_err(|failure| Error::netlink(action, name, failure))
    }
}

/// Makes a tap in the network namespace of the calling thread: an interface whose far end is a
/// virtual machine. It stays without a program, and ends with the namespace.
///
/// # Errors
/// No `/dev/net/tun`, no right to it, or none to this network namespace; an interface of that name.
pub fn create_tap(name: &str) -> Result<(), Error> {
    check_name(name)?;
    let refused = |step: &str, errno: io::Error| {
        let way_out = "; it needs a kernel with CONFIG_TUN, read and write access to /dev/net/tun (`sudo chmod 0666 \
                       /dev/net/tun` gives it to all, as most distributions do) and CAP_NET_ADMIN over this network namespace";
        Error::failed(format!("cannot make the tap {name:?}: {step}"), errno, way_out)
    };
    let mut links = Links::open()?;
    // The kernel would give another program's tap.
    if links.find(name).is_ok() {
        return Err(format!("cannot make the tap {name:?}: an interface of that name is there").into());
    }
    let device = File::options().read(true).write(true).open("/dev/net/tun");
    let device = device.map_err(|errno| refused("open /dev/net/tun", errno))?;
    let mut request = ioctl::about(name);
    // With IFF_VNET_HDR it exchanges packets with unfinished checksums and segmentation: only then
    // can the offloads of a guest's interface be switched. The flags are far below 2^15.
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: the request outlives the call, which reads it and writes the name back.
    let made = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    Errno::result(made).map_err(|errno| refused("make it", errno.into()))?;
    // The tap ends with this process until it is in netassay's group.
    let group = (libc::IFLA_GROUP, number(GROUP));
    links.set(name, group, format_args!("set the group of interface {name:?}"))?;
    // SAFETY: the argument is a plain number.
    let kept = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETPERSIST, 1) };
    Errno::result(kept).map_err(|errno| refused("make it stay", errno.into()))?;
    Ok(())
}

/// Removes cached path MTUs of this network namespace, if that is allowed.
pub fn forget_path_mtus() {
    for family in ["ipv4", "ipv6"] {
        // Some kernels lack IPv6.
        let _ = std::fs::write(format!("/proc/sys/net/{family}/route/flush"), "1");
    }
}

fn link_message([index, flags, mask]: [u32; 3], attributes: &[LinkAttribute]) -> Vec<u8> {
    let header = [0, index, flags, mask].map(u32::to_ne_bytes).concat();
    [header, encode(attributes)].concat()
}

fn named(name: &str) -> Result<LinkAttribute, Error> {
    check_name(name)?;
    Ok((libc::IFLA_IFNAME, string(name)))
}

pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let is_name = name.len() <= NAME_MAX && check_interface(name).is_ok();
    if is_name { Ok(()) } else { Err(Error::InterfaceName { name: name.to_owned() }) }
}

//! The interface of a machine for traffic to another one, with facts to compare both ends.

use std::net::{IpAddr, UdpSocket};
use std::os::unix::fs::MetadataExt as _;

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::sys::socket::SockaddrStorage;
use serde::{Deserialize, Serialize};
use words::parse_cpu_list;

use crate::environment::Firewall;
use crate::error::Error;
use crate::kernel::files::Machine;
use crate::link::interface::{Link, hardware_address};
use crate::link::links::Links;

/// An interface of a machine, as a path to another machine needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocatedInterface {
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interface: String,
    /// In bytes.
    pub mtu: u32,
    /// With the lengths of their prefixes; not those that are valid on one link only.
    pub addresses: Vec<(IpAddr, u8)>,
    /// The CPUs of its memory node; empty without hardware.
    pub near: Vec<u32>,
    /// Whether the controller's connection runs over it, as far as that is known.
    pub carries: bool,
    /// Whether it can have addresses of IPv6.
    pub has_ipv6: bool,
    /// Whether interfaces that are made later on its machine can have addresses of IPv6.
    pub default_has_ipv6: bool,
    /// The numbers that such an interface cannot have: others have their name, network or port.
    pub taken: Vec<u16>,
}

impl LocatedInterface {
    /// The interface of this name; without a name one that shares a network with the other end's
    /// addresses (`beside`), or the one by which packets to them, or to `towards`, leave.
    /// `connection`: the controller's address, and this machine's.
    ///
    /// # Errors
    /// No such interface, or no route.
    pub fn find(
        interface: Option<&str>,
        beside: &[(IpAddr, u8)],
        towards: Option<IpAddr>,
        connection: Option<(IpAddr, IpAddr)>,
    ) -> Result<Self, Error> {
        let all = addresses()?;
        let carries = |name: &str| connection.is_some_and(|ends| carries(&all, name, ends));
        let name = match interface.or_else(|| sharing(&all, beside, carries)) {
            Some(name) => name.to_owned(),
            None => {
                let towards = beside.iter().map(|(address, _)| *address).chain(towards);
                let found = towards.map(|towards| towards_by(&all, towards));
                found.reduce(Result::or).unwrap_or_else(|| Err(UNKNOWN.into()))?
            }
        };
        let mut links = Links::open()?;
        let Link { name, mtu, .. } = links.find(&name)?;
        let own = all.iter().filter(|one| one.interface == name && !is_of_link(one.address));
        let addresses = own.map(|one| (one.address, one.prefix)).collect();
        let files = Machine::system();
        Ok(Self {
            mtu,
            addresses,
            near: near(&files, &name),
            carries: carries(&name),
            has_ipv6: has_ipv6(&files, &name),
            default_has_ipv6: has_ipv6(&files, "default"),
            taken: links.taken_numbers()?,
            interface: name,
        })
    }
}

const UNKNOWN: &str = "the address of the other machine is not known, so neither is the interface that leads there: name it, as in \
                       root@a:ens1f0";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairFacts {
    pub boot_id: Option<String>,
    /// The inode of the network namespace, which names it within one boot.
    pub namespace: Option<u64>,
    pub link: Link,
    /// The interface that it is a port of, such as a bridge.
    pub master: Option<Link>,
    /// The addresses asked about that are in use in the namespace.
    pub taken: Vec<TakenAddress>,
    /// The addresses asked about whose link-layer address is known on the interface.
    pub neighbours: Vec<(IpAddr, String)>,
    pub firewall: Firewall,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakenAddress {
    pub address: IpAddr,
    #[serde(deserialize_with = "words::names::interfaces")]
    pub interface: String,
    pub prefix: u8,
}

impl PairFacts {
    /// Reads the facts about an interface and the addresses asked about.
    pub fn read(interface: &str, asked: &[IpAddr]) -> Result<Self, Error> {
        let mut links = Links::open()?;
        let link = links.find(interface)?;
        // A bridge of another network namespace is not found.
        let master = link.master.and_then(|index| links.find_by_index(index, interface).ok());
        let taken = addresses()?.into_iter().filter(|one| asked.contains(&one.address));
        let mut known = links.neighbours()?;
        known.retain(|one| one.interface == link.index && asked.contains(&one.address));
        let neighbours =
            known.into_iter().filter_map(|one| Some((one.address, hardware_address(&one.link_address)?)));
        Ok(Self {
            boot_id: Machine::system().text("proc/sys/kernel/random/boot_id"),
            namespace: std::fs::metadata("/proc/thread-self/ns/net").ok().map(|file| file.ino()),
            link,
            master,
            taken: taken.collect(),
            neighbours: neighbours.collect(),
            firewall: Firewall::read(),
        })
    }
}

/// Whether two addresses with the lengths of their prefixes are in one network.
pub fn same_network((one, prefix): (IpAddr, u8), (other, with): (IpAddr, u8)) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    };
    let same_bits = (bits(one) ^ bits(other)).leading_zeros();
    (one.is_ipv4(), prefix) == (other.is_ipv4(), with) && same_bits >= u32::from(prefix).min(u128::BITS)
}

/// The interface that shares a network with one of these addresses.
fn sharing<'a>(
    all: &'a [TakenAddress],
    beside: &[(IpAddr, u8)],
    carries: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let shares = |one: &&TakenAddress| {
        !is_of_link(one.address) && beside.iter().any(|other| same_network((one.address, one.prefix), *other))
    };
    // At best not the connection's, whose packets would mix with the traffic.
    all.iter().filter(shares).map(|one| one.interface.as_str()).min_by_key(|name| carries(name))
}

fn has_ipv6(files: &Machine, interface: &str) -> bool {
    files.switch(&format!("proc/sys/net/ipv6/conf/{interface}/disable_ipv6")) == Some(false)
}

/// The CPUs near a device.
fn near(files: &Machine, interface: &str) -> Vec<u32> {
    // The device of virtio is a child of the PCI device, which alone has the list.
    let cpu_list = |device: &str| files.text(&format!("sys/class/net/{interface}/{device}/local_cpulist"));
    let list = cpu_list("device").or_else(|| cpu_list("device/.."));
    list.and_then(|list| parse_cpu_list(&list).ok()).unwrap_or_default()
}

fn addresses() -> Result<Vec<TakenAddress>, Error> {
    let all =
        getifaddrs().map_err(|errno| Error::failed("cannot list the addresses of interfaces", errno, ""))?;
    let taken = |one: InterfaceAddress| {
        let address = ip(one.address.as_ref()?)?;
        let prefix = match ip(one.netmask.as_ref()?)? {
            IpAddr::V4(mask) => mask.to_bits().count_ones(),
            IpAddr::V6(mask) => mask.to_bits().count_ones(),
        };
        Some(TakenAddress { address, interface: one.interface_name, prefix: u8::try_from(prefix).ok()? })
    };
    Ok(all.filter_map(taken).collect())
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|four| IpAddr::V4(four.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|six| IpAddr::V6(six.ip())))
}

fn is_of_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_link_local(),
        IpAddr::V6(six) => six.is_unicast_link_local(),
    }
}

/// It has this machine's address of the connection, or packets to the other end leave by it.
fn carries(all: &[TakenAddress], interface: &str, (controller, host): (IpAddr, IpAddr)) -> bool {
    let has = |one: &TakenAddress| one.interface == interface && one.address == host.to_canonical();
    all.iter().any(has)
        || towards_by(all, controller.to_canonical()).is_ok_and(|leaves_by| leaves_by == interface)
}

fn towards_by(all: &[TakenAddress], towards: IpAddr) -> Result<String, Error> {
    let any = if towards.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    // Connecting chooses the route and sends no packet. The port is that of discard (RFC 863).
    let local = UdpSocket::bind(any).and_then(|socket| {
        socket.connect((towards, 9))?;
        socket.local_addr()
    });
    let local = local.map_err(|error| Error::from(format!("there is no route to {towards}: {error}")))?.ip();
    let found = all.iter().find(|one| one.address == local);
    found.map(|one| one.interface.clone()).ok_or_else(|| {
        format!("no interface has {local}, from where packets to {towards} leave: name the interface").into()
    })
}

#[cfg(test)]
mod tests;

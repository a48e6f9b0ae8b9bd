//! Addresses, routes and permanent neighbours of an interface without the parts that change by
//! themselves: lists can be compared, and a missing entry added again as it was.

use std::net::IpAddr;

use nix::libc;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernel::attributes::{TYPE, attribute, attributes, encode, push, u16_at, u32_at};
use crate::link::links::Links;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EntryKind {
    Address,
    Route,
    Neighbour,
}

impl EntryKind {
    // In the order in which they are added: a route may need an address.
    pub(crate) const ALL: [Self; 3] = [Self::Address, Self::Route, Self::Neighbour];

    pub(crate) fn word(self) -> &'static str {
        ["address", "route", "neighbour"][self as usize]
    }

    /// `RTM_NEW*`. The next number deletes, the one after it gets.
    fn new_kind(self) -> u16 {
        [libc::RTM_NEWADDR, libc::RTM_NEWROUTE, libc::RTM_NEWNEIGH][self as usize]
    }

    /// The length of `struct ifaddrmsg`, `rtmsg`, `ndmsg`.
    fn header(self) -> usize {
        if self == Self::Address { 8 } else { 12 }
    }
}

pub(crate) const IPV4: u8 = libc::AF_INET as u8;
pub(crate) const IPV6: u8 = libc::AF_INET6 as u8;

pub(crate) fn family(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (IPV4, address.octets().to_vec()),
        IpAddr::V6(address) => (IPV6, address.octets().to_vec()),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) sort: EntryKind,
    pub(crate) message: Vec<u8>,
    /// Preferred and valid, in seconds, if not for ever. A route has the second only.
    pub(crate) lifetime: Option<[u32; 2]>,
    /// An address that the kernel still checks for duplicates, and that can be added as it is.
    #[serde(skip)]
    pub(crate) is_tentative: bool,
}

// The flags of an address that `ip address add` can set.
const SETTABLE: u32 = libc::IFA_F_NODAD
    | libc::IFA_F_HOMEADDRESS
    | libc::IFA_F_MANAGETEMPADDR
    | libc::IFA_F_NOPREFIXROUTE
    | libc::IFA_F_MCAUTOJOIN;

// linux/rtnetlink.h
const RTNH_F_ONLINK: u8 = 4;
const RTAX_MTU: u16 = 2;
// Ticks a second in the kernel's messages (`USER_HZ`).
const TICKS: u32 = 100;

const FOREVER: u32 = u32::MAX;

impl Entry {
    /// `None`: another interface's entry, or one that the kernel makes and removes by itself.
    pub(crate) fn parse(sort: EntryKind, payload: &[u8], family: u8, index: u32) -> Option<Self> {
        let header = payload.get(..sort.header())?;
        let inside = &payload[sort.header()..];
        if header.first() != Some(&family) {
            return None;
        }
        match sort {
            EntryKind::Address => address(header, inside, index),
            EntryKind::Route => route(header, inside, index),
            EntryKind::Neighbour => neighbour(header, inside, index),
        }
    }

    pub(crate) fn has_mtu(&self) -> bool {
        let metrics = self.attribute(libc::RTA_METRICS).filter(|_| self.sort == EntryKind::Route);
        metrics.is_some_and(|metrics| attribute(metrics, RTAX_MTU).is_some())
    }

    pub(crate) fn is_address(&self, address: &[u8], prefix: u8) -> bool {
        // On a point-to-point link the other attribute is the peer's.
        let own = self.attribute(libc::IFA_LOCAL).or_else(|| self.attribute(libc::IFA_ADDRESS));
        self.sort == EntryKind::Address && own == Some(address) && self.message.get(1) == Some(&prefix)
    }

    fn attribute(&self, wanted: u16) -> Option<&[u8]> {
        attribute(self.message.get(self.sort.header()..)?, wanted)
    }

    pub(crate) fn add(&self, links: &mut Links, interface: &str) -> Result<(), Error> {
        let kind = self.sort.new_kind();
        let mut send = |payload: &[u8], flags| {
            let action = format_args!("put a removed {} back on interface {interface:?}", self.sort.word());
            links.change(kind, payload, flags, interface, action)
        };
        match self.sort {
            EntryKind::Address => {
                // A route may need it at once; duplicate address detection was made before.
                let at_once = self.message_with(libc::IFA_F_NODAD);
                send(&at_once, libc::NLM_F_CREATE | libc::NLM_F_REPLACE)?;
                let as_before = self.message_with(0);
                if as_before == at_once { Ok(()) } else { send(&as_before, libc::NLM_F_REPLACE) }
            }
            EntryKind::Route => {
                let mut payload = self.message.clone();
                if let Some([_, seconds]) = self.lifetime {
                    push(&mut payload, libc::RTA_EXPIRES, &seconds.to_ne_bytes());
                }
                send(&payload, libc::NLM_F_CREATE | libc::NLM_F_APPEND)
            }
            EntryKind::Neighbour => send(&self.message, libc::NLM_F_CREATE | libc::NLM_F_REPLACE),
        }
    }

    fn message_with(&self, flag: u32) -> Vec<u8> {
        let Some((header, inside)) = self.message.split_at_checked(self.sort.header()) else {
            return self.message.clone();
        };
        let flags = attribute(inside, libc::IFA_FLAGS).and_then(|value| u32_at(value, 0)).unwrap_or(0);
        let mut bytes = [header, &without(inside, &[libc::IFA_FLAGS])].concat();
        push(&mut bytes, libc::IFA_FLAGS, &(flags | flag).to_ne_bytes());
        let [preferred, valid] = self.lifetime.unwrap_or([FOREVER; 2]);
        // `struct ifa_cacheinfo`: the last two are the kernel's.
        let cache = [preferred, valid, 0, 0].map(u32::to_ne_bytes);
        push(&mut bytes, libc::IFA_CACHEINFO, &cache.concat());
        bytes
    }

    pub(crate) fn delete(&self, links: &mut Links, interface: &str) -> Result<(), Error> {
        let action = format_args!("remove a new {} from interface {interface:?}", self.sort.word());
        links.change(self.sort.new_kind() + 1, &self.message, 0, interface, action)
    }
}

fn address(header: &[u8], inside: &[u8], index: u32) -> Option<Entry> {
    if u32_at(header, 4)? != index {
        return None;
    }
    let flags =
        attribute(inside, libc::IFA_FLAGS).and_then(|value| u32_at(value, 0)).unwrap_or(u32::from(header[2]));
    // In IPv4 this flag marks a second address of a network.
    if header[0] == IPV6 && flags & libc::IFA_F_TEMPORARY != 0 {
        return None;
    }
    let mut message = header.to_vec();
    message[2] = 0;
    message.extend(without(inside, &[libc::IFA_CACHEINFO, libc::IFA_FLAGS]));
    push(&mut message, libc::IFA_FLAGS, &(flags & SETTABLE).to_ne_bytes());
    let lifetime = attribute(inside, libc::IFA_CACHEINFO)
        .and_then(|cache| Some([u32_at(cache, 0)?, u32_at(cache, 4)?]))
        .filter(|lifetime| *lifetime != [FOREVER; 2]);
    // Only the kernel can add an address of stable privacy.
    let is_tentative = flags & (libc::IFA_F_TENTATIVE | libc::IFA_F_STABLE_PRIVACY) == libc::IFA_F_TENTATIVE;
    Some(Entry { sort: EntryKind::Address, message, lifetime, is_tentative })
}

fn route(header: &[u8], inside: &[u8], index: u32) -> Option<Entry> {
    let flags = u32_at(header, 8)?;
    let [table, protocol] = [header[4], header[5]];
    // The kernel makes and removes local routes with their addresses.
    if flags & libc::RTM_F_CLONED != 0 || (table == libc::RT_TABLE_LOCAL && protocol == libc::RTPROT_KERNEL) {
        return None;
    }
    let mut message = header[..8].to_vec();
    message.extend((flags & u32::from(RTNH_F_ONLINK)).to_ne_bytes());
    let (mut is_ours, mut seconds) = (false, 0);
    for (kind, value) in attributes(inside) {
        match kind & TYPE {
            libc::RTA_CACHEINFO => seconds = u32_at(value, 8)? / TICKS,
            libc::RTA_MULTIPATH => {
                let hops = hops(value, index);
                is_ours |= !hops.is_empty();
                push(&mut message, kind, &hops);
            }
            other => {
                is_ours |= other == libc::RTA_OIF && u32_at(value, 0) == Some(index);
                push(&mut message, kind, value);
            }
        }
    }
    let lifetime = (seconds > 0).then_some([0, seconds]);
    is_ours.then_some(Entry { sort: EntryKind::Route, message, lifetime, is_tentative: false })
}

/// The next hops of a route (`struct rtnexthop`) that leave by the interface.
fn hops(mut rest: &[u8], index: u32) -> Vec<u8> {
    let mut ours = Vec::new();
    while let Some(length) = u16_at(rest, 0).map(usize::from)
        && let Some(hop) = rest.get(..length).filter(|hop| hop.len() >= 8)
    {
        if u32_at(hop, 4) == Some(index) {
            let start = ours.len();
            ours.extend(hop);
            // The other flags tell a state, such as a dead link, which nobody can set.
            ours[start + 2] &= RTNH_F_ONLINK;
            ours.resize(ours.len().next_multiple_of(4), 0);
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    ours
}

fn neighbour(header: &[u8], inside: &[u8], index: u32) -> Option<Entry> {
    if u32_at(header, 4)? != index || u16_at(header, 8)? & libc::NUD_PERMANENT == 0 {
        return None;
    }
    let message = [header, &without(inside, &[libc::NDA_CACHEINFO, libc::NDA_PROBES])].concat();
    Some(Entry { sort: EntryKind::Neighbour, message, lifetime: None, is_tentative: false })
}

fn without(inside: &[u8], left_out: &[u16]) -> Vec<u8> {
    let kept = attributes(inside).filter(|(kind, _)| !left_out.contains(&(kind & TYPE)));
    encode(&kept.map(|(kind, value)| (kind, value.to_vec())).collect::<Vec<_>>())
}

impl Links {
    pub(crate) fn entries(&mut self, sort: EntryKind, family: u8, index: u32) -> Result<Vec<Entry>, Error> {
        let mut payload = vec![0; sort.header()];
        payload[0] = family;
        let action = format_args!("list what the interfaces have of: {}", sort.word());
        let all = self.dump(sort.new_kind() + 2, &payload, "", action)?;
        Ok(all.iter().filter_map(|payload| Entry::parse(sort, payload, family, index)).collect())
    }

    /// Leaves the interface `name` exactly the entries of `wanted`, of their family, within `of`.
    pub(crate) fn restore_entries(
        &mut self,
        wanted: &[Entry],
        of: impl Fn(&Entry) -> bool,
        family: u8,
        (index, name): (u32, &str),
    ) -> Result<(), Error> {
        let mut failed = Ok(());
        // Linux lists a new address of IPv6 before others (`ipv6_link_dev_addr`). Which of them is
        // the source of a packet may depend on their order.
        let mut newest_first = family == IPV6;
        let mut added = 0;
        // A route may need another one, which the kernel lists behind it.
        'rounds: for round in 1..=ROUNDS {
            failed = Ok(());
            let mut is_so = true;
            for sort in EntryKind::ALL {
                let now: Vec<Entry> = self.entries(sort, family, index)?.into_iter().filter(&of).collect();
                let wanted = || wanted.iter().filter(|entry| entry.sort == sort);
                let is_same = |one: &Entry, other: &Entry| one.message == other.message;
                let is_there = |entry: &Entry| now.iter().any(|one| is_same(one, entry));
                let mut missing: Vec<&Entry> = wanted().filter(|entry| !is_there(entry)).collect();
                let is_wanted = |entry: &Entry| wanted().any(|one| is_same(one, entry));
                let extra: Vec<&Entry> = now.iter().filter(|entry| !is_wanted(entry)).collect();
                let is_complete = missing.is_empty() && extra.is_empty();
                is_so &= is_complete;
                if sort == EntryKind::Address && family == IPV6 {
                    let in_order = wanted().zip(&now).all(|(one, other)| is_same(one, other));
                    if is_complete && !in_order && round + 2 < ROUNDS {
                        // Again with all of them; in the other direction, if this was their order.
                        newest_first ^= added == now.len();
                        for entry in &now {
                            entry.delete(self, name)?;
                        }
                        continue 'rounds;
                    }
                    added = missing.len();
                    if newest_first {
                        missing.reverse();
                    }
                }
                for entry in extra {
                    failed = failed.and(entry.delete(self, name));
                }
                for entry in missing {
                    failed = failed.and(entry.add(self, name));
                }
            }
            if is_so {
                return Ok(());
            }
        }
        // Some entries are missing, or left: the kernel's last error says why.
        failed
    }
}

// An address brings routes, a route may need another, and their order may need a second adding.
const ROUNDS: usize = 8;

#[cfg(test)]
mod tests;

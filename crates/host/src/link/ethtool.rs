//! Ethtool's generic netlink family: its requests, and offload features.

use std::collections::BTreeMap;
use std::fmt::Arguments;

use netlink_sys::protocols::NETLINK_GENERIC;
use nix::libc;

use crate::error::Error;
use crate::kernel::attributes::{NESTED, attribute, encode, number, string, u16_at};
use crate::kernel::netlink::{Netlink, NetlinkFailure};
use crate::link::features::{FeatureChange, Features, parse_features, sendable, wanted_bits};
use crate::link::links::check_name;

/// The ethtool interface of the network namespace of the thread that opened this.
///
/// Changes need `CAP_NET_ADMIN` in the user namespace that owns the network namespace.
#[derive(Debug)]
pub struct Ethtool {
    netlink: Netlink,
    family: u16,
}

const FAMILY_ID: u16 = libc::CTRL_ATTR_FAMILY_ID as u16;
const FAMILY_NAME: u16 = libc::CTRL_ATTR_FAMILY_NAME as u16;
// `struct genlmsghdr`: command, version, padding.
const GENL_HEADER: usize = 4;

// `ETHTOOL_MSG_*` of requests.
const FEATURES_GET: u8 = 11;
const FEATURES_SET: u8 = 12;
// `ETHTOOL_A_FEATURES_HEADER`; it is 1 in every message of the family.
const HEADER: u16 = 1;
// `ETHTOOL_A_HEADER_*`.
const HEADER_DEV_NAME: u16 = 2;
const HEADER_FLAGS: u16 = 3;
// No description of the change in the answer: the state is read again.
const FLAG_OMIT_REPLY: u32 = 2;

const NO_FAMILY: &str =
    "this kernel has no ethtool over netlink: offload features need CONFIG_ETHTOOL_NETLINK";

impl Ethtool {
    /// Opens a generic netlink socket and finds the family `ethtool`.
    pub fn open() -> Result<Self, Error> {
        let mut netlink = Netlink::open(NETLINK_GENERIC).map_err(|errno| {
            Error::failed("cannot open a netlink socket for offload features (generic netlink)", errno, "")
        })?;
        // The family that tells the number of a family.
        let (control, get_family) = (libc::GENL_ID_CTRL as u16, libc::CTRL_CMD_GETFAMILY as u8);
        let answer = match ask(&mut netlink, control, get_family, &[(FAMILY_NAME, string("ethtool"))]) {
            Ok(answer) => answer,
            Err(NetlinkFailure::Refused { .. }) => Vec::new(),
            Err(failure) => return Err(Error::netlink("look for ethtool's netlink family", "", failure)),
        };
        let family = attribute(&answer, FAMILY_ID).and_then(|value| u16_at(value, 0));
        let family = family.ok_or(NO_FAMILY)?;
        Ok(Self { netlink, family })
    }

    /// The features of the interface.
    pub fn features(&mut self, interface: &str) -> Result<Features, Error> {
        let action = format_args!("read the features of interface {interface:?}");
        let answer = self.ask(FEATURES_GET, (interface, 0), &[], action)?;
        parse_features(&answer).ok_or_else(|| {
            Error::netlink(action, interface, NetlinkFailure::Malformed("no features in it".to_owned()))
        })
    }

    /// Requests features on or off by the kernel's names, and reads back. Refused are names that
    /// the kernel lacks or the driver fixes, and changes that the kernel undid.
    ///
    /// # Errors
    /// If the kernel refuses the whole request: no such interface, no privilege.
    pub fn set(
        &mut self,
        interface: &str,
        requested: &BTreeMap<String, bool>,
    ) -> Result<FeatureChange, Error> {
        let before = self.features(interface)?;
        let sendable = sendable(requested, &before);
        if !sendable.is_empty() {
            let bits = [wanted_bits(&sendable)];
            let names = sendable.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let action = format_args!("change the features {names} of interface {interface:?}");
            self.ask(FEATURES_SET, (interface, FLAG_OMIT_REPLY), &bits, action)?;
        }
        Ok(FeatureChange::compare(requested, self.features(interface)?))
    }

    pub(crate) fn ask(
        &mut self,
        command: u8,
        (interface, flags): (&str, u32),
        attributes: &[(u16, Vec<u8>)],
        action: Arguments<'_>,
    ) -> Result<Vec<u8>, Error> {
        check_name(interface)?;
        let header = encode(&[(HEADER_DEV_NAME, string(interface)), (HEADER_FLAGS, number(flags))]);
        let attributes = [&[(HEADER | NESTED, header)], attributes].concat();
        ask(&mut self.netlink, self.family, command, &attributes)
            .map_err(|failure| Error::netlink(action, interface, failure))
    }
}

fn ask(
    netlink: &mut Netlink,
    family: u16,
    command: u8,
    attributes: &[(u16, Vec<u8>)],
) -> Result<Vec<u8>, NetlinkFailure> {
    const VERSION: u8 = 1;
    let payload = [vec![command, VERSION, 0, 0], encode(attributes)].concat();
    let mut answers = netlink.ask(family, &payload, 0)?;
    Ok(answers.first_mut().map(|answer| answer.split_off(GENL_HEADER.min(answer.len()))).unwrap_or_default())
}

//! Offload features by ethtool's generic netlink family.

use std::collections::BTreeMap;

use netlink_packet_core::Emitable;
use netlink_packet_generic::ctrl::nlas::GenlCtrlAttrs;
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_packet_generic::{GenlFamily, GenlMessage};
use netlink_sys::protocols::NETLINK_GENERIC;

use crate::error::Error;
use crate::kernel::attributes::{NESTED, attributes, push};
use crate::kernel::netlink::{Failure, Netlink};
use crate::link::bitset::{parse_features, wanted_bits};
use crate::link::features::{FeatureChange, Features, sendable};
use crate::link::links::check_name;

/// The ethtool interface of one network namespace: that of the thread which opened this.
///
/// Reading is free to everybody; changes need `CAP_NET_ADMIN` in the user namespace that owns the
/// network namespace.
#[derive(Debug)]
pub struct Ethtool {
    netlink: Netlink,
    family: u16,
}

impl Ethtool {
    /// Opens a generic netlink socket and looks for the family `ethtool`.
    ///
    /// # Errors
    /// [`Error::NoEthtool`] if this kernel has none.
    pub fn open() -> Result<Self, Error> {
        let purpose = "offload features (generic netlink)";
        let mut netlink = Netlink::open(NETLINK_GENERIC).map_err(|errno| Error::Socket { purpose, errno })?;
        let family = family(&mut netlink)?;
        Ok(Self { netlink, family })
    }

    /// The features of the interface.
    ///
    /// # Errors
    /// [`Error::NoInterface`] if there is no such interface.
    pub fn features(&mut self, interface: &str) -> Result<Features, Error> {
        let mut message = GenlMessage::from_payload(Request::features_of(interface)?);
        message.set_resolved_family_id(self.family);
        let read =
            |payloads: Vec<Vec<u8>>| match payloads.first().and_then(|payload| payload.get(GENL_HEADER..)) {
                Some(attributes) => Ok(parse_features(attributes)?),
                None => Err(Failure::Malformed("no features in it".to_owned())),
            };
        self.netlink.ask(message, 0).and_then(read).map_err(|failure| {
            Error::netlink(format!("read the features of interface {interface:?}"), interface, failure)
        })
    }

    /// Asks for features to be on or off by the kernel's names, and reads back what became of it.
    ///
    /// A name that this kernel does not know, or that the driver does not let be switched, is not
    /// sent but told in [`FeatureChange::refused`]; so is what the kernel undid.
    ///
    /// # Errors
    /// If the kernel refuses the request as a whole: no such interface, no privilege.
    pub fn set(
        &mut self,
        interface: &str,
        requested: &BTreeMap<String, bool>,
    ) -> Result<FeatureChange, Error> {
        let before = self.features(interface)?;
        let sendable = sendable(requested, &before);
        if !sendable.is_empty() {
            let mut message = GenlMessage::from_payload(Request::features_to(interface, &sendable)?);
            message.set_resolved_family_id(self.family);
            self.netlink.ask(message, 0).map_err(|failure| {
                let names = sendable.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let action = format!("change the features {names} of interface {interface:?}");
                Error::netlink(action, interface, failure)
            })?;
        }
        let after = self.features(interface)?;
        Ok(FeatureChange::between(before, requested, after))
    }
}

/// `struct genlmsghdr`: command, version, padding.
const GENL_HEADER: usize = 4;
const CTRL_ATTR_FAMILY_ID: u16 = 1;

/// `ETHTOOL_MSG_*` of requests.
const FEATURES_GET: u8 = 11;
const FEATURES_SET: u8 = 12;
/// `ETHTOOL_A_FEATURES_HEADER`.
const FEATURES_HEADER: u16 = 1;
/// `ETHTOOL_A_HEADER_*`.
const HEADER_DEV_NAME: u16 = 2;
const HEADER_FLAGS: u16 = 3;
/// No description of the change in the answer: what is true now is read afresh.
const FLAG_OMIT_REPLY: u32 = 2;

fn family(netlink: &mut Netlink) -> Result<u16, Error> {
    let request = GenlCtrl {
        cmd: GenlCtrlCmd::GetFamily,
        nlas: vec![GenlCtrlAttrs::FamilyName(Request::family_name().to_owned())],
    };
    let payloads = netlink.ask(GenlMessage::from_payload(request), 0).map_err(|failure| match failure {
        Failure::Refused { .. } => Error::NoEthtool,
        failure => Error::netlink("look for ethtool's netlink family", "", failure),
    })?;
    payloads
        .first()
        .and_then(|payload| payload.get(GENL_HEADER..))
        .and_then(|bytes| attributes(bytes).flatten().find(|attribute| attribute.kind == CTRL_ATTR_FAMILY_ID))
        .and_then(|attribute| attribute.value.try_into().ok().map(u16::from_ne_bytes))
        .ok_or(Error::NoEthtool)
}

/// A request of the ethtool family: a command and its attributes, ready to be sent.
#[derive(Clone, Debug)]
struct Request {
    command: u8,
    attributes: Vec<u8>,
}

impl Request {
    fn features_of(interface: &str) -> Result<Self, Error> {
        Ok(Self { command: FEATURES_GET, attributes: header(interface, 0)? })
    }

    fn features_to(interface: &str, requested: &BTreeMap<String, bool>) -> Result<Self, Error> {
        let mut attributes = header(interface, FLAG_OMIT_REPLY)?;
        attributes.extend(wanted_bits(requested));
        Ok(Self { command: FEATURES_SET, attributes })
    }
}

fn header(interface: &str, flags: u32) -> Result<Vec<u8>, Error> {
    check_name(interface)?;
    let mut inner = Vec::new();
    let name: Vec<u8> = interface.bytes().chain([0]).collect();
    push(&mut inner, HEADER_DEV_NAME, &name);
    push(&mut inner, HEADER_FLAGS, &flags.to_ne_bytes());
    let mut outer = Vec::new();
    push(&mut outer, FEATURES_HEADER | NESTED, &inner);
    Ok(outer)
}

impl GenlFamily for Request {
    fn family_name() -> &'static str {
        "ethtool"
    }

    fn command(&self) -> u8 {
        self.command
    }

    fn version(&self) -> u8 {
        1
    }
}

impl Emitable for Request {
    fn buffer_len(&self) -> usize {
        self.attributes.len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.attributes);
    }
}

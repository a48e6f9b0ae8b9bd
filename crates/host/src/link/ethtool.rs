//! Ethtool's generic netlink family: its requests, and offload features.

use std::collections::BTreeMap;

use netlink_packet_core::{DefaultNla, Emitable, NlasIterator, parse_u16};
use netlink_packet_generic::ctrl::nlas::GenlCtrlAttrs;
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_packet_generic::{GenlFamily, GenlMessage};
use netlink_sys::protocols::NETLINK_GENERIC;
use nix::libc;

use crate::error::Error;
use crate::kernel::attributes::{nested, string};
use crate::kernel::netlink::{Failure, Netlink};
use crate::link::bitset::{parse_features, wanted_bits};
use crate::link::features::{FeatureChange, Features, sendable};
use crate::link::links::check_name;

/// The ethtool interface of one network namespace: that of the thread that opened this.
///
/// Everybody may read; changes need `CAP_NET_ADMIN` in the user namespace that owns the network
/// namespace.
#[derive(Debug)]
pub struct Ethtool {
    netlink: Netlink,
    family: u16,
}

impl Ethtool {
    /// Opens a generic netlink socket and finds the family `ethtool`.
    pub fn open() -> Result<Self, Error> {
        let mut netlink = Netlink::open(NETLINK_GENERIC).map_err(|errno| {
            Error::failed("cannot open a netlink socket for offload features (generic netlink)", errno, "")
        })?;
        let family = family(&mut netlink)?;
        Ok(Self { netlink, family })
    }

    /// The features of the interface.
    pub fn features(&mut self, interface: &str) -> Result<Features, Error> {
        let request = Request { command: FEATURES_GET, attributes: vec![header(interface, 0)?] };
        let read =
            |payloads: Vec<Vec<u8>>| match payloads.first().and_then(|payload| payload.get(GENL_HEADER..)) {
                Some(attributes) => Ok(parse_features(attributes)?),
                None => Err(Failure::Malformed("no features in it".to_owned())),
            };
        self.ask(request).and_then(read).map_err(|failure| {
            Error::netlink(format!("read the features of interface {interface:?}"), interface, failure)
        })
    }

    /// Requests features on or off by the kernel's names, and reads back the result.
    ///
    /// Names that this kernel does not know, or that the driver fixes, are not sent but listed in
    /// [`FeatureChange::refused`], as are changes that the kernel undid.
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
            let attributes = vec![header(interface, FLAG_OMIT_REPLY)?, wanted_bits(&sendable)];
            self.ask(Request { command: FEATURES_SET, attributes }).map_err(|failure| {
                let names = sendable.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let action = format!("change the features {names} of interface {interface:?}");
                Error::netlink(action, interface, failure)
            })?;
        }
        let after = self.features(interface)?;
        Ok(FeatureChange::compare(requested, after))
    }

    pub(crate) fn ask(&mut self, request: Request) -> Result<Vec<Vec<u8>>, Failure> {
        let mut message = GenlMessage::from_payload(request);
        message.set_resolved_family_id(self.family);
        self.netlink.ask(message, 0)
    }
}

/// `struct genlmsghdr`: command, version, padding.
pub(crate) const GENL_HEADER: usize = 4;

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

fn family(netlink: &mut Netlink) -> Result<u16, Error> {
    let request = GenlCtrl {
        cmd: GenlCtrlCmd::GetFamily,
        nlas: vec![GenlCtrlAttrs::FamilyName(Request::family_name().to_owned())],
    };
    let payloads = netlink.ask(GenlMessage::from_payload(request), 0).map_err(|failure| match failure {
        Failure::Refused { .. } => no_ethtool(),
        failure => Error::netlink("look for ethtool's netlink family", "", failure),
    })?;
    // One attribute only: the parser of the whole answer does not know those of newer kernels.
    let answer = payloads.first().and_then(|payload| payload.get(GENL_HEADER..)).unwrap_or_default();
    NlasIterator::new(answer)
        .flatten()
        .find(|attribute| libc::c_int::from(attribute.kind()) == libc::CTRL_ATTR_FAMILY_ID)
        .and_then(|attribute| parse_u16(attribute.value()).ok())
        .ok_or_else(no_ethtool)
}

fn no_ethtool() -> Error {
    "this kernel has no ethtool over netlink: offload features need Linux 5.8 or newer, built with CONFIG_ETHTOOL_NETLINK"
        .to_owned()
        .into()
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) command: u8,
    pub(crate) attributes: Vec<DefaultNla>,
}

/// The attribute that names the interface.
pub(crate) fn header(interface: &str, flags: u32) -> Result<DefaultNla, Error> {
    check_name(interface)?;
    let flags = DefaultNla::new(HEADER_FLAGS, flags.to_ne_bytes().to_vec());
    Ok(nested(HEADER, &[string(HEADER_DEV_NAME, interface), flags]))
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
        self.attributes.as_slice().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        self.attributes.as_slice().emit(buffer);
    }
}

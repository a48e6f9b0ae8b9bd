//! Netlink attributes that the linked crates lack.

use netlink_packet_core::{DefaultNla, Emitable, NLA_F_NESTED};

/// An attribute whose value is attributes.
pub(crate) fn nested(kind: u16, inside: &[DefaultNla]) -> DefaultNla {
    DefaultNla::new(kind | NLA_F_NESTED, bytes(inside))
}

/// An attribute whose value is a text with its closing NUL.
pub(crate) fn string(kind: u16, text: &str) -> DefaultNla {
    DefaultNla::new(kind, text.bytes().chain([0]).collect())
}

/// Attributes in the kernel's encoding.
pub(crate) fn bytes(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; attributes.buffer_len()];
    attributes.emit(&mut bytes);
    bytes
}

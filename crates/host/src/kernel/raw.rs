//! Messages of rtnetlink as bytes: kept and sent back as the kernel gave them, also with attributes
//! that the linked crates do not know.

use netlink_packet_core::{NetlinkPayload, NetlinkSerializable};

#[derive(Clone, Debug)]
pub(crate) struct RawMessage {
    /// Its type (`RTM_*`).
    pub(crate) kind: u16,
    /// The bytes after the netlink header.
    pub(crate) payload: Vec<u8>,
}

impl NetlinkSerializable for RawMessage {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.payload.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..self.payload.len()].copy_from_slice(&self.payload);
    }
}

impl From<RawMessage> for NetlinkPayload<RawMessage> {
    fn from(raw: RawMessage) -> Self {
        Self::InnerMessage(raw)
    }
}

/// The type of an attribute without its flags (`NLA_TYPE_MASK`).
pub(crate) const TYPE: u16 = 0x3fff;

/// The attributes in bytes, each with its type and flags. An attribute that is cut short ends them.
pub(crate) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(number(rest, 0)?);
        let (kind, value) = (number(rest, 2)?, rest.get(HEADER..length)?);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

pub(crate) fn push(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    // No attribute of the kernel's is longer.
    let length = u16::try_from(HEADER + value.len()).unwrap_or(u16::MAX);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

pub(crate) fn number(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(crate) fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

// `struct nlattr`.
const HEADER: usize = 4;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn attributes_are_read_as_they_were_written(
            list in prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u8>(), 0..40)), 0..6)
        ) {
            let mut bytes = Vec::new();
            list.iter().for_each(|(kind, value)| push(&mut bytes, *kind, value));
            let read: Vec<_> = attributes(&bytes).map(|(kind, value)| (kind, value.to_vec())).collect();
            prop_assert_eq!(read, list);
        }

        #[test]
        fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert!(attributes(&bytes).count() <= bytes.len() / HEADER);
        }
    }
}

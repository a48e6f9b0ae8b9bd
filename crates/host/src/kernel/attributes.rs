//! Attributes of netlink messages as bytes, also those that no library knows.

use nix::libc;

pub(crate) const TYPE: u16 = libc::NLA_TYPE_MASK as u16;

/// The flag of an attribute whose value is attributes; some families of messages require it.
pub(crate) const NESTED: u16 = libc::NLA_F_NESTED as u16;

// `struct nlattr`: length and type.
const HEADER: usize = 4;

/// The attributes in bytes, each with its type and flags.
pub(crate) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        // A length beyond the bytes, or less than the header's, ends the list.
        let (kind, value) = (u16_at(rest, 2)?, rest.get(HEADER..length)?);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

pub(crate) fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| kind & TYPE == wanted).map(|(_, value)| value)
}

pub(crate) fn push(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    // No attribute of the kernel's is longer.
    let length = u16::try_from(HEADER + value.len()).unwrap_or(u16::MAX);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

pub(crate) fn encode(list: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    list.iter().for_each(|(kind, value)| push(&mut bytes, *kind, value));
    bytes
}

pub(crate) fn number(number: u32) -> Vec<u8> {
    number.to_ne_bytes().to_vec()
}

pub(crate) fn string(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}

pub(crate) fn text(value: &[u8]) -> Option<String> {
    String::from_utf8(value.strip_suffix(b"\0").unwrap_or(value).to_vec()).ok()
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn attributes_are_read_as_they_were_written(
            list in prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u8>(), 0..40)), 0..6)
        ) {
            let bytes = encode(&list);
            let read: Vec<_> = attributes(&bytes).map(|(kind, value)| (kind, value.to_vec())).collect();
            prop_assert_eq!(read, list);
        }

        #[test]
        fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert!(attributes(&bytes).count() <= bytes.len() / HEADER);
        }
    }
}

//! Netlink attributes as the kernel writes them, read without trusting a byte of them.

/// One attribute: its type without the flag bits, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attribute<'a> {
    pub(crate) kind: u16,
    pub(crate) value: &'a [u8],
}

/// Walks the attributes in `bytes`. An attribute that does not fit ends the walk with an error.
pub(crate) fn attributes(bytes: &[u8]) -> Attributes<'_> {
    Attributes { rest: bytes }
}

/// See [`attributes`].
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'a> {
    rest: &'a [u8],
}

/// `struct nlattr`: a 16-bit length that counts this header, and a 16-bit type.
const HEADER: usize = 4;
/// The type's two upper bits are `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`.
const TYPE_MASK: u16 = 0x3fff;

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<Attribute<'a>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let bytes = std::mem::take(&mut self.rest);
        let Some((header, _)) = bytes.split_at_checked(HEADER) else {
            return Some(Err(format!("{} stray bytes after the last attribute", bytes.len())));
        };
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let kind = u16::from_ne_bytes([header[2], header[3]]) & TYPE_MASK;
        let Some(value) = bytes.get(HEADER..length) else {
            return Some(Err(format!("attribute {kind} says {length} bytes, {} are left", bytes.len())));
        };
        self.rest = bytes.get(length.next_multiple_of(HEADER)..).unwrap_or_default();
        Some(Ok(Attribute { kind, value }))
    }
}

/// A 32-bit number, if the value is exactly that.
pub(crate) fn number(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_ne_bytes)
}

/// The text before the first NUL, if it is UTF-8.
pub(crate) fn text(value: &[u8]) -> Option<&str> {
    let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
    std::str::from_utf8(&value[..end]).ok()
}

/// Appends an attribute with its padding. For the requests that netlink-packet-route has no words
/// for.
///
/// `value` is at most 65,531 bytes long: the requests made here are far below.
pub(crate) fn push(buffer: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(HEADER + value.len()).expect("requests are far smaller than 64 KiB");
    buffer.extend_from_slice(&length.to_ne_bytes());
    buffer.extend_from_slice(&kind.to_ne_bytes());
    buffer.extend_from_slice(value);
    buffer.resize(buffer.len().next_multiple_of(HEADER), 0);
}

/// The flag that marks an attribute whose value is attributes.
pub(crate) const NESTED: u16 = 0x8000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_pushed_is_read_back() {
        let mut bytes = Vec::new();
        push(&mut bytes, 7, b"abc");
        push(&mut bytes, 9 | NESTED, &1u32.to_ne_bytes());
        let read: Vec<_> = attributes(&bytes).map(Result::unwrap).collect();
        assert_eq!(
            read,
            [Attribute { kind: 7, value: b"abc" }, Attribute { kind: 9, value: &1u32.to_ne_bytes() }]
        );
    }

    #[test]
    fn a_length_beyond_the_end_or_below_the_header_is_an_error() {
        assert!(attributes(&[9, 0, 1, 0, 0]).next().unwrap().is_err());
        assert!(attributes(&[3, 0, 1, 0]).next().unwrap().is_err());
        assert!(attributes(&[4, 0]).next().unwrap().is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_walked_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let walked: Vec<_> = attributes(&bytes).collect();
            prop_assert!(walked.len() <= bytes.len() / HEADER + 1);
            prop_assert!(walked.iter().rev().skip(1).all(Result::is_ok), "only the last may be an error");
        }

        #[test]
        fn attributes_survive_the_round_trip(
            values in prop::collection::vec((0u16..TYPE_MASK, prop::collection::vec(any::<u8>(), 0..40)), 0..10)
        ) {
            let mut bytes = Vec::new();
            for (kind, value) in &values {
                push(&mut bytes, *kind, value);
            }
            let read: Vec<_> = attributes(&bytes).map(|a| a.map(|a| (a.kind, a.value.to_vec())).unwrap()).collect();
            prop_assert_eq!(read, values);
        }
    }
}

//! The kernel's description of its own types (BTF): the names of its functions and tracepoints.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

/// What BTF says of functions and tracepoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Btf {
    /// Each function, with its number of arguments.
    pub functions: BTreeMap<String, u16>,
    /// The tracepoints that raw tracepoint programs can use.
    pub tracepoints: BTreeSet<String>,
}

/// Why BTF is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BtfError {
    /// The first bytes are not those of BTF of this byte order.
    #[error("it is not BTF of this machine's byte order")]
    Magic,
    /// Something lies beyond the end.
    #[error("it ends early: byte {0} is missing")]
    Short(usize),
    /// A kind of type that this program does not know, so that its length is unknown.
    #[error("type {id} has the unknown kind {kind}")]
    Kind {
        /// The number of the type.
        id: usize,
        /// Its kind.
        kind: u32,
    },
}

/// The first two bytes, in the machine's byte order.
pub(crate) const MAGIC: u16 = 0xeb9f;
/// A tracepoint's typedef begins so.
const TRACEPOINT: &str = "btf_trace_";
const FUNCTION: u32 = 12;
const PROTOTYPE: u32 = 13;
const TYPEDEF: u32 = 8;

impl Btf {
    /// Reads the bytes of `/sys/kernel/btf/vmlinux` (`Documentation/bpf/btf.rst`).
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(bytes: &[u8]) -> Result<Self, BtfError> {
        let magic = bytes.first_chunk().ok_or(BtfError::Short(bytes.len()))?;
        if u16::from_ne_bytes(*magic) != MAGIC {
            return Err(BtfError::Magic);
        }
        let header = word(bytes, 4)?;
        let part = |offset: usize| -> Result<&[u8], BtfError> {
            let start = header.saturating_add(word(bytes, offset)?);
            let end = start.saturating_add(word(bytes, offset + 4)?);
            bytes.get(start..end).ok_or(BtfError::Short(end))
        };
        let (types, texts) = (part(8)?, part(16)?);
        let (mut named, mut arguments, mut found) = (Vec::new(), BTreeMap::new(), Self::default());
        let (mut place, mut id) = (0, 1);
        while place < types.len() {
            let [name, info, target] =
                [word(types, place)?, word(types, place + 4)?, word(types, place + 8)?];
            let (kind, count) = ((info >> 24) as u32 & 0x1f, info & 0xffff);
            match kind {
                FUNCTION => named.extend(text(texts, name).map(|name| (name, target))),
                PROTOTYPE => drop(arguments.insert(id, count as u16)),
                TYPEDEF => {
                    let tracepoint = text(texts, name).and_then(|name| name.strip_prefix(TRACEPOINT));
                    found.tracepoints.extend(tracepoint.map(str::to_owned));
                }
                _ => {}
            }
            place += 12 + more(kind, count).ok_or(BtfError::Kind { id, kind })?;
            id += 1;
        }
        if place > types.len() {
            return Err(BtfError::Short(place));
        }
        let functions =
            named.into_iter().filter_map(|(name, id)| Some((name.to_owned(), *arguments.get(&id)?)));
        found.functions = functions.collect();
        Ok(found)
    }
}

/// The bytes that follow the first 12 of a type.
fn more(kind: u32, count: usize) -> Option<usize> {
    match kind {
        // Integers, variables, tags of declarations.
        1 | 14 | 17 => Some(4),
        3 => Some(12),
        // Structures, unions, sections, 64-bit enumerations.
        4 | 5 | 15 | 19 => Some(12 * count),
        // Enumerations and prototypes.
        6 | PROTOTYPE => Some(8 * count),
        // Pointers, declarations, typedefs, qualifiers, functions, floats, tags of types.
        2 | 7 | TYPEDEF..=FUNCTION | 16 | 18 => Some(0),
        _ => None,
    }
}

fn word(bytes: &[u8], place: usize) -> Result<usize, BtfError> {
    let word = bytes.get(place..).and_then(<[u8]>::first_chunk).ok_or(BtfError::Short(place + 4))?;
    Ok(u32::from_ne_bytes(*word) as usize)
}

/// A name, if it has only printable characters.
fn text(texts: &[u8], place: usize) -> Option<&str> {
    let name = texts.get(place..)?.split(|byte| *byte == 0).next()?;
    let printable = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(name).ok().filter(|_| printable)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// BTF with a prototype of two arguments, a function of it, and a tracepoint's typedef.
    fn sample() -> Vec<u8> {
        let texts = b"\0udp_sendmsg\0btf_trace_sys_enter\0";
        let types: [u32; 13] =
            [0, PROTOTYPE << 24 | 2, 0, 0, 0, 0, 0, 1, FUNCTION << 24, 1, 13, TYPEDEF << 24, 0];
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        for word in [24, 0, 52, 52, texts.len() as u32].into_iter().chain(types) {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(texts);
        bytes
    }

    #[test]
    fn functions_and_tracepoints_are_found() {
        let btf = Btf::parse(&sample()).unwrap();
        assert_eq!(btf.functions, BTreeMap::from([("udp_sendmsg".to_owned(), 2)]));
        assert_eq!(btf.tracepoints, BTreeSet::from(["sys_enter".to_owned()]));
    }

    #[test]
    fn what_is_not_btf_is_refused() {
        assert_eq!(Btf::parse(b"\x7fELF"), Err(BtfError::Magic));
        assert_eq!(Btf::parse(&[]), Err(BtfError::Short(0)));
        let mut unknown = sample();
        unknown[28..32].copy_from_slice(&(31u32 << 24).to_ne_bytes());
        assert_eq!(Btf::parse(&unknown), Err(BtfError::Kind { id: 1, kind: 31 }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Btf::parse(&bytes);
        }

        #[test]
        fn any_damage_is_read_or_refused(at in 2usize..76, value: u8, end in 0usize..200) {
            let mut bytes = sample();
            bytes[at] = value;
            bytes.truncate(end.max(4));
            let _ = Btf::parse(&bytes);
        }
    }
}

//! The kernel's own types (BTF): its functions and tracepoints, and which argument is a packet.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The functions and tracepoints in BTF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Btf {
    /// Functions by name.
    pub functions: BTreeMap<String, Arguments>,
    /// The tracepoints that raw tracepoint programs can use.
    pub tracepoints: BTreeMap<String, Arguments>,
}

/// A fault in the bytes of BTF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum BtfError {
    #[error("it ends early: byte {0} is missing")]
    Short(usize),
    #[error("it is not BTF of this machine's byte order")]
    ByteOrder,
    #[error("type {0} has the unknown kind {1}")]
    UnknownKind(usize, usize),
}

/// The arguments of a function or tracepoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Their number.
    pub count: u16,
    /// The packet among the first three.
    pub packet: Option<Packet>,
}

/// Which argument is a packet (`struct sk_buff *`), from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Packet {
    /// A packet.
    Argument(u8),
    /// A list of packets (`struct list_head *`); only in functions that have no packet beside it.
    List(u8),
}

const MAGIC: u16 = 0xeb9f;
// A type of this name and a tracepoint's describes the arguments that raw programs get.
const TRACEPOINT: &str = "btf_trace_";
const FUNCTION: usize = 12;
const PROTOTYPE: usize = 13;
const TYPEDEF: usize = 8;
const POINTER: usize = 2;
const STRUCTURE: usize = 4;
const CONSTANT: usize = 10;
// Programs do not get the first argument of the prototype of a tracepoint.
const OWN: usize = 1;

impl Btf {
    /// Reads the bytes of `/sys/kernel/btf/vmlinux` (`Documentation/bpf/btf.rst`). Of its functions
    /// and tracepoints, which are tens of thousands, those are kept that are `wanted` by name.
    ///
    /// # Errors
    /// The fault in the bytes.
    pub fn parse(bytes: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Self, BtfError> {
        let types = Types::parse(bytes)?;
        let mut found = Self::default();
        for ([name, kind, target], _) in types.all.iter().copied() {
            let Some(name) = types.text(name) else { continue };
            if kind == FUNCTION && wanted(name) {
                let all = types.prototype(target);
                found.functions.extend(all.map(|all| (name.to_owned(), types.arguments(&all))));
            } else if let (TYPEDEF, Some(name)) = (kind, name.strip_prefix(TRACEPOINT))
                && wanted(name)
            {
                let all = types.target(target, POINTER).and_then(|id| types.prototype(id));
                let given = all.as_ref().and_then(|all| all.get(OWN..)).unwrap_or_default();
                found.tracepoints.insert(name.to_owned(), types.arguments(given));
            }
        }
        Ok(found)
    }
}

struct Types<'b> {
    // The name, kind and target of each type, and its further bytes. Number 0, `void`, is absent.
    all: Vec<([usize; 3], &'b [u8])>,
    texts: &'b [u8],
}

impl<'b> Types<'b> {
    fn parse(bytes: &'b [u8]) -> Result<Self, BtfError> {
        let magic = bytes.first_chunk().ok_or(BtfError::Short(bytes.len()))?;
        if u16::from_ne_bytes(*magic) != MAGIC {
            return Err(BtfError::ByteOrder);
        }
        let header = word(bytes, 4)?;
        let part = |offset: usize| -> Result<&'b [u8], BtfError> {
            let start = header.saturating_add(word(bytes, offset)?);
            let end = start.saturating_add(word(bytes, offset + 4)?);
            bytes.get(start..end).ok_or(BtfError::Short(end))
        };
        let (types, texts) = (part(8)?, part(16)?);
        let (mut all, mut place) = (Vec::new(), 0);
        while place < types.len() {
            let [name, info, target] = [0, 4, 8].map(|offset| word(types, place + offset));
            let (kind, count) = info.map(|info| (info >> 24 & 0x1f, info & 0xffff))?;
            let id = all.len() + 1;
            let length = body_bytes(kind, count).ok_or(BtfError::UnknownKind(id, kind))?;
            let (start, end) = (place + 12, place + 12 + length);
            all.push(([name?, kind, target?], types.get(start..end).ok_or(BtfError::Short(end))?));
            place = end;
        }
        Ok(Self { all, texts })
    }

    fn of_kind(&self, id: usize, kind: usize) -> Option<&([usize; 3], &'b [u8])> {
        self.all.get(id.checked_sub(1)?).filter(|(fields, _)| fields[1] == kind)
    }

    fn target(&self, id: usize, kind: usize) -> Option<usize> {
        self.of_kind(id, kind).map(|(fields, _)| fields[2])
    }

    fn prototype(&self, id: usize) -> Option<Vec<usize>> {
        let (_, arguments) = self.of_kind(id, PROTOTYPE)?;
        Some(arguments.chunks_exact(8).filter_map(|one| word(one, 4).ok()).collect())
    }

    fn arguments(&self, each: &[usize]) -> Arguments {
        let first_of = |structure: &str| {
            let is = |id: &usize| {
                let target = self.target(*id, POINTER);
                let target = target.map(|id| self.target(id, CONSTANT).unwrap_or(id));
                let name = target.and_then(|id| self.text(self.of_kind(id, STRUCTURE)?.0[0]));
                name == Some(structure)
            };
            each.iter().take(3).position(is).map(|index| index as u8)
        };
        let packet = first_of("sk_buff").map(Packet::Argument);
        let packet = packet.or_else(|| first_of("list_head").map(Packet::List));
        Arguments { count: each.len().try_into().unwrap_or(u16::MAX), packet }
    }

    fn text(&self, place: usize) -> Option<&'b str> {
        let name = self.texts.get(place..)?.split(|byte| *byte == 0).next()?;
        // Names reach a terminal: no control character does.
        let printable = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
        std::str::from_utf8(name).ok().filter(|_| printable)
    }
}

fn body_bytes(kind: usize, count: usize) -> Option<usize> {
    match kind {
        // Integers, variables, tags of declarations.
        1 | 14 | 17 => Some(4),
        3 => Some(12),
        // Structures, unions, sections, 64-bit enumerations.
        STRUCTURE | 5 | 15 | 19 => Some(12 * count),
        // Enumerations and prototypes.
        6 | PROTOTYPE => Some(8 * count),
        // Pointers, declarations, typedefs, qualifiers, functions, floats, tags of types.
        POINTER | 7 | TYPEDEF..=FUNCTION | 16 | 18 => Some(0),
        _ => None,
    }
}

fn word(bytes: &[u8], place: usize) -> Result<usize, BtfError> {
    let word = bytes.get(place..).and_then(<[u8]>::first_chunk).ok_or(BtfError::Short(place + 4))?;
    Ok(u32::from_ne_bytes(*word) as usize)
}

#[cfg(test)]
mod tests;

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
    pub fn parse(bytes: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Self, String> {
        let types = Types::parse(bytes)?;
        let mut found = Self::default();
        for place in &types.places {
            let Some([name, kind @ (FUNCTION | TYPEDEF), target]) = types.fields_at(*place) else { continue };
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
    types: &'b [u8],
    texts: &'b [u8],
    places: Vec<usize>,
}

impl<'b> Types<'b> {
    fn parse(bytes: &'b [u8]) -> Result<Self, String> {
        let magic = bytes.first_chunk().ok_or_else(|| short(bytes.len()))?;
        if u16::from_ne_bytes(*magic) != MAGIC {
            return Err("it is not BTF of this machine's byte order".to_owned());
        }
        let header = word(bytes, 4)?;
        let part = |offset: usize| -> Result<&'b [u8], String> {
            let start = header.saturating_add(word(bytes, offset)?);
            let end = start.saturating_add(word(bytes, offset + 4)?);
            bytes.get(start..end).ok_or_else(|| short(end))
        };
        let (types, texts) = (part(8)?, part(16)?);
        let (mut places, mut place) = (Vec::new(), 0);
        while place < types.len() {
            let (kind, count) = split(word(types, place + 4)?);
            // Number 0 is `void`, and has no place.
            let id = places.len() + 1;
            places.push(place);
            place += 12
                + body_bytes(kind, count).ok_or_else(|| format!("type {id} has the unknown kind {kind}"))?;
        }
        if place > types.len() {
            return Err(short(place));
        }
        Ok(Self { types, texts, places })
    }

    fn fields_at(&self, place: usize) -> Option<[usize; 3]> {
        let [name, info, target] = [0, 4, 8].map(|offset| word(self.types, place + offset).ok());
        Some([name?, split(info?).0, target?])
    }

    fn of_kind(&self, id: usize, kind: usize) -> Option<usize> {
        let place = *self.places.get(id.checked_sub(1)?)?;
        (self.fields_at(place)?[1] == kind).then_some(place)
    }

    fn target(&self, id: usize, kind: usize) -> Option<usize> {
        Some(self.fields_at(self.of_kind(id, kind)?)?[2])
    }

    fn prototype(&self, id: usize) -> Option<Vec<usize>> {
        let place = self.of_kind(id, PROTOTYPE)?;
        let (_, count) = split(word(self.types, place + 4).ok()?);
        let each = self.types.get(place + 12..)?.chunks_exact(8).take(count);
        Some(each.filter_map(|one| word(one, 4).ok()).collect())
    }

    fn arguments(&self, each: &[usize]) -> Arguments {
        let first_of = |structure: &str| {
            let is = |id: &usize| {
                let target = self.target(*id, POINTER);
                let target = target.map(|id| self.target(id, CONSTANT).unwrap_or(id));
                let place = target.and_then(|id| self.of_kind(id, STRUCTURE));
                let name = place.and_then(|place| self.text(self.fields_at(place)?[0]));
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

fn split(info: usize) -> (usize, usize) {
    (info >> 24 & 0x1f, info & 0xffff)
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

fn word(bytes: &[u8], place: usize) -> Result<usize, String> {
    let word = bytes.get(place..).and_then(<[u8]>::first_chunk).ok_or_else(|| short(place + 4))?;
    Ok(u32::from_ne_bytes(*word) as usize)
}

fn short(missing: usize) -> String {
    format!("it ends early: byte {missing} is missing")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// BTF with a packet's structure and its pointer, a prototype with a number and a packet, a
    /// function of it, and a tracepoint of the same arguments.
    fn sample() -> Vec<u8> {
        let texts = b"\0udp_sendmsg\0btf_trace_sys_enter\0sk_buff\0";
        let (packet, pointer, prototype, of) = (1, 2, 3, 4);
        let types: [[u32; 3]; 7] = [
            [33, (STRUCTURE as u32) << 24, 0],
            [0, (POINTER as u32) << 24, packet],
            [0, (PROTOTYPE as u32) << 24 | 2, 0],
            // The prototype's arguments: a name and a type each.
            [0, 0, 0],
            [pointer, 1, (FUNCTION as u32) << 24],
            [prototype, 0, (POINTER as u32) << 24],
            [prototype, 13, (TYPEDEF as u32) << 24],
        ];
        let types: Vec<u32> = types.into_iter().flatten().chain([of + 1]).collect();
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        let length = 4 * types.len() as u32;
        for word in [24, 0, length, length, texts.len() as u32].into_iter().chain(types) {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(texts);
        bytes
    }

    #[test]
    fn functions_and_tracepoints_are_found() {
        let btf = Btf::parse(&sample(), |_| true).unwrap();
        let function = Arguments { count: 2, packet: Some(Packet::Argument(1)) };
        assert_eq!(btf.functions, BTreeMap::from([("udp_sendmsg".to_owned(), function)]));
        assert_eq!(Btf::parse(&sample(), |name| name == "udp_send").unwrap(), Btf::default());
        // Its own first argument is not given.
        let tracepoint = Arguments { count: 1, packet: Some(Packet::Argument(0)) };
        assert_eq!(btf.tracepoints, BTreeMap::from([("sys_enter".to_owned(), tracepoint)]));
    }

    #[test]
    fn this_kernel_says_where_its_packets_are() {
        let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else { return };
        let btf = Btf::parse(&bytes, |_| true).unwrap();
        let of = |name: &str| btf.functions.get(name).and_then(|function| function.packet);
        assert_eq!(of("ip_rcv"), Some(Packet::Argument(0)));
        assert_eq!(of("ip_list_rcv"), Some(Packet::List(0)));
        assert_eq!(of("udp_queue_rcv_one_skb"), Some(Packet::Argument(1)));
        assert_eq!(of("sock_def_readable"), None);
        let copy = btf.tracepoints["skb_copy_datagram_iovec"];
        assert_eq!(copy, Arguments { count: 2, packet: Some(Packet::Argument(0)) });
    }

    #[test]
    fn what_is_not_btf_is_refused() {
        let refused = |bytes: &[u8]| Btf::parse(bytes, |_| true).unwrap_err();
        assert_eq!(refused(b"\x7fELF"), "it is not BTF of this machine's byte order");
        assert_eq!(refused(&[]), "it ends early: byte 0 is missing");
        let mut unknown = sample();
        unknown[28..32].copy_from_slice(&(31u32 << 24).to_ne_bytes());
        assert_eq!(refused(&unknown), "type 1 has the unknown kind 31");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Btf::parse(&bytes, |_| true);
        }

        #[test]
        fn any_damage_is_read_or_refused(at in 2usize..112, value: u8, end in 0usize..200) {
            let mut bytes = sample();
            bytes[at] = value;
            bytes.truncate(end.max(4));
            let _ = Btf::parse(&bytes, |_| true);
        }
    }
}

//! The features in the kernel's bytes: ethtool's verbose bit sets, read without trusting them.
//!
//! Formats after the kernel's documentation of the ethtool netlink interface, "Bit sets" and
//! `FEATURES_GET`.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::attributes::{NESTED, attributes, push, text};
use crate::link::features::{FeatureState, Features};

/// Reads the attributes of a `FEATURES_GET_REPLY`.
pub(crate) fn parse_features(bytes: &[u8]) -> Result<Features, String> {
    let mut sets: BTreeMap<u16, Bits<'_>> = BTreeMap::new();
    for attribute in attributes(bytes) {
        let attribute = attribute?;
        if matches!(attribute.kind, HW | WANTED | ACTIVE | NOCHANGE) {
            sets.insert(attribute.kind, Bits::parse(attribute.value)?);
        }
    }
    let mut set = |kind: u16, name: &str| sets.remove(&kind).ok_or_else(|| format!("no bit set {name:?}"));
    let (hardware, wanted) = (set(HW, "hw")?, set(WANTED, "wanted")?);
    let (active, fixed) = (set(ACTIVE, "active")?, set(NOCHANGE, "nochange")?);
    // `hw` comes with a mask of all features that this kernel knows; the other sets list only what
    // is set in them.
    let state = |name: &str| FeatureState {
        active: active.set.contains(name),
        wanted: wanted.set.contains(name),
        changeable: hardware.set.contains(name) && !fixed.set.contains(name),
    };
    Ok(hardware.known.iter().map(|name| ((*name).to_owned(), state(name))).collect())
}

/// Writes the bit set of a `FEATURES_SET`: each named feature is to be changed, and to this value.
pub(crate) fn wanted_bits(requested: &BTreeMap<String, bool>) -> Vec<u8> {
    let mut bits = Vec::new();
    for (name, &on) in requested {
        let mut bit = Vec::new();
        let name: Vec<u8> = name.bytes().chain([0]).collect();
        push(&mut bit, BIT_NAME, &name);
        if on {
            push(&mut bit, BIT_VALUE, &[]);
        }
        push(&mut bits, BITS_BIT | NESTED, &bit);
    }
    let mut set = Vec::new();
    push(&mut set, BITSET_BITS | NESTED, &bits);
    let mut wanted = Vec::new();
    push(&mut wanted, WANTED | NESTED, &set);
    wanted
}

/// `ETHTOOL_A_FEATURES_*`.
const HW: u16 = 2;
const WANTED: u16 = 3;
const ACTIVE: u16 = 4;
const NOCHANGE: u16 = 5;
/// `ETHTOOL_A_BITSET_*`.
const BITSET_NOMASK: u16 = 1;
const BITSET_BITS: u16 = 3;
/// `ETHTOOL_A_BITSET_BITS_BIT`.
const BITS_BIT: u16 = 1;
/// `ETHTOOL_A_BITSET_BIT_*`.
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

/// A verbose bit set.
#[derive(Debug, Default)]
struct Bits<'a> {
    /// The names listed.
    known: BTreeSet<&'a str>,
    /// Of those, the names set.
    set: BTreeSet<&'a str>,
}

impl<'a> Bits<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let mut list = None;
        let mut masked = true;
        for attribute in attributes(bytes) {
            let attribute = attribute?;
            match attribute.kind {
                BITSET_NOMASK => masked = false,
                BITSET_BITS => list = Some(attribute.value),
                _ => {}
            }
        }
        let mut bits = Self::default();
        for attribute in attributes(list.ok_or("a bit set without a list of names")?) {
            let attribute = attribute?;
            if attribute.kind == BITS_BIT {
                bits.add(attribute.value, masked)?;
            }
        }
        Ok(bits)
    }

    fn add(&mut self, bytes: &'a [u8], masked: bool) -> Result<(), String> {
        let mut name = None;
        let mut value = !masked;
        for attribute in attributes(bytes) {
            let attribute = attribute?;
            match attribute.kind {
                BIT_NAME => name = Some(text(attribute.value).ok_or("the name of a bit is not UTF-8")?),
                BIT_VALUE => value = true,
                _ => {}
            }
        }
        // A bit that this kernel reserves without a name cannot be spoken of.
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.known.insert(name);
            if value {
                self.set.insert(name);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A bit set as the kernel writes it: with a mask every known name and a flag on those set,
    /// without one only those set.
    fn bitset(kind: u16, bits: &[(&str, bool)], masked: bool) -> Vec<u8> {
        let mut list = Vec::new();
        for (index, (name, set)) in bits.iter().enumerate() {
            if !masked && !set {
                continue;
            }
            let mut bit = Vec::new();
            push(&mut bit, 1, &u32::try_from(index).unwrap().to_ne_bytes());
            push(&mut bit, BIT_NAME, format!("{name}\0").as_bytes());
            if masked && *set {
                push(&mut bit, BIT_VALUE, &[]);
            }
            push(&mut list, BITS_BIT | NESTED, &bit);
        }
        let mut set = Vec::new();
        if !masked {
            push(&mut set, BITSET_NOMASK, &[]);
        }
        push(&mut set, 2, &64u32.to_ne_bytes());
        push(&mut set, BITSET_BITS | NESTED, &list);
        let mut bytes = Vec::new();
        push(&mut bytes, kind | NESTED, &set);
        bytes
    }

    fn reply(features: &[(&str, bool, bool, bool, bool)]) -> Vec<u8> {
        let of = |choose: fn(&(&str, bool, bool, bool, bool)) -> bool| -> Vec<(String, bool)> {
            features.iter().map(|feature| (feature.0.to_owned(), choose(feature))).collect()
        };
        let write = |kind, list: Vec<(String, bool)>, masked| {
            let list: Vec<_> = list.iter().map(|(name, set)| (name.as_str(), *set)).collect();
            bitset(kind, &list, masked)
        };
        [
            write(HW, of(|f| f.1), true),
            write(WANTED, of(|f| f.2), false),
            write(ACTIVE, of(|f| f.3), false),
            write(NOCHANGE, of(|f| f.4), false),
        ]
        .concat()
    }

    #[test]
    fn a_reply_is_read() {
        let bytes = reply(&[
            ("tso", true, true, false, false),
            ("gro", true, true, true, false),
            ("lockless", false, false, true, true),
            ("odd", true, false, false, true),
            ("", true, true, true, false),
        ]);
        let features = parse_features(&bytes).unwrap();
        let state = |active, wanted, changeable| FeatureState { active, wanted, changeable };
        let expected = [
            ("tso", state(false, true, true)),
            ("gro", state(true, true, true)),
            ("lockless", state(true, false, false)),
            ("odd", state(false, false, false)),
        ];
        assert_eq!(features, expected.map(|(name, state)| (name.to_owned(), state)).into());
    }

    #[test]
    fn a_set_that_is_missing_is_an_error() {
        let bytes = bitset(HW, &[("tso", true)], true);
        assert_eq!(parse_features(&bytes).unwrap_err(), "no bit set \"wanted\"");
    }

    #[test]
    fn a_wish_is_a_masked_bit_set() {
        let requested: BTreeMap<_, _> = [("a".to_owned(), true), ("b".to_owned(), false)].into();
        let bytes = wanted_bits(&requested);
        let outer = attributes(&bytes).next().unwrap().unwrap();
        assert_eq!(outer.kind, WANTED);
        let bits = Bits::parse(outer.value).unwrap();
        assert_eq!(bits.known, ["a", "b"].into());
        assert_eq!(bits.set, ["a"].into());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse_features(&bytes);
        }

        #[test]
        fn a_damaged_reply_is_read_or_refused(
            at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()
        ) {
            let mut bytes = reply(&[("tso", true, true, false, false), ("gro", true, true, true, true)]);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = parse_features(&bytes);
            bytes.truncate(cut.index(bytes.len()));
            let _ = parse_features(&bytes);
        }

        #[test]
        fn every_state_survives(
            list in prop::collection::btree_map("[a-z-]{1,12}", any::<(bool, bool, bool, bool)>(), 0..20)
        ) {
            let features: Vec<_> = list.iter().map(|(name, f)| (name.as_str(), f.0, f.1, f.2, f.3)).collect();
            let read = parse_features(&reply(&features)).unwrap();
            prop_assert_eq!(read.len(), list.len());
            for (name, (hardware, wanted, active, fixed)) in list {
                prop_assert_eq!(read[&name], FeatureState { active, wanted, changeable: hardware && !fixed });
            }
        }
    }
}

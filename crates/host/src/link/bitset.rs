//! The features in the kernel's encoding: ethtool's verbose bit sets.
//!
//! No linked crate has ethtool's messages, so they are made here of the linked attributes. The
//! formats are those of the kernel's documentation of the ethtool netlink interface, "Bit sets" and
//! `FEATURES_GET`.

use std::collections::{BTreeMap, BTreeSet};

use netlink_packet_core::{DecodeError, DefaultNla, NlasIterator, parse_string};

use crate::kernel::attributes::{nested, string};
use crate::link::features::{FeatureState, Features};

/// Reads the attributes of a `FEATURES_GET_REPLY`.
pub(crate) fn parse_features(bytes: &[u8]) -> Result<Features, DecodeError> {
    let mut sets: BTreeMap<u16, Bits> = BTreeMap::new();
    for attribute in NlasIterator::new(bytes) {
        let attribute = attribute?;
        if matches!(attribute.kind(), HW | WANTED | ACTIVE | NOCHANGE) {
            sets.insert(attribute.kind(), Bits::parse(attribute.value())?);
        }
    }
    let mut set = |kind: u16, name: &str| sets.remove(&kind).ok_or_else(|| format!("no bit set {name:?}"));
    let (hardware, wanted) = (set(HW, "hw")?, set(WANTED, "wanted")?);
    let (active, fixed) = (set(ACTIVE, "active")?, set(NOCHANGE, "nochange")?);
    // `hw` has a mask of all features that this kernel knows; the other sets list only set bits.
    let state = |name: &String| FeatureState {
        active: active.set.contains(name),
        wanted: wanted.set.contains(name),
        changeable: hardware.set.contains(name) && !fixed.set.contains(name),
    };
    Ok(hardware.known.iter().map(|name| (name.clone(), state(name))).collect())
}

/// The bit set of a `FEATURES_SET`: each named feature with its new value.
pub(crate) fn wanted_bits(requested: &BTreeMap<String, bool>) -> DefaultNla {
    let bit = |(name, &on): (&String, &bool)| {
        let value = on.then(|| DefaultNla::new(BIT_VALUE, Vec::new()));
        nested(BITS_BIT, &[string(BIT_NAME, name)].into_iter().chain(value).collect::<Vec<_>>())
    };
    let bits: Vec<_> = requested.iter().map(bit).collect();
    nested(WANTED, &[nested(BITSET_BITS, &bits)])
}

// `ETHTOOL_A_FEATURES_*`.
const HW: u16 = 2;
const WANTED: u16 = 3;
const ACTIVE: u16 = 4;
const NOCHANGE: u16 = 5;
// `ETHTOOL_A_BITSET_*`.
const BITSET_NOMASK: u16 = 1;
const BITSET_BITS: u16 = 3;
// `ETHTOOL_A_BITSET_BITS_BIT`.
const BITS_BIT: u16 = 1;
// `ETHTOOL_A_BITSET_BIT_*`.
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

#[derive(Debug, Default)]
struct Bits {
    known: BTreeSet<String>,
    set: BTreeSet<String>,
}

impl Bits {
    fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        let attributes = NlasIterator::new(bytes).collect::<Result<Vec<_>, _>>()?;
        let masked = !attributes.iter().any(|attribute| attribute.kind() == BITSET_NOMASK);
        let list = attributes.iter().find(|attribute| attribute.kind() == BITSET_BITS);
        let mut bits = Self::default();
        for bit in NlasIterator::new(list.ok_or("a bit set without a list of names")?.value()) {
            let bit = bit?;
            if bit.kind() == BITS_BIT {
                bits.add(bit.value(), masked)?;
            }
        }
        Ok(bits)
    }

    fn add(&mut self, bytes: &[u8], masked: bool) -> Result<(), DecodeError> {
        let mut name = String::new();
        let mut value = !masked;
        for attribute in NlasIterator::new(bytes) {
            let attribute = attribute?;
            match attribute.kind() {
                BIT_NAME => name = parse_string(attribute.value())?,
                BIT_VALUE => value = true,
                _ => {}
            }
        }
        // Skips reserved bits without a name.
        if !name.is_empty() {
            if value {
                self.set.insert(name.clone());
            }
            self.known.insert(name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::attributes::bytes;

    /// A bit set as the kernel writes it: with a mask every known name and a flag for set ones,
    /// without a mask only set ones.
    fn bitset(kind: u16, bits: &[(&str, bool)], masked: bool) -> DefaultNla {
        let flag = |kind| DefaultNla::new(kind, Vec::new());
        let listed = bits.iter().filter(|(_, set)| masked || *set);
        let bit = |(name, set): &(&str, bool)| {
            let index = DefaultNla::new(1, vec![0; 4]);
            let value = (masked && *set).then(|| flag(BIT_VALUE));
            nested(BITS_BIT, &[index, string(BIT_NAME, name)].into_iter().chain(value).collect::<Vec<_>>())
        };
        let list = nested(BITSET_BITS, &listed.map(bit).collect::<Vec<_>>());
        let size = DefaultNla::new(2, 64u32.to_ne_bytes().to_vec());
        let without = (!masked).then(|| flag(BITSET_NOMASK));
        nested(kind, &without.into_iter().chain([size, list]).collect::<Vec<_>>())
    }

    /// A reply with each feature's name, and whether it is in `hw`, `wanted`, `active`, `nochange`.
    fn reply(features: &[(&str, [bool; 4])]) -> Vec<u8> {
        let set = |(index, kind)| {
            let bits: Vec<_> = features.iter().map(|(name, sets)| (*name, sets[index])).collect();
            bitset(kind, &bits, kind == HW)
        };
        let sets = [HW, WANTED, ACTIVE, NOCHANGE].into_iter().enumerate().map(set);
        bytes(&sets.collect::<Vec<_>>())
    }

    #[test]
    fn a_reply_is_read() {
        let bytes = reply(&[
            ("tso", [true, true, false, false]),
            ("gro", [true, true, true, false]),
            ("lockless", [false, false, true, true]),
            ("odd", [true, false, false, true]),
            ("", [true, true, true, false]),
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
        let bytes = bytes(&[bitset(HW, &[("tso", true)], true)]);
        assert_eq!(parse_features(&bytes).unwrap_err().to_string(), "no bit set \"wanted\"");
    }

    #[test]
    fn a_request_is_a_masked_bit_set() {
        let requested = [("a".to_owned(), true), ("b".to_owned(), false)].into();
        let bytes = bytes(&[wanted_bits(&requested)]);
        let outer = NlasIterator::new(&bytes).next().unwrap().unwrap();
        assert_eq!(outer.kind(), WANTED);
        let bits = Bits::parse(outer.value()).unwrap();
        assert_eq!(bits.known, ["a", "b"].map(str::to_owned).into());
        assert_eq!(bits.set, ["a".to_owned()].into());
    }

    proptest! {
        #[test]
        fn a_damaged_reply_is_read_or_refused(
            at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()
        ) {
            let mut bytes = reply(&[("tso", [true, true, false, false]), ("gro", [true; 4])]);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = parse_features(&bytes);
            bytes.truncate(cut.index(bytes.len()));
            let _ = parse_features(&bytes);
        }

        #[test]
        fn every_state_survives(list in prop::collection::btree_map("[a-z-]{1,12}", any::<[bool; 4]>(), 0..20)) {
            let features: Vec<_> = list.iter().map(|(name, sets)| (name.as_str(), *sets)).collect();
            let read = parse_features(&reply(&features)).unwrap();
            prop_assert_eq!(read.len(), list.len());
            for (name, [hardware, wanted, active, fixed]) in list {
                prop_assert_eq!(read[&name], FeatureState { active, wanted, changeable: hardware && !fixed });
            }
        }
    }
}

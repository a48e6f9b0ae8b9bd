//! Offload features of an interface, the result of a change, and ethtool's verbose bit sets ("Bit
//! sets" and `FEATURES_GET` in the kernel's documentation of the ethtool netlink interface).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::kernel::attributes::{NESTED, TYPE, attribute, attributes, encode, string, text};

/// The features of an interface by the kernel's names (`tx-tcp-segmentation`, `rx-gro` …).
pub type Features = BTreeMap<String, FeatureState>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FeatureState {
    pub active: bool,
    /// Differs from `active` while a feature that it needs is off.
    pub wanted: bool,
    /// `false` is ethtool's `[fixed]`.
    pub changeable: bool,
}

/// The result of a request to change settings of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsChange<K, V> {
    /// As read back.
    pub after: BTreeMap<K, V>,
    /// Each request that was not applied, with the reason.
    pub refused: BTreeMap<K, String>,
}

/// The result of a request to change features.
pub type FeatureChange = SettingsChange<String, FeatureState>;

impl FeatureChange {
    /// Whether a request changes any feature of an interface with these features.
    pub fn is_needed(now: &Features, requested: &BTreeMap<String, bool>) -> bool {
        !sendable(requested, now).is_empty()
    }

    pub(crate) fn compare(asked: &BTreeMap<String, bool>, after: Features) -> Self {
        let refusal = |(name, &on): (&String, &bool)| {
            let reason = match after.get(name) {
                None => "this kernel has no such feature",
                Some(state) if state.active == on => return None,
                Some(FeatureState { changeable: false, .. }) => FIXED,
                Some(_) => "the kernel undid it, because of a feature that it depends on",
            };
            Some((name.clone(), reason.to_owned()))
        };
        Self { refused: asked.iter().filter_map(refusal).collect(), after }
    }
}

/// The part of a request that is to be sent.
pub(crate) fn sendable(requested: &BTreeMap<String, bool>, before: &Features) -> BTreeMap<String, bool> {
    // The kernel refuses an empty change from a process that may change nothing.
    let differs = |state: &FeatureState, on: bool| state.wanted != on || state.active != on;
    // It refuses a whole request for one unknown or fixed name.
    let can = |name: &String, on: bool| {
        before.get(name).is_some_and(|state| state.changeable && differs(state, on))
    };
    requested.iter().filter(|(name, on)| can(name, **on)).map(|(name, &on)| (name.clone(), on)).collect()
}

const FIXED: &str = "the driver does not let it be switched [fixed]";

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

pub(crate) fn parse_features(bytes: &[u8]) -> Option<Features> {
    let set = |kind: u16| bits(attribute(bytes, kind)?);
    // `hw` has a mask of all features that this kernel knows; the other sets list only set bits.
    let ([known, hardware], [_, wanted], [_, active], [_, fixed]) =
        (set(HW)?, set(WANTED)?, set(ACTIVE)?, set(NOCHANGE)?);
    let state = |name: &String| FeatureState {
        active: active.contains(name),
        wanted: wanted.contains(name),
        changeable: hardware.contains(name) && !fixed.contains(name),
    };
    Some(known.iter().map(|name| (name.clone(), state(name))).collect())
}

pub(crate) fn wanted_bits(requested: &BTreeMap<String, bool>) -> (u16, Vec<u8>) {
    let bit = |(name, on): (&String, &bool)| {
        let mut bit = vec![(BIT_NAME, string(name))];
        bit.extend(on.then(|| (BIT_VALUE, Vec::new())));
        (BITS_BIT | NESTED, encode(&bit))
    };
    let bits: Vec<_> = requested.iter().map(bit).collect();
    (WANTED | NESTED, encode(&[(BITSET_BITS | NESTED, encode(&bits))]))
}

/// The names in a bit set, and those whose bits are set.
fn bits(bytes: &[u8]) -> Option<[BTreeSet<String>; 2]> {
    let masked = attribute(bytes, BITSET_NOMASK).is_none();
    let list = attributes(attribute(bytes, BITSET_BITS)?).filter(|(kind, _)| kind & TYPE == BITS_BIT);
    let (mut known, mut set) = (BTreeSet::new(), BTreeSet::new());
    for (_, bit) in list {
        let name = attribute(bit, BIT_NAME).and_then(text).unwrap_or_default();
        // Skips reserved bits without a name.
        if !name.is_empty() {
            if !masked || attribute(bit, BIT_VALUE).is_some() {
                set.insert(name.clone());
            }
            known.insert(name);
        }
    }
    Some([known, set])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn features(list: &[(&str, bool, bool)]) -> Features {
        list.iter()
            .map(|&(name, active, changeable)| {
                (name.to_owned(), FeatureState { active, wanted: active, changeable })
            })
            .collect()
    }

    fn asked(list: &[(&str, bool)]) -> BTreeMap<String, bool> {
        list.iter().map(|&(name, on)| (name.to_owned(), on)).collect()
    }

    #[test]
    fn each_kind_of_refusal_is_distinguished() {
        let after = features(&[("csum", false, true), ("tso", false, true), ("llt", false, false)]);
        let requested = asked(&[("tso", true), ("llt", true), ("nonsense", true), ("csum", false)]);
        let refused = FeatureChange::compare(&requested, after.clone()).refused;
        let expected = [("llt", "[fixed]"), ("nonsense", "no such feature"), ("tso", "depends on")];
        for ((name, why), (expected, words)) in refused.iter().zip(expected) {
            assert!(name == expected && why.contains(words), "{refused:?}");
        }
        assert_eq!(refused.len(), expected.len());
        let stays = FeatureChange::compare(&asked(&[("llt", false)]), after);
        assert_eq!(stays.refused, BTreeMap::new(), "a fixed feature asked to stay as it is");
    }

    #[test]
    fn only_what_can_be_switched_is_sent() {
        let before = features(&[("tso", true, true), ("llt", true, false), ("gro", true, true)]);
        let requested = asked(&[("tso", false), ("llt", false), ("nonsense", true), ("gro", true)]);
        assert_eq!(sendable(&requested, &before), asked(&[("tso", false)]));
    }

    proptest! {
        #[test]
        fn every_request_is_fulfilled_or_refused(
            requested in prop::collection::btree_map("[a-h]", any::<bool>(), 0..8),
            after in prop::collection::btree_map("[a-f]", any::<[bool; 2]>(), 0..6),
        ) {
            let after: Features = after
                .into_iter()
                .map(|(name, [active, changeable])| (name, FeatureState { active, wanted: active, changeable }))
                .collect();
            let change = FeatureChange::compare(&requested, after.clone());
            for (name, &on) in &requested {
                let fulfilled = after.get(name).is_some_and(|state| state.active == on);
                prop_assert_eq!(fulfilled, !change.refused.contains_key(name));
            }
            prop_assert!(change.refused.keys().all(|name| requested.contains_key(name)));
        }
    }

    /// A bit set as the kernel writes it: with a mask every known name and a flag for set ones,
    /// without a mask only set ones.
    fn bitset(kind: u16, bits: &[(&str, bool)], masked: bool) -> (u16, Vec<u8>) {
        let flag = |kind| (kind, Vec::new());
        let listed = bits.iter().filter(|(_, set)| masked || *set);
        let bit = |(name, set): &(&str, bool)| {
            let value = (masked && *set).then(|| flag(BIT_VALUE));
            let named = [(1, vec![0; 4]), (BIT_NAME, string(name))];
            (BITS_BIT | NESTED, encode(&named.into_iter().chain(value).collect::<Vec<_>>()))
        };
        let list = (BITSET_BITS | NESTED, encode(&listed.map(bit).collect::<Vec<_>>()));
        let size = (2, 64u32.to_ne_bytes().to_vec());
        let without = (!masked).then(|| flag(BITSET_NOMASK));
        (kind | NESTED, encode(&without.into_iter().chain([size, list]).collect::<Vec<_>>()))
    }

    /// A reply with each feature's name, and whether it is in `hw`, `wanted`, `active`, `nochange`.
    fn reply(features: &[(&str, [bool; 4])]) -> Vec<u8> {
        let set = |(index, kind)| {
            let bits: Vec<_> = features.iter().map(|(name, sets)| (*name, sets[index])).collect();
            bitset(kind, &bits, kind == HW)
        };
        let sets = [HW, WANTED, ACTIVE, NOCHANGE].into_iter().enumerate().map(set);
        encode(&sets.collect::<Vec<_>>())
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
        assert_eq!(parse_features(&encode(&[bitset(HW, &[("tso", true)], true)])), None);
    }

    #[test]
    fn a_request_is_a_masked_bit_set() {
        let requested = [("a".to_owned(), true), ("b".to_owned(), false)].into();
        let bytes = encode(&[wanted_bits(&requested)]);
        let [known, set] = bits(attribute(&bytes, WANTED).unwrap()).unwrap();
        assert_eq!(known, ["a", "b"].map(str::to_owned).into());
        assert_eq!(set, ["a".to_owned()].into());
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

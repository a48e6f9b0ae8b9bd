//! Offload features of an interface, the result of a change, and ethtool's verbose bit sets ("Bit
//! sets" and `FEATURES_GET` in the kernel's documentation of the ethtool netlink interface).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::kernel::attributes::{NESTED, TYPE, attribute, attributes, encode, string, text};

/// The features of an interface by the kernel's names (`tx-tcp-segmentation`, `rx-gro` …).
pub type Features = BTreeMap<String, FeatureState>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
                Some(state) if !state.changeable => "the driver does not let it be switched [fixed]",
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
mod tests;

//! Offload features of an interface: their state, and the result of a change.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The features of an interface by the kernel's names (`tx-tcp-segmentation`, `rx-gro` …, as
/// `ethtool -k` prints them apart from its few collective names).
pub type Features = BTreeMap<String, FeatureState>;

/// The state of one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureState {
    /// Whether it is active.
    pub active: bool,
    /// Whether it was requested; it differs from `active` while a feature that it needs is off.
    pub wanted: bool,
    /// Whether the driver allows a change. `false` is ethtool's `[fixed]`.
    pub changeable: bool,
}

/// The result of a request to change features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureChange {
    /// The state afterwards, read back.
    pub after: Features,
    /// Each request that was not applied, with the reason.
    pub refused: BTreeMap<String, RefusalReason>,
}

/// Why a request was not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// This kernel has no feature of that name.
    Unknown,
    /// The driver does not allow a change (ethtool's `[fixed]`).
    Fixed,
    /// The kernel or the driver undid it, because it depends on another feature, for example
    /// segmentation on checksumming.
    Dependency,
}

impl FeatureChange {
    /// Whether a request changes any feature of an interface with these features.
    #[must_use]
    pub fn is_needed(now: &Features, requested: &BTreeMap<String, bool>) -> bool {
        !sendable(requested, now).is_empty()
    }

    /// Compares the request with the state after it.
    pub(crate) fn compare(asked: &BTreeMap<String, bool>, after: Features) -> Self {
        let refusal = |(name, &on): (&String, &bool)| {
            let reason = match after.get(name) {
                None => RefusalReason::Unknown,
                Some(state) if state.active == on => return None,
                Some(FeatureState { changeable: false, .. }) => RefusalReason::Fixed,
                Some(_) => RefusalReason::Dependency,
            };
            Some((name.clone(), reason))
        };
        Self { refused: asked.iter().filter_map(refusal).collect(), after }
    }
}

/// The part of a request that is to be sent: the kernel refuses a whole request for one unknown or
/// fixed name, and refuses an empty change from a process that may change nothing.
pub(crate) fn sendable(requested: &BTreeMap<String, bool>, before: &Features) -> BTreeMap<String, bool> {
    let differs = |state: &FeatureState, on: bool| state.wanted != on || state.active != on;
    let can = |name: &String, on: bool| {
        before.get(name).is_some_and(|state| state.changeable && differs(state, on))
    };
    requested.iter().filter(|(name, on)| can(name, **on)).map(|(name, &on)| (name.clone(), on)).collect()
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "this kernel has no such feature",
            Self::Fixed => "the driver does not let it be switched [fixed]",
            Self::Dependency => "the kernel undid it, because of a feature that it depends on",
        })
    }
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
        let reasons: Vec<_> = refused.iter().map(|(name, reason)| (name.as_str(), *reason)).collect();
        assert_eq!(
            reasons,
            [
                ("llt", RefusalReason::Fixed),
                ("nonsense", RefusalReason::Unknown),
                ("tso", RefusalReason::Dependency)
            ]
        );
        assert_eq!(refused["nonsense"].to_string(), "this kernel has no such feature");
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
}

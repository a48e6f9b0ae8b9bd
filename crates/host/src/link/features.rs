//! Offload features of an interface: their state, and what came of a request to change them.

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
    /// Whether it is at work.
    pub active: bool,
    /// Whether it was last asked for; it differs from `active` while another feature that it needs
    /// is off.
    pub wanted: bool,
    /// Whether the driver lets it be switched. `false` is ethtool's `[fixed]`.
    pub changeable: bool,
}

/// What came of a request to change features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureChange {
    /// The state before, as read from the kernel.
    pub before: Features,
    /// The state after, read afresh.
    pub after: Features,
    /// What was asked for and is not so now, in the order of the names.
    pub refused: Vec<Refusal>,
    /// What changed without having been asked for, in the order of the names.
    pub follow_on: Vec<FollowOn>,
}

/// A feature that is not as it was asked to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The feature's name as it was given.
    pub feature: String,
    /// The state asked for.
    pub asked: bool,
    /// Why it is not so.
    pub reason: RefusalReason,
}

/// Why a feature is not as it was asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// This kernel has no feature of that name.
    Unknown,
    /// The driver does not let it be switched (ethtool's `[fixed]`).
    Fixed,
    /// The kernel or the driver undid it: it depends on another feature's state, for example
    /// segmentation on checksumming.
    Dependency,
}

/// A feature that changed because another one did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FollowOn {
    /// The feature's name.
    pub feature: String,
    /// Its state now.
    pub active: bool,
}

impl FeatureChange {
    /// Compares what was asked with what became of it.
    pub fn between(before: Features, asked: &BTreeMap<String, bool>, after: Features) -> Self {
        let refused =
            asked.iter().filter_map(|(name, &requested)| refusal(name, requested, &after)).collect();
        let follow_on = after
            .iter()
            .filter(|(name, _)| !asked.contains_key(*name))
            .filter(|(name, now)| before.get(*name).is_some_and(|then| then.active != now.active))
            .map(|(name, now)| FollowOn { feature: name.clone(), active: now.active })
            .collect();
        Self { before, after, refused, follow_on }
    }
}

/// Whether sending the request to the kernel can bring anything: it would refuse the whole request
/// for one name that it does not know or that nobody may switch.
pub(crate) fn sendable(requested: &BTreeMap<String, bool>, before: &Features) -> BTreeMap<String, bool> {
    let can = |name: &String| before.get(name).is_some_and(|state| state.changeable);
    requested.iter().filter(|(name, _)| can(name)).map(|(name, &on)| (name.clone(), on)).collect()
}

fn refusal(name: &str, asked: bool, after: &Features) -> Option<Refusal> {
    let reason = match after.get(name) {
        None => RefusalReason::Unknown,
        Some(state) if state.active == asked => return None,
        Some(FeatureState { changeable: false, .. }) => RefusalReason::Fixed,
        Some(_) => RefusalReason::Dependency,
    };
    Some(Refusal { feature: name.to_owned(), asked, reason })
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requested = if self.asked { "on" } else { "off" };
        write!(f, "{} {requested}: {}", self.feature, self.reason)
    }
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

impl fmt::Display for FollowOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.feature, if self.active { "on" } else { "off" })
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
    fn checksums_off_drags_segmentation_along() {
        let before = features(&[("csum", true, true), ("tso", true, true), ("gro", true, true)]);
        let after = features(&[("csum", false, true), ("tso", false, true), ("gro", true, true)]);
        let change = FeatureChange::between(before, &asked(&[("csum", false)]), after);
        assert_eq!(change.follow_on, [FollowOn { feature: "tso".to_owned(), active: false }]);
        assert_eq!(change.refused, []);
        assert_eq!(change.follow_on[0].to_string(), "tso off");
    }

    #[test]
    fn each_kind_of_refusal_is_told_apart() {
        let before = features(&[("csum", false, true), ("tso", false, true), ("llt", false, false)]);
        let requested = asked(&[("tso", true), ("llt", true), ("nonsense", true), ("csum", false)]);
        let change = FeatureChange::between(before.clone(), &requested, before);
        let reasons: Vec<_> = change.refused.iter().map(|r| (r.feature.as_str(), r.reason)).collect();
        assert_eq!(
            reasons,
            [
                ("llt", RefusalReason::Fixed),
                ("nonsense", RefusalReason::Unknown),
                ("tso", RefusalReason::Dependency)
            ]
        );
        assert_eq!(change.refused[1].to_string(), "nonsense on: this kernel has no such feature");
    }

    #[test]
    fn a_fixed_feature_asked_to_stay_as_it_is_is_no_refusal() {
        let before = features(&[("llt", true, false)]);
        let change = FeatureChange::between(before.clone(), &asked(&[("llt", true)]), before);
        assert_eq!(change.refused, []);
    }

    #[test]
    fn only_what_can_be_switched_is_sent() {
        let before = features(&[("tso", true, true), ("llt", true, false)]);
        let requested = asked(&[("tso", false), ("llt", false), ("nonsense", true)]);
        assert_eq!(sendable(&requested, &before), asked(&[("tso", false)]));
    }

    fn some_features() -> impl Strategy<Value = Features> {
        let state = (any::<bool>(), any::<bool>(), any::<bool>());
        prop::collection::btree_map(
            "[a-f]",
            state.prop_map(|(active, wanted, changeable)| FeatureState { active, wanted, changeable }),
            0..6,
        )
    }

    proptest! {
        #[test]
        fn every_wish_is_fulfilled_or_refused_once(
            before in some_features(),
            requested in prop::collection::btree_map("[a-h]", any::<bool>(), 0..8),
            after in some_features()
        ) {
            let change = FeatureChange::between(before, &requested, after.clone());
            for (name, &on) in &requested {
                let fulfilled = after.get(name).is_some_and(|state| state.active == on);
                let refusals = change.refused.iter().filter(|refusal| refusal.feature == *name).count();
                prop_assert_eq!(usize::from(!fulfilled), refusals);
            }
            prop_assert!(change.refused.iter().all(|refusal| requested.get(&refusal.feature) == Some(&refusal.asked)));
        }

        #[test]
        fn what_changed_unasked_is_a_follow_on_and_nothing_else_is(
            before in some_features(),
            requested in prop::collection::btree_map("[a-h]", any::<bool>(), 0..8),
            after in some_features()
        ) {
            let change = FeatureChange::between(before.clone(), &requested, after.clone());
            for (name, now) in &after {
                let changed = before.get(name).is_some_and(|then| then.active != now.active);
                let told = change.follow_on.iter().any(|follow_on| follow_on.feature == *name);
                prop_assert_eq!(changed && !requested.contains_key(name), told);
            }
            prop_assert!(change.follow_on.iter().all(|f| after.get(&f.feature).is_some_and(|s| s.active == f.active)));
        }
    }
}

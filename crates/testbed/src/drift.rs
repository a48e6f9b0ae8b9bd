//! How switches read back otherwise than they did before: which, where, and what had been asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use study::{Effective, Settled, Side, feature};

use crate::switches::Switches;

/// Every difference between two states of a testbed that the same switches should give. It prints as one short sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Drift(pub Vec<Difference>);

/// One setting of one interface that reads back otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Where.
    pub interface: Interface,
    /// What, with its values.
    #[serde(flatten)]
    pub setting: Setting,
}

/// An interface of a testbed, by its part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Interface {
    /// Whose it is.
    pub side: Side,
    /// Is it the one under the tunnel?
    pub underlay: bool,
}

/// A setting as it was asked for, as it read back before, and as it reads back now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "setting", rename_all = "snake_case")]
pub enum Setting {
    /// Bytes of a packet.
    Mtu {
        /// `None`: as the testbed was built.
        asked: Option<u32>,
        /// Before.
        before: u32,
        /// Now.
        after: u32,
    },
    /// A feature of the interface.
    Feature {
        /// Its kernel name.
        name: String,
        /// `None`: as the testbed was built.
        asked: Option<bool>,
        /// Before; `None`: the interface had no such feature.
        before: Option<bool>,
        /// Now; `None`: it has no such feature.
        after: Option<bool>,
    },
}

impl Drift {
    /// What is otherwise in `after` than it was in `before`; `None` if nothing is that matters ([`Effective::state`]).
    #[must_use]
    pub fn between(before: &Effective, after: &Effective, asked: &Switches) -> Option<Self> {
        let differences: Vec<Difference> = interfaces(after, asked)
            .zip(interfaces(before, asked))
            .flat_map(|(after, before)| after.differences(&before))
            .collect();
        (!differences.is_empty()).then_some(Self(differences))
    }
}

/// Every interface of a testbed, with what was asked of it.
fn interfaces<'a>(effective: &'a Effective, asked: &'a Switches) -> impl Iterator<Item = ReadBack<'a>> {
    let ends =
        [(Side::Transmitter, Some(&effective.transmitter)), (Side::Receiver, effective.receiver.as_ref())];
    let features = [&asked.transmitter, &asked.receiver];
    let ends = ends.into_iter().zip(features).filter_map(move |((side, settled), features)| {
        let interface = Interface { side, underlay: false };
        Some(ReadBack { interface, mtu: asked.mtu, features, settled: settled? })
    });
    let under =
        [(Side::Transmitter, &asked.underlay.transmitter), (Side::Receiver, &asked.underlay.receiver)];
    let under = effective.underlay.iter().flatten().zip(under).map(move |(settled, (side, features))| {
        let interface = Interface { side, underlay: true };
        ReadBack { interface, mtu: asked.underlay.mtu, features, settled }
    });
    ends.chain(under)
}

/// One interface's state, and what was asked for.
struct ReadBack<'a> {
    interface: Interface,
    mtu: Option<u32>,
    features: &'a BTreeMap<String, bool>,
    settled: &'a Settled,
}

impl ReadBack<'_> {
    fn differences(&self, before: &Self) -> Vec<Difference> {
        let of = |setting| Difference { interface: self.interface, setting };
        let (now, then) = (self.settled, before.settled);
        let mtu = (now.mtu != then.mtu)
            .then(|| of(Setting::Mtu { asked: self.mtu, before: then.mtu, after: now.mtu }));
        let names: BTreeSet<&String> = now.active.keys().chain(then.active.keys()).collect();
        let features = names.into_iter().filter_map(|name| {
            let (before, after) = (then.active.get(name).copied(), now.active.get(name).copied());
            // A feature that an interface does not have is as good as off.
            (before.unwrap_or(false) != after.unwrap_or(false)).then(|| {
                of(Setting::Feature {
                    name: name.clone(),
                    asked: self.features.get(name).copied(),
                    before,
                    after,
                })
            })
        });
        mtu.into_iter().chain(features).collect()
    }
}

/// How many differences a sentence names.
const NAMED: usize = 3;

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The offloads that studies are about, and the MTU, before what follows them.
        let mut ordered: Vec<&Difference> = self.0.iter().collect();
        ordered.sort_by_key(|one| one.setting.rank());
        for (place, difference) in ordered.iter().take(NAMED).enumerate() {
            write!(f, "{}{difference}", if place == 0 { "" } else { "; " })?;
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {}'s ", self.interface.side)?;
        if self.interface.underlay {
            f.write_str("underlay's ")?;
        }
        let word = |on: Option<bool>| match on {
            Some(true) => "on",
            Some(false) => "off",
            None => "absent",
        };
        let asked = |asked: Option<&dyn fmt::Display>| {
            asked.map_or_else(|| "not requested".to_owned(), |value| format!("requested: {value}"))
        };
        match &self.setting {
            Setting::Mtu { asked: wish, before, after } => {
                let asked = asked(wish.as_ref().map(|wish| wish as &dyn fmt::Display));
                write!(f, "MTU ({asked}) was {before} and is {after}")
            }
            Setting::Feature { name, asked: wish, before, after } => {
                let wish = wish.map(|on| word(Some(on)));
                let asked = asked(wish.as_ref().map(|wish| wish as &dyn fmt::Display));
                write!(f, "{name} ({asked}) was {} and is {}", word(*before), word(*after))
            }
        }
    }
}

impl Setting {
    fn rank(&self) -> u8 {
        match self {
            Self::Mtu { .. } => 0,
            Self::Feature { asked: Some(_), .. } => 1,
            Self::Feature { name, .. } if feature::OFFLOADS.contains(&name.as_str()) => 2,
            Self::Feature { .. } => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::switches::UnderlaySwitches;
    use crate::switches::tests::{effective, settled};

    #[test]
    fn a_difference_names_its_place_and_its_three_values() {
        let before =
            effective(settled(&[("rx-gro", true)], 1500), settled(&[("tx-tcp-segmentation", true)], 1500));
        let after =
            effective(settled(&[("rx-gro", false)], 1500), settled(&[("tx-tcp-segmentation", false)], 1500));
        let mut asked = Switches::default();
        asked.receiver.insert("tx-tcp-segmentation".into(), true);
        let drift = Drift::between(&before, &after, &asked).unwrap();
        assert_eq!(
            drift.to_string(),
            "the receiver's tx-tcp-segmentation (requested: on) was on and is off; \
             the transmitter's rx-gro (not requested) was on and is off"
        );
        assert_eq!(
            serde_json::to_value(&drift).unwrap()[0],
            serde_json::json!({
                "interface": {"side": "transmitter", "underlay": false},
                "setting": "feature", "name": "rx-gro", "asked": null, "before": true, "after": false
            })
        );
        assert_eq!(Drift::between(&before, &before, &asked), None);
    }

    #[test]
    fn the_interfaces_under_a_tunnel_are_told_apart_and_many_differences_are_counted() {
        let plain = settled(&[("a", true), ("b", true), ("c", true)], 1450);
        let changed = settled(&[], 1450);
        let under = |mtu| Some([settled(&[], 1500), settled(&[], mtu)]);
        let before = Effective { underlay: under(1500), ..effective(plain.clone(), plain.clone()) };
        let after = Effective { underlay: under(9000), ..effective(changed, plain) };
        let asked = Switches {
            underlay: UnderlaySwitches { mtu: Some(1500), ..Default::default() },
            ..Default::default()
        };
        let text = Drift::between(&before, &after, &asked).unwrap().to_string();
        assert!(
            text.starts_with("the receiver's underlay's MTU (requested: 1500) was 1500 and is 9000; "),
            "{text}"
        );
        assert!(text.ends_with("; and 1 more"), "{text}");
    }

    fn any_settled() -> impl Strategy<Value = Settled> {
        let features = prop::collection::btree_map("[a-d]", any::<bool>(), 0..4);
        (features, 1500_u32..1502).prop_map(|(active, mtu)| Settled {
            mtu,
            active,
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
        })
    }

    proptest! {
        #[test]
        fn states_drift_exactly_where_their_fingerprints_differ(
            [one, two, three, four] in [any_settled(), any_settled(), any_settled(), any_settled()]
        ) {
            let (before, after) = (effective(one, two), effective(three, four));
            let drift = Drift::between(&before, &after, &Switches::default());
            prop_assert_eq!(drift.is_some(), before.state() != after.state());
        }
    }
}

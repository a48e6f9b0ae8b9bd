//! A stored plan, as far as reports look into it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use study::{Plan, feature};

/// The plan of a study, with what its switches read back as where they were tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlanView {
    /// What is measured, what is not and why, and what is compared.
    #[serde(flatten)]
    pub plan: Plan,
    /// What both ends read back, condition by condition; empty where nothing was tried.
    #[serde(default)]
    pub effective: Vec<EffectiveView>,
}

/// The state of both ends' interfaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectiveView {
    /// The transmitter's.
    pub transmitter: SettledView,
    /// The receiver's; `None` where nobody receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<SettledView>,
    /// The interfaces' under the tunnel, the transmitter's first; `None` where there is no tunnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay: Option<[SettledView; 2]>,
    /// What a reader must know of this state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The state of one interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettledView {
    /// MTU in bytes.
    pub mtu: u32,
    /// Every feature by its kernel name.
    pub active: BTreeMap<String, bool>,
    /// Features that did not become what was asked, and why.
    pub refused: BTreeMap<String, String>,
    /// Features that the kernel changed unasked.
    pub follow_on: BTreeMap<String, bool>,
}

impl PlanView {
    /// Reads a plan as the runner stores it.
    ///
    /// # Errors
    /// What is wrong with it, in the decoder's words.
    pub fn read(plan: &Value) -> Result<Self, String> {
        let view = Self::deserialize(plan).map_err(|error| error.to_string())?;
        let conditions = view.plan.conditions.len();
        let in_range = |index: &usize| *index < conditions;
        let sound = (view.effective.is_empty() || view.effective.len() == conditions)
            && view
                .plan
                .comparisons
                .iter()
                .all(|c| in_range(&c.baseline) && c.conditions.iter().all(in_range));
        if sound { Ok(view) } else { Err("its parts do not fit each other".to_owned()) }
    }
}

impl SettledView {
    /// What was asked for and not got, with the reason. A word such as `tso` stands for several features, of which a
    /// driver has some: what such a word asked for was got if one of them is on, so the others are not listed.
    pub(crate) fn unmet(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_on = |name: &&str| self.active.get(*name).copied().unwrap_or(false);
        let stood_for = move |feature: &str| {
            let groups = feature::GROUPS.iter().filter(|group| group.members.contains(&feature));
            groups.flat_map(|group| group.members).any(&is_on)
        };
        self.refused
            .iter()
            .filter(move |(name, _)| self.active.get(*name) == Some(&true) || !stood_for(name))
            .map(|(name, why)| (name.as_str(), why.as_str()))
    }

    /// The features in which this state differs from `base`, with their state here.
    pub(crate) fn changes(&self, base: &Self) -> BTreeMap<&str, bool> {
        self.active
            .iter()
            .filter(|(name, on)| base.active.get(*name) != Some(on))
            .map(|(name, on)| (name.as_str(), *on))
            .collect()
    }
}

impl EffectiveView {
    /// The sides that there are, with their names.
    pub(crate) fn sides(&self) -> impl Iterator<Item = (&'static str, &SettledView)> {
        let receiver = self.receiver.as_ref().map(|receiver| ("receiver", receiver));
        let under = ["transmitter's underlay", "receiver's underlay"];
        let underlay = self.underlay.iter().flat_map(move |both| under.into_iter().zip(both));
        std::iter::once(("transmitter", &self.transmitter)).chain(receiver).chain(underlay)
    }

    /// How this state differs from `base`, in words; empty if it does not.
    pub(crate) fn against(&self, base: &Self) -> String {
        let described: Vec<(&str, String)> = self
            .sides()
            .zip(base.sides())
            .map(|((side, here), (_, there))| (side, differences(here, there)))
            .collect();
        let mut words: Vec<String> = Vec::new();
        // The two ends, and then the two interfaces under a tunnel.
        for pair in described.chunks(2) {
            match pair {
                [(side, one), (_, other)] if one == other && !one.is_empty() => {
                    let both = if *side == "transmitter" { "both ends" } else { "both underlays" };
                    words.push(format!("{both}: {one}"));
                }
                _ => {
                    let told = pair.iter().filter(|(_, text)| !text.is_empty());
                    words.extend(told.map(|(side, text)| format!("{side}: {text}")));
                }
            }
        }
        words.join("; ")
    }
}

fn differences(here: &SettledView, base: &SettledView) -> String {
    let mut words = Vec::new();
    if here.mtu != base.mtu {
        words.push(format!("mtu {}", here.mtu));
    }
    let changes = here.changes(base);
    for (state, word) in [(false, "off"), (true, "on")] {
        let names: Vec<&str> =
            changes.iter().filter(|(_, on)| **on == state).map(|(name, _)| *name).collect();
        if !names.is_empty() {
            words.push(format!("{word} {}", names.join(" ")));
        }
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(features: &[(&str, bool)], mtu: u32) -> SettledView {
        SettledView {
            mtu,
            active: features.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect(),
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
        }
    }

    #[test]
    fn a_word_is_met_by_one_of_its_features() {
        let mut state = settled(
            &[("tx-checksum-ip-generic", true), ("tx-checksum-ipv4", false), ("rx-lro", false)],
            1500,
        );
        state.refused.insert("tx-checksum-ipv4".into(), "fixed".into());
        state.refused.insert("rx-lro".into(), "fixed".into());
        assert_eq!(state.unmet().collect::<Vec<_>>(), [("rx-lro", "fixed")]);
        state.active.insert("tx-checksum-ip-generic".into(), false);
        assert_eq!(state.unmet().count(), 2);
    }

    #[test]
    fn differences_are_named_by_side() {
        let mut base = EffectiveView {
            transmitter: settled(&[("a", true), ("b", false)], 1500),
            receiver: Some(settled(&[("a", true)], 1500)),
            underlay: None,
            notes: Vec::new(),
        };
        let mut other = base.clone();
        assert_eq!(other.against(&base), "");
        other.transmitter = settled(&[("a", false), ("b", true)], 1500);
        assert_eq!(other.against(&base), "transmitter: off a, on b");
        other = EffectiveView {
            transmitter: settled(&[("a", true), ("b", false)], 9000),
            receiver: Some(settled(&[("a", true)], 9000)),
            ..base.clone()
        };
        assert_eq!(other.against(&base), "both ends: mtu 9000");
        let under = |on| Some([settled(&[("c", on)], 1600), settled(&[("c", true)], 1600)]);
        let (tunnel, without) = (
            EffectiveView { underlay: under(true), ..base.clone() },
            EffectiveView { underlay: under(false), ..base.clone() },
        );
        assert_eq!(without.against(&tunnel), "transmitter's underlay: off c");
        let both = EffectiveView {
            underlay: Some([settled(&[("c", false)], 1600), settled(&[("c", false)], 1600)]),
            ..other.clone()
        };
        assert_eq!(both.against(&tunnel), "both ends: mtu 9000; both underlays: off c");
        (base.receiver, other.receiver) = (None, None);
        assert_eq!(other.against(&base), "transmitter: mtu 9000");
    }
}

//! The state of an interface, as its kernel reported it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::device::DeviceSetting;
use crate::feature;
use crate::tuning::TuningKey;

/// The state of an interface after its switches were set, as the kernel reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    /// MTU in bytes.
    pub mtu: u32,
    /// Every feature with its active state, by kernel name.
    #[serde(deserialize_with = "crate::names::features")]
    pub active: BTreeMap<String, bool>,
    /// Features whose request was not applied, each with the reason.
    #[serde(deserialize_with = "crate::names::features")]
    pub refused: BTreeMap<String, String>,
    /// Features that the kernel changed without a request: name and new state.
    #[serde(deserialize_with = "crate::names::features")]
    pub follow_on: BTreeMap<String, bool>,
    /// Each setting that its device has. Studies of earlier versions have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device: BTreeMap<DeviceSetting, u32>,
    /// The values, in words, of the machine settings that the study varies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tuning: BTreeMap<TuningKey, String>,
}

impl Settled {
    /// Requests that were not applied, with the reason. A word such as `tso` means several
    /// features, of which a driver has some: such a request counts as applied if one of them is on.
    pub fn unmet(&self) -> impl Iterator<Item = (&str, &str)> {
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

    /// The settings of its device but those that the driver chooses by itself, which change all the
    /// time.
    #[must_use]
    pub fn steady(&self) -> BTreeMap<DeviceSetting, u32> {
        let is_chosen = |setting: &DeviceSetting| {
            setting.chosen_by().is_some_and(|switch| self.device.get(&switch).is_some_and(|on| *on != 0))
        };
        let steady = self.device.iter().filter(|(setting, _)| !is_chosen(setting));
        steady.map(|(setting, value)| (*setting, *value)).collect()
    }

    /// The features in which this state differs from `base`, with their state here.
    pub fn changes(&self, base: &Self) -> BTreeMap<&str, bool> {
        self.active
            .iter()
            .filter(|(name, on)| base.active.get(*name) != Some(on))
            .map(|(name, on)| (name.as_str(), *on))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_met_by_one_of_its_features() {
        let active = [("tx-checksum-ip-generic", true), ("tx-checksum-ipv4", false), ("rx-lro", false)];
        let mut state = Settled {
            mtu: 1500,
            active: active.map(|(name, on)| (name.to_owned(), on)).into(),
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
            device: BTreeMap::new(),
            tuning: BTreeMap::new(),
        };
        state.refused.insert("tx-checksum-ipv4".into(), "fixed".into());
        state.refused.insert("rx-lro".into(), "fixed".into());
        assert_eq!(state.unmet().collect::<Vec<_>>(), [("rx-lro", "fixed")]);
        state.active.insert("tx-checksum-ip-generic".into(), false);
        assert_eq!(state.unmet().count(), 2);
    }

    #[test]
    fn what_the_driver_chooses_by_itself_is_not_steady() {
        let mut state = Settled {
            mtu: 1500,
            active: BTreeMap::new(),
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
            device: [
                (DeviceSetting::AdaptiveRx, 1),
                (DeviceSetting::RxUsecs, 17),
                (DeviceSetting::TxUsecs, 3),
            ]
            .into(),
            tuning: BTreeMap::new(),
        };
        assert_eq!(state.steady(), [(DeviceSetting::AdaptiveRx, 1), (DeviceSetting::TxUsecs, 3)].into());
        state.device.insert(DeviceSetting::AdaptiveRx, 0);
        assert_eq!(state.steady(), state.device);
    }
}

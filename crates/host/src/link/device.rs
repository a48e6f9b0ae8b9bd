//! Settings of a network device: rings, coalescing, channels, pause frames; its hash by ioctl.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use words::DeviceSetting;

use crate::error::Error;
use crate::kernel::attributes::{attribute, number, u32_at};
use crate::link::ethtool::Ethtool;
use crate::link::features::SettingsChange;
use crate::link::ioctl::{flow_hashes, set_flow_hash};

/// The settings that a device has.
pub type DeviceSettings = BTreeMap<DeviceSetting, DeviceValue>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceValue {
    /// A switch is 0 or 1, fields are bits.
    pub now: u32,
    /// The greatest value that the driver allows, if the kernel tells it.
    pub most: Option<u32>,
}

/// The result of a request to change settings of a device.
pub type DeviceChange = SettingsChange<DeviceSetting, DeviceValue>;

impl DeviceChange {
    /// Whether a request changes any setting of a device with these settings.
    pub fn is_needed(now: &DeviceSettings, requested: &BTreeMap<DeviceSetting, u32>) -> bool {
        !sendable(requested, now).0.is_empty()
    }
}

// `ethtool`'s option to set them, their name, and the message to read (`ETHTOOL_MSG_*_GET`).
pub(crate) const GROUPS: [(&str, &str, u8); 4] = [
    ("-G", "rings", 15),
    ("-L", "queues", 17),
    ("-C", "interrupt coalescing", 19),
    ("-A", "pause frames", 21),
];

/// A setting with its attribute, and that of its greatest value (`linux/ethtool_netlink.h`).
type SettingAttributes = (DeviceSetting, u16, Option<u16>);

const ATTRIBUTES: [SettingAttributes; 14] = [
    (DeviceSetting::RxRing, 6, Some(2)),
    (DeviceSetting::TxRing, 9, Some(5)),
    (DeviceSetting::RxQueues, 6, Some(2)),
    (DeviceSetting::TxQueues, 7, Some(3)),
    (DeviceSetting::Queues, 9, Some(5)),
    (DeviceSetting::RxUsecs, 2, None),
    (DeviceSetting::RxFrames, 3, None),
    (DeviceSetting::TxUsecs, 6, None),
    (DeviceSetting::TxFrames, 7, None),
    (DeviceSetting::AdaptiveRx, 11, None),
    (DeviceSetting::AdaptiveTx, 12, None),
    (DeviceSetting::PauseAutoneg, 2, None),
    (DeviceSetting::PauseRx, 3, None),
    (DeviceSetting::PauseTx, 4, None),
];

fn set_by(option: &str) -> impl Iterator<Item = SettingAttributes> {
    ATTRIBUTES.into_iter().filter(move |(setting, ..)| setting.ethtool_option() == option)
}

const ABSENT: &str = "the device, or its driver in this kernel, has no such setting";

impl Ethtool {
    /// The settings of the interface's device that its driver has and tells.
    pub fn device(&mut self, interface: &str) -> Result<DeviceSettings, Error> {
        let mut all = DeviceSettings::new();
        for (option, name, get) in GROUPS {
            let action = format_args!("read the {name} of interface {interface:?}");
            match self.ask(get, (interface, 0), &[], action) {
                Ok(answer) => all.extend(parse(&answer, option)),
                // Most drivers have only some of the groups (EOPNOTSUPP).
                Err(Error::Failed { .. }) => {}
                Err(missing) => return Err(missing),
            }
        }
        all.extend(flow_hashes(interface).map(|(setting, now)| (setting, DeviceValue { now, most: None })));
        Ok(all)
    }

    /// Requests settings of the interface's device, and reads back the result. Only differing
    /// values are sent, so that no driver restarts its device without need.
    ///
    /// # Errors
    /// If the interface does not exist. What the driver lacks or refuses, or sets to another value,
    /// is in [`DeviceChange::refused`], with the kernel's own words.
    pub fn set_device(
        &mut self,
        interface: &str,
        requested: &BTreeMap<DeviceSetting, u32>,
    ) -> Result<DeviceChange, Error> {
        let before = self.device(interface)?;
        let (sendable, mut refused) = sendable(requested, &before);
        for (option, name, get) in GROUPS {
            let requested = |(setting, kind, _): SettingAttributes| {
                let value = *sendable.get(&setting)?;
                let bytes = if setting.is_switch() { vec![u8::from(value != 0)] } else { number(value) };
                Some((setting, (kind, bytes)))
            };
            let (settings, attributes): (Vec<_>, Vec<_>) = set_by(option).filter_map(requested).unzip();
            if settings.is_empty() {
                continue;
            }
            match self.ask(get + 1, (interface, 0), &attributes, format_args!("change the {name}")) {
                Ok(_) => {}
                Err(missing @ Error::NoInterface { .. }) => return Err(missing),
                Err(why) => refused.extend(settings.iter().map(|setting| {
                    let most = before.get(setting).and_then(|value| value.most);
                    let most = most.map(|most| format!("; this device has at most {most}"));
                    (*setting, format!("{why}{}", most.unwrap_or_default()))
                })),
            }
        }
        // Netlink has the hash since Linux 6.17 only, so it is set one by one, by ioctl.
        for (setting, fields) in &sendable {
            if let Some(Err(error)) = set_flow_hash(interface, *setting, *fields) {
                refused.insert(*setting, error.to_string());
            }
        }
        let after = self.device(interface)?;
        for (setting, value) in sendable {
            let now = after.get(&setting).map(|value| value.now);
            if now != Some(value) {
                let now = now.map_or("nothing".to_owned(), |now| setting.text(now));
                refused.entry(setting).or_insert_with(|| format!("the driver set it to {now} instead"));
            }
        }
        Ok(DeviceChange { after, refused })
    }
}

fn sendable(
    requested: &BTreeMap<DeviceSetting, u32>,
    before: &DeviceSettings,
) -> (BTreeMap<DeviceSetting, u32>, BTreeMap<DeviceSetting, String>) {
    let is_on = |switch: &DeviceSetting| {
        let before = before.get(switch).is_some_and(|value| value.now != 0);
        before && requested.get(switch).is_none_or(|value| *value != 0)
    };
    let refusal = |setting: DeviceSetting| {
        if !before.contains_key(&setting) {
            return Some(ABSENT.to_owned());
        }
        let switch = setting.chosen_by().filter(is_on)?;
        Some(format!("the driver chooses it while `{switch}` is on: set `{switch}` to off"))
    };
    let mut sendable = requested.clone();
    sendable.retain(|setting, value| before.get(setting).is_none_or(|before| before.now != *value));
    let refused: BTreeMap<_, _> =
        sendable.keys().filter_map(|setting| Some((*setting, refusal(*setting)?))).collect();
    sendable.retain(|setting, _| !refused.contains_key(setting));
    (sendable, refused)
}

pub(crate) fn is_chosen(setting: DeviceSetting, device: &DeviceSettings) -> bool {
    let is_on = |switch: DeviceSetting| device.get(&switch).is_some_and(|value| value.now != 0);
    setting.chosen_by().is_some_and(is_on)
}

pub(crate) fn parse(attributes: &[u8], option: &str) -> DeviceSettings {
    let value = |(setting, kind, most): SettingAttributes| {
        let value = attribute(attributes, kind)?;
        let now = if setting.is_switch() { u32::from(*value.first()? != 0) } else { u32_at(value, 0)? };
        let most = most.and_then(|most| u32_at(attribute(attributes, most)?, 0));
        Some((setting, DeviceValue { now, most }))
    };
    set_by(option).filter_map(value).collect()
}

#[cfg(test)]
mod tests;

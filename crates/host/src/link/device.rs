//! Settings of a network device by ethtool's netlink family: rings, coalescing, channels (queues)
//! and pause frames, read and set. The fields of its hash are in [`flow_hash`].

use std::collections::BTreeMap;

use netlink_packet_core::{DecodeError, DefaultNla, NlasIterator, parse_u8, parse_u32, parse_u64};
use serde::{Deserialize, Serialize};
use words::DeviceSetting;

use crate::error::Error;
use crate::kernel::netlink::Failure;
use crate::link::ethtool::{Ethtool, GENL_HEADER, Request, header};
use crate::link::flow_hash;

/// The settings that a device has.
pub type DeviceSettings = BTreeMap<DeviceSetting, DeviceValue>;

/// The value of one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceValue {
    /// The present value; a switch is 0 or 1, fields are bits.
    pub now: u32,
    /// The greatest value that the driver allows, if the kernel tells it.
    pub most: Option<u32>,
}

/// The result of a request to change settings of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceChange {
    /// The settings afterwards, read back.
    pub after: DeviceSettings,
    /// Each request that was not applied, with the reason.
    pub refused: BTreeMap<DeviceSetting, String>,
}

impl DeviceChange {
    /// Whether a request changes any setting of a device with these settings.
    #[must_use]
    pub fn is_needed(now: &DeviceSettings, requested: &BTreeMap<DeviceSetting, u32>) -> bool {
        !sendable(requested, now).0.is_empty()
    }
}

/// Settings that one message reads, and another one sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SettingGroup {
    name: &'static str,
    get: u8,
    set: u8,
    attributes: &'static [Attribute],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attribute {
    setting: DeviceSetting,
    kind: u16,
    most: Option<u16>,
}

const fn bounded(setting: DeviceSetting, kind: u16, most: u16) -> Attribute {
    Attribute { setting, kind, most: Some(most) }
}

const fn free(setting: DeviceSetting, kind: u16) -> Attribute {
    Attribute { setting, kind, most: None }
}

// The numbers of `linux/ethtool_netlink.h`: `ETHTOOL_MSG_*_GET`, `ETHTOOL_MSG_*_SET` and the
// attributes of each.
const GROUPS: [SettingGroup; 4] = [
    SettingGroup {
        name: "rings",
        get: 15,
        set: 16,
        attributes: &[bounded(DeviceSetting::RxRing, 6, 2), bounded(DeviceSetting::TxRing, 9, 5)],
    },
    SettingGroup {
        name: "queues",
        get: 17,
        set: 18,
        attributes: &[
            bounded(DeviceSetting::RxQueues, 6, 2),
            bounded(DeviceSetting::TxQueues, 7, 3),
            bounded(DeviceSetting::Queues, 9, 5),
        ],
    },
    SettingGroup {
        name: "interrupt coalescing",
        get: 19,
        set: 20,
        attributes: &[
            free(DeviceSetting::RxUsecs, 2),
            free(DeviceSetting::RxFrames, 3),
            free(DeviceSetting::TxUsecs, 6),
            free(DeviceSetting::TxFrames, 7),
            free(DeviceSetting::AdaptiveRx, 11),
            free(DeviceSetting::AdaptiveTx, 12),
        ],
    },
    SettingGroup {
        name: "pause frames",
        get: 21,
        set: 22,
        attributes: &[
            free(DeviceSetting::PauseAutoneg, 2),
            free(DeviceSetting::PauseRx, 3),
            free(DeviceSetting::PauseTx, 4),
        ],
    },
];

impl Ethtool {
    /// The settings of the interface's device. Settings that its driver does not have, or does not
    /// tell, are missing.
    pub fn device(&mut self, interface: &str) -> Result<DeviceSettings, Error> {
        let mut all = DeviceSettings::new();
        for group in GROUPS {
            all.extend(self.group(interface, group)?);
        }
        let hashes = flow_hash::read(interface).into_iter();
        all.extend(hashes.map(|(setting, now)| (setting, DeviceValue { now, most: None })));
        Ok(all)
    }

    fn group(&mut self, interface: &str, group: SettingGroup) -> Result<DeviceSettings, Error> {
        let request = Request { command: group.get, attributes: vec![header(interface, 0)?] };
        let failed = |failure| {
            Error::netlink(format!("read the {} of interface {interface:?}", group.name), interface, failure)
        };
        match self.ask(request) {
            Ok(payloads) => {
                let attributes = payloads.first().and_then(|payload| payload.get(GENL_HEADER..));
                parse(attributes.unwrap_or_default(), group)
                    .map_err(|why| failed(Failure::Malformed(why.to_string())))
            }
            // Most drivers have only some of the groups (EOPNOTSUPP).
            Err(failure @ Failure::Refused { .. }) => match failed(failure) {
                missing @ Error::NoInterface { .. } => Err(missing),
                _ => Ok(DeviceSettings::new()),
            },
            Err(failure) => Err(failed(failure)),
        }
    }

    /// The pause frames of the interface: received, sent. `None` if the driver does not count them
    /// for the kernel.
    pub(crate) fn pause_frames(&mut self, interface: &str) -> Option<[u64; 2]> {
        let attributes = vec![header(interface, FLAG_STATS).ok()?];
        let payloads = self.ask(Request { command: PAUSE_GET, attributes }).ok()?;
        frames(payloads.first()?.get(GENL_HEADER..)?)
    }

    /// Requests settings of the interface's device, and reads back the result. Only differing
    /// values are sent, so that a driver that restarts its device for each change does not do it
    /// without need. Settings of one kind (`-G`, `-L`, `-C`, `-A` of `ethtool`) are sent together.
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
        for group in GROUPS {
            let of_group =
                |setting: &DeviceSetting| group.attributes.iter().find(|one| one.setting == *setting);
            let chosen: Vec<(&Attribute, u32)> =
                sendable.iter().filter_map(|(setting, value)| Some((of_group(setting)?, *value))).collect();
            if chosen.is_empty() {
                continue;
            }
            let attributes = std::iter::once(header(interface, 0)?)
                .chain(chosen.iter().map(|(one, value)| one.with(*value)));
            let request = Request { command: group.set, attributes: attributes.collect() };
            if let Err(failure) = self.ask(request) {
                let why = match Error::netlink(format!("change the {}", group.name), interface, failure) {
                    missing @ Error::NoInterface { .. } => return Err(missing),
                    error => error.to_string(),
                };
                let bound = |one: &Attribute| match before.get(&one.setting).and_then(|value| value.most) {
                    Some(most) => format!("{why}; this device has at most {most}"),
                    None => why.clone(),
                };
                refused.extend(chosen.iter().map(|(one, _)| (one.setting, bound(one))));
            }
        }
        for (setting, fields) in &sendable {
            if let Some(Err(why)) = flow_hash::write(interface, *setting, *fields) {
                refused.insert(*setting, why);
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

/// The part of a request that changes a value and can be sent, and the rest with the reason.
fn sendable(
    requested: &BTreeMap<DeviceSetting, u32>,
    before: &DeviceSettings,
) -> (BTreeMap<DeviceSetting, u32>, BTreeMap<DeviceSetting, String>) {
    let mut sendable = BTreeMap::new();
    let mut refused = BTreeMap::new();
    for (&setting, &value) in requested {
        let Some(now) = before.get(&setting) else {
            refused.insert(setting, ABSENT.to_owned());
            continue;
        };
        let is_on = |switch: DeviceSetting| {
            let before = before.get(&switch).is_some_and(|value| value.now != 0);
            before && requested.get(&switch).is_none_or(|value| *value != 0)
        };
        match setting.chosen_by().filter(|switch| is_on(*switch)) {
            _ if now.now == value => {}
            Some(switch) => {
                refused.insert(
                    setting,
                    format!("the driver chooses it while `{switch}` is on: set `{switch}` to off"),
                );
            }
            None => {
                sendable.insert(setting, value);
            }
        }
    }
    (sendable, refused)
}

/// Whether the driver of a device with these settings chooses a setting by itself.
pub(crate) fn is_chosen(setting: DeviceSetting, device: &DeviceSettings) -> bool {
    let is_on = |switch: DeviceSetting| device.get(&switch).is_some_and(|value| value.now != 0);
    setting.chosen_by().is_some_and(is_on)
}

// The reason for a setting that is missing.
const ABSENT: &str = "the device, or its driver in this kernel, has no such setting";

impl Attribute {
    fn with(&self, value: u32) -> DefaultNla {
        let bytes =
            if self.setting.is_switch() { vec![u8::from(value != 0)] } else { value.to_ne_bytes().to_vec() };
        DefaultNla::new(self.kind, bytes)
    }

    fn read(&self, value: &[u8]) -> Result<u32, DecodeError> {
        if self.setting.is_switch() { Ok(u32::from(parse_u8(value)? != 0)) } else { parse_u32(value) }
    }
}

fn parse(attributes: &[u8], group: SettingGroup) -> Result<DeviceSettings, DecodeError> {
    let mut values = DeviceSettings::new();
    let mut bounds = BTreeMap::new();
    for attribute in NlasIterator::new(attributes) {
        let attribute = attribute?;
        for one in group.attributes {
            if attribute.kind() == one.kind {
                values.insert(one.setting, DeviceValue { now: one.read(attribute.value())?, most: None });
            } else if Some(attribute.kind()) == one.most {
                bounds.insert(one.setting, parse_u32(attribute.value())?);
            }
        }
    }
    for (setting, value) in &mut values {
        value.most = bounds.get(setting).copied();
    }
    Ok(values)
}

// `ETHTOOL_MSG_PAUSE_GET`, the flag `ETHTOOL_FLAG_STATS` of its header, `ETHTOOL_A_PAUSE_STATS`
// and `ETHTOOL_A_PAUSE_STAT_*`.
const PAUSE_GET: u8 = 21;
const FLAG_STATS: u32 = 4;
const PAUSE_STATS: u16 = 5;
const STAT_TX_FRAMES: u16 = 2;
const STAT_RX_FRAMES: u16 = 3;

fn frames(attributes: &[u8]) -> Option<[u64; 2]> {
    let all = NlasIterator::new(attributes).flatten().find(|one| one.kind() == PAUSE_STATS)?;
    let frames = |kind| {
        let found = NlasIterator::new(all.value()).flatten().find(|one| one.kind() == kind)?;
        parse_u64(found.value()).ok()
    };
    Some([frames(STAT_RX_FRAMES)?, frames(STAT_TX_FRAMES)?])
}

/// (fuzzing) Reads an answer as that of each group.
#[cfg(any(test, feature = "fuzz"))]
pub(crate) fn parse_any(attributes: &[u8]) {
    let _ = frames(attributes);
    for group in GROUPS {
        if let Ok(values) = parse(attributes, group) {
            assert!(values.len() <= group.attributes.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use words::DeviceForm;

    use super::*;
    use crate::kernel::attributes::{bytes, nested};

    const RX: DeviceSetting = DeviceSetting::RxRing;
    const TX: DeviceSetting = DeviceSetting::TxRing;

    fn now(list: &[(DeviceSetting, u32)]) -> DeviceSettings {
        list.iter().map(|(setting, now)| (*setting, DeviceValue { now: *now, most: None })).collect()
    }

    #[test]
    fn rings_are_read_with_their_maximum() {
        let number = |kind, value: u32| DefaultNla::new(kind, value.to_ne_bytes().to_vec());
        // As the kernel writes them; 3, 7 and 13 are rings that netassay does not set.
        let answer =
            [number(2, 4096), number(3, 9), number(5, 2048), number(6, 512), number(7, 1), number(9, 256)];
        let read = parse(&bytes(&answer), GROUPS[0]).unwrap();
        let value = |now, most| DeviceValue { now, most: Some(most) };
        assert_eq!(read, [(RX, value(512, 4096)), (TX, value(256, 2048))].into());
    }

    #[test]
    fn every_setting_is_in_one_group_and_comes_back_as_it_was_sent() {
        let of_netlink = |setting: &DeviceSetting| setting.form() != DeviceForm::Fields;
        for setting in DeviceSetting::ALL.into_iter().filter(of_netlink) {
            let all: Vec<SettingGroup> = GROUPS
                .into_iter()
                .filter(|group| group.attributes.iter().any(|one| one.setting == setting))
                .collect();
            let [group] = &all[..] else { panic!("{setting} is in {all:?}") };
            let attribute = group.attributes.iter().find(|one| one.setting == setting).unwrap();
            let read = parse(&bytes(&[attribute.with(1)]), *group).unwrap();
            assert_eq!(read, now(&[(setting, 1)]));
            // Settings that `ethtool` sets with one option are set with one message.
            let option = setting.ethtool().option;
            assert!(group.attributes.iter().all(|one| one.setting.ethtool().option == option));
        }
    }

    #[test]
    fn pause_frames_are_read_where_the_driver_counts_both() {
        let frames_of = |stats: &[(u16, u64)]| {
            let stats: Vec<_> = stats
                .iter()
                .map(|(kind, count)| DefaultNla::new(*kind, count.to_ne_bytes().to_vec()))
                .collect();
            frames(&bytes(&[nested(PAUSE_STATS, &stats)]))
        };
        assert_eq!(frames_of(&[(STAT_TX_FRAMES, 7), (STAT_RX_FRAMES, 5)]), Some([5, 7]));
        assert_eq!(frames_of(&[]), None);
    }

    #[test]
    fn only_what_differs_and_is_there_is_sent() {
        let before = now(&[(RX, 256), (TX, 256)]);
        let requested = [(RX, 256), (TX, 512), (DeviceSetting::PauseRx, 1)].into();
        let (sent, refused) = sendable(&requested, &before);
        assert_eq!(sent, [(TX, 512)].into());
        assert_eq!(refused, [(DeviceSetting::PauseRx, ABSENT.to_owned())].into());
    }

    #[test]
    fn what_the_driver_chooses_is_set_only_with_its_switch_off() {
        let (delay, switch) = (DeviceSetting::RxUsecs, DeviceSetting::AdaptiveRx);
        let before = now(&[(delay, 3), (switch, 1)]);
        let (sent, refused) = sendable(&[(delay, 50)].into(), &before);
        assert!(sent.is_empty() && refused[&delay].contains("set `adaptive_rx` to off"), "{refused:?}");
        let (sent, refused) = sendable(&[(delay, 50), (switch, 0)].into(), &before);
        assert_eq!((sent.len(), refused.len()), (2, 0));
        // Back again: the number is sent with the switch, because it is the driver's first one.
        let (sent, refused) = sendable(&[(delay, 3), (switch, 1)].into(), &now(&[(delay, 50), (switch, 0)]));
        assert_eq!((sent.len(), refused.len()), (2, 0));
    }

    proptest! {
        #[test]
        fn any_answer_is_read_or_refused(payload in prop::collection::vec(any::<u8>(), 0..200)) {
            parse_any(&payload);
        }

        #[test]
        fn every_request_is_sent_met_or_refused(
            requested in prop::collection::btree_map(prop::sample::select(&DeviceSetting::ALL[..]), 0u32..3, 0..8),
            before in prop::collection::btree_map(prop::sample::select(&DeviceSetting::ALL[..]), 0u32..3, 0..8),
        ) {
            let before: DeviceSettings =
                before.into_iter().map(|(setting, now)| (setting, DeviceValue { now, most: None })).collect();
            let (sent, refused) = sendable(&requested, &before);
            for (setting, value) in &requested {
                let met = before.get(setting).is_some_and(|before| before.now == *value);
                let ways = [met, sent.contains_key(setting), refused.contains_key(setting)];
                prop_assert_eq!(ways.iter().filter(|way| **way).count(), 1, "{} {:?}", setting, ways);
            }
        }
    }
}

use proptest::prelude::*;

use words::DeviceForm;

use super::*;
use crate::kernel::attributes::encode;

const RX: DeviceSetting = DeviceSetting::RxRing;
const TX: DeviceSetting = DeviceSetting::TxRing;

fn now(list: &[(DeviceSetting, u32)]) -> DeviceSettings {
    list.iter().map(|(setting, now)| (*setting, DeviceValue { now: *now, most: None })).collect()
}

#[test]
fn rings_are_read_with_their_maximum() {
    let number = |kind, value| (kind, number(value));
    // As the kernel writes them; 3, 7 and 13 are rings that netassay does not set.
    let answer =
        [number(2, 4096), number(3, 9), number(5, 2048), number(6, 512), number(7, 1), number(9, 256)];
    let read = parse(&encode(&answer), "-G");
    let value = |now, most| DeviceValue { now, most: Some(most) };
    assert_eq!(read, [(RX, value(512, 4096)), (TX, value(256, 2048))].into());
}

#[test]
fn every_setting_is_in_one_group_and_comes_back_as_it_was_sent() {
    let of_netlink = |setting: &DeviceSetting| setting.form() != DeviceForm::Fields;
    for setting in DeviceSetting::ALL.into_iter().filter(of_netlink) {
        // Settings that `ethtool` sets with one option are set with one message.
        let option = setting.ethtool_option();
        assert_eq!(GROUPS.iter().filter(|group| group.0 == option).count(), 1, "{setting}");
        let all: Vec<SettingAttributes> = set_by(option).filter(|one| one.0 == setting).collect();
        let [(_, kind, _)] = all[..] else { panic!("{setting} is {all:?}") };
        assert_eq!(parse(&encode(&[(kind, number(1))]), option), now(&[(setting, 1)]));
    }
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
        for (option, ..) in GROUPS {
            prop_assert!(parse(&payload, option).len() <= set_by(option).count());
        }
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

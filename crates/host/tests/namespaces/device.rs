//! Settings of a device, and its driver's own counters: a wire has queues.

use std::collections::BTreeMap;
use std::process::Command;

use netassay_host::{DeviceReader, Error, Ethtool, HostEnvironment, affinity};
use words::DeviceSetting;

use crate::harness::{Stage, skipped};
use crate::wire::connect;

const RX: DeviceSetting = DeviceSetting::RxQueues;
const TX: DeviceSetting = DeviceSetting::TxQueues;

pub(crate) fn set(stage: &mut Stage) {
    connect(stage);
    if affinity::online_cpus().len() < 2 {
        return skipped("settings_of_a_device_are_set_and_read_back", "a wire has one queue for one CPU");
    }
    let mut ethtool = Ethtool::open().unwrap();
    let before = ethtool.device(&stage.here).unwrap();
    assert_eq!(before.keys().copied().collect::<Vec<_>>(), [RX, TX], "{before:?}");
    assert!(before.values().all(|value| value.now == 1 && value.most.unwrap() > 1), "{before:?}");
    let change = ethtool.set_device(&stage.here, &[(RX, 2), (TX, 1)].into()).unwrap();
    assert_eq!(change.refused, BTreeMap::new());
    assert_eq!((change.after[&RX].now, change.after[&TX].now), (2, 1));
    assert_eq!(ethtool.device(&stage.here).unwrap(), change.after);
    match Command::new("ethtool").args(["-l", &stage.here]).output() {
        Err(error) => skipped("settings_of_a_device_are_set_and_read_back", &format!("ethtool: {error}")),
        Ok(output) => {
            let text = String::from_utf8(output.stdout).unwrap();
            let (_, now) = text.split_once("Current hardware settings:").unwrap();
            let value =
                |name: &str| now.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
            assert_eq!((value("RX:"), value("TX:")), ("2".to_owned(), "1".to_owned()), "{text}");
        }
    }
    let told = HostEnvironment::read(&[&stage.here], "0.0.0").interfaces[&stage.here].clone().unwrap();
    assert_eq!(told.device, change.after);
    assert_eq!(ethtool.set_device(&stage.here, &[(RX, 1)].into()).unwrap().after, before);
}

pub(crate) fn refused(stage: &mut Stage) {
    connect(stage);
    let mut ethtool = Ethtool::open().unwrap();
    let before = ethtool.device(&stage.here).unwrap();
    let asked = [(RX, 100_000), (DeviceSetting::RxRing, 256), (DeviceSetting::PauseRx, 1)].into();
    let change = ethtool.set_device(&stage.here, &asked).unwrap();
    assert_eq!(change.after, before);
    let why = &change.refused[&RX];
    let most = before[&RX].most.unwrap();
    assert!(why.contains("the kernel says: requested channel count exceeds maximum"), "{why}");
    assert!(why.ends_with(&format!("this device has at most {most}")), "{why}");
    assert!(change.refused[&DeviceSetting::RxRing].contains("no such setting"), "{:?}", change.refused);
    assert_eq!(change.refused.len(), 3);
    for error in [ethtool.device("nothing").unwrap_err(), ethtool.set_device("nothing", &asked).unwrap_err()]
    {
        assert!(matches!(&error, Error::NoInterface { name, .. } if name == "nothing"), "{error:?}");
    }
    assert!(ethtool.device("lo").unwrap().is_empty());
}

/// A wire counts what its queues drop: `ethtool` shows the same names, and what passes is told by
/// them.
pub(crate) fn counters(stage: &mut Stage) {
    connect(stage);
    let reader = DeviceReader::open(&stage.here);
    let reading = reader.read();
    let later = reader.read();
    assert_eq!(reader.passed(&reading, &later).changed, BTreeMap::new());
    let listed = match Command::new("ethtool").args(["-S", &stage.here]).output() {
        Err(error) => {
            return skipped("counters_of_a_driver_are_those_of_ethtool", &format!("ethtool: {error}"));
        }
        Ok(output) => String::from_utf8(output.stdout).unwrap(),
    };
    let known: Vec<&str> =
        listed.lines().skip(1).filter_map(|line| Some(line.trim().split_once(": ")?.0)).collect();
    assert!(known.len() > 3, "{listed}");
    assert_eq!(reader.names, known);
    assert!(DeviceReader::open("lo").names.is_empty());
}

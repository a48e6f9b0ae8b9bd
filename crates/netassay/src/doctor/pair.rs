//! Two machines as a pair: what was checked, and both side by side.

use std::collections::{BTreeMap, BTreeSet};

use host::{Hardware, InterfaceEnvironment};
use results::{Finding, PairProperty};
use study::BySide;
use testbed::{FoundMachine, PairCheck, PairFault};

pub(super) const AREA: &str = "pair";

pub(super) fn findings(PairCheck { name, outcome }: PairCheck) -> Vec<Finding> {
    match outcome {
        Ok(what) => vec![Finding::ok(AREA, name, what)],
        Err(faults) => {
            let of_fault = |PairFault { cause, remedy }| Finding::fail(AREA, name, cause, remedy);
            faults.into_iter().map(of_fault).collect()
        }
    }
}

pub(super) fn side_by_side(found: &BySide<FoundMachine>) -> Vec<PairProperty> {
    let about = found.each_ref().map(|_, one| one.about());
    let hardware = |of: fn(&Hardware) -> Option<String>| about.map(|_, about| of(&about?.hardware));
    let fixed = [
        ("kernel", found.each_ref().map(|_, one| one.environment.kernel.release.clone())),
        ("interface", found.each_ref().map(|_, one| Some(one.located.interface.clone()))),
        ("driver", about.map(|_, about| about?.driver.clone().or_else(|| about?.link.kind.clone()))),
        ("firmware", hardware(|hardware| hardware.firmware.clone())),
        ("Mbit/s", hardware(|hardware| hardware.speed.map(|speed| speed.to_string()))),
        ("MTU", found.each_ref().map(|_, one| Some(one.located.mtu.to_string()))),
    ];
    let fixed = fixed.into_iter().map(|(name, both)| property(name, both));
    let settings = about.map(|_, about| about.map(settings).unwrap_or_default());
    let names: BTreeSet<&String> = settings.transmitter.keys().chain(settings.receiver.keys()).collect();
    let of_name = |name: &&String| property(name, settings.each_ref().map(|_, all| all.get(*name).cloned()));
    let differ = names.iter().map(of_name).filter(|one| one.transmitter != one.receiver);
    fixed.chain(differ).collect()
}

fn settings(about: &InterfaceEnvironment) -> BTreeMap<String, String> {
    let features = about.features.iter().flatten();
    let features =
        features.map(|(name, state)| (name.clone(), if state.active { "on" } else { "off" }.to_owned()));
    let device = about.device.iter().map(|(setting, value)| (setting.to_string(), setting.text(value.now)));
    features.chain(device).collect()
}

fn property(name: &str, both: BySide<Option<String>>) -> PairProperty {
    let BySide { transmitter, receiver } = both.map(|_, one| one.unwrap_or_else(|| "-".to_owned()));
    PairProperty { property: name.to_owned(), transmitter, receiver }
}

//! Two machines as a pair: what was checked, and both side by side.

use std::collections::{BTreeMap, BTreeSet};

use host::{Hardware, InterfaceEnvironment};
use report::document::Block;
use report::{Table, cells};
use serde::{Deserialize, Serialize};
use study::BySide;
use testbed::{FoundMachine, PairCheck, PairFault};

use super::finding::Finding;

pub(super) const AREA: &str = "pair";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Property {
    property: String,
    transmitter: String,
    receiver: String,
}

/// Why this machine and another one cannot be checked as a pair. `other`: how that one is named.
pub(super) fn no_pair(why: String, other: &str) -> Finding {
    let fix =
        words::shell_command(["netassay", "doctor", "--transmitter", "HOST:INTERFACE", "--receiver", other]);
    Finding::warn(AREA, "this machine", why, format!("{fix} checks it with another machine"))
}

pub(super) fn findings(PairCheck { name, outcome }: PairCheck) -> Vec<Finding> {
    match outcome {
        Ok(what) => vec![Finding::ok(AREA, name, what)],
        Err(faults) => {
            let of_fault = |PairFault { cause, remedy }| Finding::fail(AREA, name, cause, remedy);
            faults.into_iter().map(of_fault).collect()
        }
    }
}

/// Both machines, and every setting of their interfaces in which they differ.
pub(super) fn side_by_side(found: &BySide<FoundMachine>) -> Vec<Property> {
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
    let fixed = fixed.into_iter().map(|(property, both)| Property::of(property, both));
    let settings = about.map(|_, about| about.map(settings).unwrap_or_default());
    let names: BTreeSet<&String> = settings.transmitter.keys().chain(settings.receiver.keys()).collect();
    let of_name =
        |name: &&String| Property::of(name, settings.each_ref().map(|_, all| all.get(*name).cloned()));
    let differ = names.iter().map(of_name).filter(|one| one.transmitter != one.receiver);
    fixed.chain(differ).collect()
}

/// Each feature and each setting of the device.
fn settings(about: &InterfaceEnvironment) -> BTreeMap<String, String> {
    let features = about.features.iter().flatten();
    let features =
        features.map(|(name, state)| (name.clone(), if state.active { "on" } else { "off" }.to_owned()));
    let device = about.device.iter().map(|(setting, value)| (setting.to_string(), setting.text(value.now)));
    features.chain(device).collect()
}

impl Property {
    fn of(property: &str, both: BySide<Option<String>>) -> Self {
        let BySide { transmitter, receiver } = both.map(|_, one| one.unwrap_or_else(|| "-".to_owned()));
        Self { property: property.to_owned(), transmitter, receiver }
    }
}

/// Both machines side by side; `None` without them.
pub(super) fn table(sides: &[Property]) -> Option<Block<'static>> {
    let mut table = Table::new(["property", "transmitter", "receiver"]).titled("both machines");
    for Property { property, transmitter, receiver } in sides {
        table.row(cells![property, transmitter, receiver]);
    }
    table.filled().map(Block::Table)
}

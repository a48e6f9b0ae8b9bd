//! The switches and the run that a condition orders from a testbed.

use study::{BySide, Condition, SideSettings};
use testbed::{RunOrder, Switches, UnderlaySwitches};

/// The switches that a condition asks for.
#[must_use]
pub fn switches_of(condition: &Condition) -> Switches {
    let features =
        |side: &SideSettings| side.wanted().into_iter().map(|(name, on)| (name.to_owned(), on)).collect();
    Switches {
        mtu: condition.mtu,
        transmitter: features(&condition.transmitter),
        receiver: features(&condition.receiver),
        devices: BySide::from_fn(|side| condition.side(side).device.clone()),
        tuning: BySide::from_fn(|side| condition.side(side).tuning.clone()),
        underlay: UnderlaySwitches {
            mtu: condition.underlay.mtu,
            transmitter: features(&condition.underlay.transmitter),
            receiver: features(&condition.underlay.receiver),
            devices: BySide {
                transmitter: condition.underlay.transmitter.device.clone(),
                receiver: condition.underlay.receiver.device.clone(),
            },
        },
    }
}

/// The traffic that a condition asks for.
#[must_use]
pub fn order_of(condition: &Condition) -> RunOrder {
    let workload = &condition.workload;
    RunOrder {
        traffic: workload.traffic.clone(),
        family: condition.family,
        ramp: workload.ramp,
        window: workload.duration,
        step: RunOrder::step_of(workload.duration),
    }
}

//! Differences of switches from an earlier reading.

use std::collections::{BTreeMap, BTreeSet};

use record::{Difference, Drift, InterfaceRole, Setting};
use study::{BySide, Effective, Settled, Side};

use crate::switches::{InterfaceSwitches, Switches};

/// Compares two readings by [`Effective::state`]; `None` if they agree.
pub fn drift(before: &Effective, after: &Effective, asked: &Switches) -> Option<Drift> {
    let both = interfaces(after).zip(interfaces(before));
    let differences: Vec<Difference> = both
        .flat_map(|((interface, now), (_, then))| {
            let asked = if interface.underlay { &asked.underlay } else { &asked.own };
            differences(interface, asked, then, now)
        })
        .collect();
    (!differences.is_empty()).then_some(Drift { differences })
}

fn interfaces(effective: &Effective) -> impl Iterator<Item = (InterfaceRole, &Settled)> {
    let receiver = effective.receiver.as_ref().map(|settled| (Side::Receiver, settled));
    let ends = std::iter::once((Side::Transmitter, &effective.transmitter)).chain(receiver);
    let under = effective.underlay.iter().flat_map(BySide::each_ref);
    let read_back = |underlay| move |(side, settled)| (InterfaceRole { side, underlay }, settled);
    ends.map(read_back(false)).chain(under.map(read_back(true)))
}

fn differences(
    interface: InterfaceRole,
    asked: &InterfaceSwitches,
    then: &Settled,
    now: &Settled,
) -> Vec<Difference> {
    let difference = |setting| Difference { interface, setting };
    let side = interface.side;
    let mtu = (now.mtu != then.mtu)
        .then(|| difference(Setting::Mtu { asked: asked.mtu, before: then.mtu, after: now.mtu }));
    let features = in_both(&then.active, &now.active)
        .filter(|(_, before, after)| before.unwrap_or(false) != after.unwrap_or(false))
        .map(|(name, before, after)| {
            let asked = asked.features[side].get(name).copied();
            difference(Setting::Feature { name: name.clone(), asked, before, after })
        });
    let (past, present) = (then.steady(), now.steady());
    let device = in_both(&past, &present).filter(|(_, before, after)| before != after);
    let device = device.map(|(setting, before, after)| {
        let asked = asked.devices[side].get(setting).copied();
        difference(Setting::Device { setting: *setting, asked, before, after })
    });
    let machine = in_both(&then.tuning, &now.tuning)
        .filter(|(_, before, after)| before != after)
        .map(|(key, before, after)| difference(Setting::Machine { key: *key, before, after }));
    mtu.into_iter().chain(features).chain(device).chain(machine).collect()
}

fn in_both<'m, K: Ord, V: Clone>(
    then: &'m BTreeMap<K, V>,
    now: &'m BTreeMap<K, V>,
) -> impl Iterator<Item = (&'m K, Option<V>, Option<V>)> {
    let keys: BTreeSet<&K> = then.keys().chain(now.keys()).collect();
    keys.into_iter().map(|key| (key, then.get(key).cloned(), now.get(key).cloned()))
}

#[cfg(test)]
mod tests;

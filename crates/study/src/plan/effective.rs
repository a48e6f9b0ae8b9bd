//! The state that the interfaces of both ends read back.

use serde::{Deserialize, Serialize};
use words::{BySide, Settled};

/// The state that both ends read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effective {
    /// The transmitter's interface.
    pub transmitter: Settled,
    /// The receiver's interface; `None` where nobody receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<Settled>,
    /// The interfaces under the tunnel; `None` where there is no tunnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay: Option<BySide<Settled>>,
    /// The size mismatch if the underlay is too small for full packets of the tunnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments: Option<Fragments>,
}

/// Full packets of a tunnel that its underlay cannot carry whole, in bytes.
// It is no error: thiserror gives it its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[error(
    "the tunnel's MTU of {inner} bytes makes packets of {needed} bytes on an underlay of {outer}: those are sent in fragments, or \
     not at all; an MTU of {} fits",
    .inner.saturating_sub(.needed.saturating_sub(*.outer))
)]
pub struct Fragments {
    /// The tunnel's MTU.
    pub inner: u32,
    /// The size of such a packet on the underlay.
    pub needed: u32,
    /// The underlay's MTU.
    pub outer: u32,
}

impl Effective {
    /// The state by which conditions are merged, whatever they asked for: equal for conditions with
    /// the same effect. A missing feature counts as off.
    pub fn state(&self) -> String {
        let side = |(side, settled): (&str, &Settled)| {
            let on = settled.active.iter().filter(|(_, on)| **on).map(|(name, _)| format!(" {name}"));
            let device = settled.steady().into_iter().map(|(setting, value)| format!(" {setting} {value}"));
            let tuning = settled.tuning.iter().map(|(key, value)| format!(" {key} {value}"));
            let rest: String = on.chain(device).chain(tuning).collect();
            format!("{side}: mtu {}{rest}; ", settled.mtu)
        };
        self.sides().map(side).collect()
    }

    /// The sides of the testbed, with their names.
    pub fn sides(&self) -> impl Iterator<Item = (&'static str, &Settled)> {
        let receiver = self.receiver.as_ref().map(|receiver| ("receiver", receiver));
        let underlay = self.underlay.iter().flat_map(|both| {
            [("transmitter's underlay", &both.transmitter), ("receiver's underlay", &both.receiver)]
        });
        std::iter::once(("transmitter", &self.transmitter)).chain(receiver).chain(underlay)
    }

    /// The differences of this state from `base`, in words; empty if there are none.
    pub fn against(&self, base: &Self) -> String {
        let sides = self.sides().zip(base.sides());
        let described: Vec<(&str, String)> =
            sides.map(|((side, here), (_, there))| (side, differences(here, there))).collect();
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

fn differences(here: &Settled, base: &Settled) -> String {
    let mut words = Vec::new();
    if here.mtu != base.mtu {
        words.push(format!("mtu {}", here.mtu));
    }
    let (device, before) = (here.steady(), base.steady());
    let changed = device.iter().filter(|(setting, value)| before.get(setting) != Some(value));
    words.extend(changed.map(|(setting, value)| format!("{setting} {}", setting.text(*value))));
    let changed = here.tuning.iter().filter(|(key, value)| base.tuning.get(key) != Some(value));
    words.extend(changed.map(|(key, value)| format!("{key} {value}")));
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
mod tests;

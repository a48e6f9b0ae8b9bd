//! The state that both ends' interfaces read back as.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use words::{BySide, Settled, Side};

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
    /// Where the underlay is too small for full packets of the tunnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments: Option<Fragments>,
}

/// Full packets of a tunnel that its underlay cannot carry whole, in bytes. It prints as a sentence
/// without a full stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fragments {
    /// The tunnel's MTU.
    pub inner: u32,
    /// What a packet of the underlay has to hold for it.
    pub needed: u32,
    /// The underlay's MTU.
    pub outer: u32,
}

impl fmt::Display for Fragments {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inner, needed, outer } = self;
        write!(
            out,
            "the tunnel's MTU of {inner} bytes makes packets of {needed} bytes on an underlay of {outer}: those are sent in fragments, or \
             not at all; an MTU of {} fits",
            inner.saturating_sub(needed.saturating_sub(*outer))
        )
    }
}

impl Effective {
    /// What makes two effective states one, whatever was asked for.
    #[must_use]
    pub fn state(&self) -> State {
        State {
            transmitter: InterfaceState::of(&self.transmitter),
            receiver: self.receiver.as_ref().map(InterfaceState::of),
            underlay: self
                .underlay
                .as_ref()
                .map(|both| both.each_ref().map(|_, one| InterfaceState::of(one))),
        }
    }
}

/// The interfaces' state by itself: equal for conditions that come to the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    transmitter: InterfaceState,
    receiver: Option<InterfaceState>,
    underlay: Option<BySide<InterfaceState>>,
}

/// An interface's MTU, and the features that are on. One that it does not have is off.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct InterfaceState {
    mtu: u32,
    on: BTreeSet<String>,
}

impl InterfaceState {
    fn of(settled: &Settled) -> Self {
        let on = settled.active.iter().filter(|(_, on)| **on).map(|(name, _)| name.clone());
        Self { mtu: settled.mtu, on: on.collect() }
    }
}

impl fmt::Display for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |state: &InterfaceState| {
            let on: Vec<&str> = state.on.iter().map(String::as_str).collect();
            format!("mtu {} {}", state.mtu, on.join(" "))
        };
        write!(out, "{}", side(&self.transmitter))?;
        if let Some(receiver) = &self.receiver {
            write!(out, " | {}", side(receiver))?;
        }
        for (underlay, whose) in
            self.underlay.iter().flat_map(|both| Side::BOTH.map(|whose| (&both[whose], whose)))
        {
            write!(out, " | {whose}'s underlay {}", side(underlay))?;
        }
        Ok(())
    }
}

impl Effective {
    /// The sides that there are, with their names.
    pub fn sides(&self) -> impl Iterator<Item = (&'static str, &Settled)> {
        let receiver = self.receiver.as_ref().map(|receiver| ("receiver", receiver));
        let underlay = self.underlay.iter().flat_map(|both| {
            [("transmitter's underlay", &both.transmitter), ("receiver's underlay", &both.receiver)]
        });
        std::iter::once(("transmitter", &self.transmitter)).chain(receiver).chain(underlay)
    }

    /// How this state differs from `base`, in words; empty if it does not.
    pub fn against(&self, base: &Self) -> String {
        let described: Vec<(&str, String)> = self
            .sides()
            .zip(base.sides())
            .map(|((side, here), (_, there))| (side, differences(here, there)))
            .collect();
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
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn settled(active: &[(&str, bool)], mtu: u32) -> Settled {
        Settled {
            mtu,
            active: active.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect(),
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
        }
    }

    fn effective(transmitter: Settled, receiver: Settled) -> Effective {
        Effective { transmitter, receiver: Some(receiver), underlay: None, fragments: None }
    }

    #[test]
    fn the_state_of_an_underlay_is_part_of_the_whole() {
        let plain = effective(settled(&[], 1450), settled(&[], 1450));
        let over = |features: [&[(&str, bool)]; 2], mtu| {
            let [transmitter, receiver] = features.map(|features| settled(features, mtu));
            let underlay = Some(BySide { transmitter, receiver });
            Effective { underlay, ..plain.clone() }.state()
        };
        let base = over([&[("a", true)], &[]], 1500);
        assert_ne!(base, plain.state());
        assert_ne!(base, over([&[], &[("a", true)]], 1500));
        assert_ne!(base, over([&[("a", true)], &[]], 9000));
        assert_eq!(base, over([&[("a", true), ("b", false)], &[]], 1500));
    }

    #[test]
    fn states_are_equal_whatever_was_refused() {
        let plain = effective(settled(&[("a", true)], 1500), settled(&[], 1500));
        let mut refused = plain.clone();
        refused.transmitter.refused.insert("b".into(), "fixed".into());
        refused.transmitter.active.insert("b".into(), false);
        assert_eq!(plain.state(), refused.state());
    }

    #[test]
    fn mtu_side_and_feature_tell_states_apart() {
        let state =
            |t: &[(&str, bool)], r: &[(&str, bool)], mtu| effective(settled(t, mtu), settled(r, mtu)).state();
        let base = state(&[("a", true)], &[], 1500);
        assert_ne!(base, state(&[], &[("a", true)], 1500));
        assert_ne!(base, state(&[("a", false)], &[], 1500));
        assert_ne!(base, state(&[("a", true)], &[], 9000));
    }

    #[test]
    fn differences_are_named_by_side() {
        let mut base = Effective {
            transmitter: settled(&[("a", true), ("b", false)], 1500),
            receiver: Some(settled(&[("a", true)], 1500)),
            underlay: None,
            fragments: None,
        };
        let mut other = base.clone();
        assert_eq!(other.against(&base), "");
        other.transmitter = settled(&[("a", false), ("b", true)], 1500);
        assert_eq!(other.against(&base), "transmitter: off a, on b");
        other = Effective {
            transmitter: settled(&[("a", true), ("b", false)], 9000),
            receiver: Some(settled(&[("a", true)], 9000)),
            ..base.clone()
        };
        assert_eq!(other.against(&base), "both ends: mtu 9000");
        let under = |transmitter, receiver| {
            let settled = |on| settled(&[("c", on)], 1600);
            Some(BySide { transmitter: settled(transmitter), receiver: settled(receiver) })
        };
        let (tunnel, without) = (
            Effective { underlay: under(true, true), ..base.clone() },
            Effective { underlay: under(false, true), ..base.clone() },
        );
        assert_eq!(without.against(&tunnel), "transmitter's underlay: off c");
        let both = Effective { underlay: under(false, false), ..other.clone() };
        assert_eq!(both.against(&tunnel), "both ends: mtu 9000; both underlays: off c");
        (base.receiver, other.receiver) = (None, None);
        assert_eq!(other.against(&base), "transmitter: mtu 9000");
    }
}

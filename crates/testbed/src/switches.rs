//! What is asked of both ends' switches, and what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use agent::message::{Answer, Request, Settled};
use serde::{Deserialize, Serialize};

use study::{Family, Side};

use crate::end::End;
use crate::error::Error;
use crate::launched::Launched;
use crate::testbed::Testbed;
use crate::tunnel_mtu::TunnelMtu;

/// The switches of one condition. Features not named are as the testbed was built.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Switches {
    /// MTU of both ends, in bytes; `None`: as built, of a tunnel what its underlay's leaves.
    pub mtu: Option<u32>,
    /// Features of the transmitter's interface, by kernel name.
    pub transmitter: BTreeMap<String, bool>,
    /// Features of the receiver's interface, by kernel name.
    pub receiver: BTreeMap<String, bool>,
    /// What is asked of the interfaces under a tunnel, where there is one.
    pub underlay: UnderlaySwitches,
}

/// The switches of the interfaces under a tunnel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnderlaySwitches {
    /// MTU of both of them, in bytes; `None`: Ethernet's 1500.
    pub mtu: Option<u32>,
    /// Features of the transmitter's, by kernel name.
    pub transmitter: BTreeMap<String, bool>,
    /// Features of the receiver's, by kernel name.
    pub receiver: BTreeMap<String, bool>,
}

/// The state that both ends read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// The transmitter's interface.
    pub transmitter: Settled,
    /// The receiver's interface; `None` where nobody receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<Settled>,
    /// The interfaces under the tunnel, the transmitter's first; `None` where there is no tunnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay: Option<[Settled; 2]>,
    /// What a reader of the results must know of this state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Effective {
    /// What makes two effective states one, whatever was asked for.
    #[must_use]
    pub fn state(&self) -> State {
        State {
            transmitter: InterfaceState::of(&self.transmitter),
            receiver: self.receiver.as_ref().map(InterfaceState::of),
            underlay: self.underlay.as_ref().map(|both| both.each_ref().map(InterfaceState::of)),
        }
    }
}

/// The interfaces' state by itself: equal for conditions that come to the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    transmitter: InterfaceState,
    receiver: Option<InterfaceState>,
    underlay: Option<[InterfaceState; 2]>,
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
        for (whose, underlay) in ["transmitter", "receiver"].iter().zip(self.underlay.iter().flatten()) {
            write!(out, " | {whose}'s underlay {}", side(underlay))?;
        }
        Ok(())
    }
}

impl Testbed {
    /// Sets the switches of both ends, and of what lies under a tunnel between them, and reads them back. What is asked of a receiver
    /// that is not there is passed over.
    ///
    /// # Errors
    /// When an end is gone, its interface vanished, the MTU is out of its range, or (loopback, where both ends are
    /// one interface) the two ends are asked for different states.
    pub fn settle(&mut self, switches: &Switches) -> Result<Effective, Error> {
        let Some(family) = self.underlay_family else {
            self.set_bridged_mtu(switches.mtu.unwrap_or(self.scenario.default_mtu()))?;
            let (transmitter, receiver) = self.settle_ends(switches, switches.mtu)?;
            return Ok(Effective { transmitter, receiver, underlay: None, notes: Vec::new() });
        };
        let mtu = TunnelMtu::of(switches.mtu, switches.underlay.mtu, family == Family::Ipv6);
        let mut underlay = self.settle_underlay(&switches.underlay, mtu.roomy())?;
        self.set_bridged_mtu(mtu.inner)?;
        let (transmitter, receiver) = self.settle_ends(switches, Some(mtu.inner))?;
        if mtu.roomy() > mtu.outer {
            underlay = self.settle_underlay(&switches.underlay, mtu.outer)?;
        }
        let notes = mtu.note().into_iter().collect();
        Ok(Effective { transmitter, receiver, underlay: Some(underlay), notes })
    }

    fn set_bridged_mtu(&mut self, mtu: u32) -> Result<(), Error> {
        self.nodes.iter_mut().try_for_each(|node| node.set_mtu(mtu))
    }

    fn settle_ends(
        &mut self,
        switches: &Switches,
        mtu: Option<u32>,
    ) -> Result<(Settled, Option<Settled>), Error> {
        let set = |end: &mut End, features: &BTreeMap<String, bool>| {
            let interface = end.interface.clone();
            settle_one(&mut end.agent, interface, mtu, features)
        };
        if self.ends_share_an_interface() {
            // By one agent: each remembers what to return to, and the second would remember what the first had set.
            let both = set(&mut self.transmitter, &agreed(switches)?)?;
            return Ok((both.clone(), Some(both)));
        }
        // One after the other: the far end of a veth pair follows some of the near end's changes, and only the
        // state after both were set counts.
        if let Some(end) = &mut self.receiver {
            set(end, &switches.receiver)?;
        }
        let transmitter = set(&mut self.transmitter, &switches.transmitter)?;
        let receiver = self.receiver.as_mut().map(|end| set(end, &switches.receiver)).transpose()?;
        Ok((transmitter, receiver))
    }

    fn settle_underlay(&mut self, switches: &UnderlaySwitches, mtu: u32) -> Result<[Settled; 2], Error> {
        let mut set = |side: Side, features: &BTreeMap<String, bool>| {
            let (agent, interface) = self.underlay(side);
            settle_one(agent, interface, Some(mtu), features)
        };
        set(Side::Receiver, &switches.receiver)?;
        let transmitter = set(Side::Transmitter, &switches.transmitter)?;
        Ok([transmitter, set(Side::Receiver, &switches.receiver)?])
    }
}

fn settle_one(
    agent: &mut Launched,
    interface: String,
    mtu: Option<u32>,
    features: &BTreeMap<String, bool>,
) -> Result<Settled, Error> {
    match agent.call(&Request::Settle { interface, mtu, features: features.clone() })? {
        Answer::Settled(settled) => Ok(settled),
        other => Err(agent.client.unexpected(&other).into()),
    }
}

fn agreed(switches: &Switches) -> Result<BTreeMap<String, bool>, Error> {
    let mut both = switches.transmitter.clone();
    for (name, on) in &switches.receiver {
        match both.insert(name.clone(), *on) {
            Some(other) if other != *on => return Err(Error::OneInterface { feature: name.clone() }),
            _ => {}
        }
    }
    Ok(both)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn settled(active: &[(&str, bool)], mtu: u32) -> Settled {
        Settled {
            mtu,
            active: active.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect(),
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
        }
    }

    pub(crate) fn effective(transmitter: Settled, receiver: Settled) -> Effective {
        Effective { transmitter, receiver: Some(receiver), underlay: None, notes: Vec::new() }
    }

    #[test]
    fn the_state_of_an_underlay_is_part_of_the_whole() {
        let plain = effective(settled(&[], 1450), settled(&[], 1450));
        let over = |features: [&[(&str, bool)]; 2], mtu| {
            let underlay = Some(features.map(|features| settled(features, mtu)));
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
    fn one_interface_cannot_be_in_two_states() {
        let mut switches = Switches::default();
        switches.transmitter.insert("tx-tcp-segmentation".into(), true);
        switches.receiver.insert("tx-tcp-segmentation".into(), false);
        let error = agreed(&switches).unwrap_err();
        assert!(error.to_string().contains("tx-tcp-segmentation"), "{error}");
        switches.receiver.insert("tx-tcp-segmentation".into(), true);
        assert_eq!(agreed(&switches).unwrap().len(), 1);
    }
}

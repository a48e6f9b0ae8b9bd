//! What is asked of both ends' switches, and what came of it.

use std::collections::BTreeMap;

use agent::message::{Answer, Request, Settled};
use serde::{Deserialize, Serialize};

use crate::end::End;
use crate::testbed::{Error, Testbed};

/// The switches of one condition. Features not named are as the testbed was built.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Switches {
    /// MTU of both ends, in bytes; `None`: as built.
    pub mtu: Option<u32>,
    /// Features of the transmitter's interface, by kernel name.
    pub transmitter: BTreeMap<String, bool>,
    /// Features of the receiver's interface, by kernel name.
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
}

impl Effective {
    /// A text that is equal for equal effective states, whatever was asked for.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let side = |settled: &Settled| {
            let on: Vec<&str> =
                settled.active.iter().filter(|(_, on)| **on).map(|(name, _)| name.as_str()).collect();
            format!("mtu {} {}", settled.mtu, on.join(" "))
        };
        match &self.receiver {
            Some(receiver) => format!("{} | {}", side(&self.transmitter), side(receiver)),
            None => side(&self.transmitter),
        }
    }
}

impl Testbed {
    /// Sets the switches of both ends and reads them back. What is asked of a receiver that is not there is passed over.
    ///
    /// # Errors
    /// When an end is gone, its interface vanished, the MTU is out of its range, or (loopback, where both ends are
    /// one interface) the two ends are asked for different states.
    pub fn settle(&mut self, switches: &Switches) -> Result<Effective, Error> {
        let (transmitter, receiver) = if self.ends_share_an_interface() {
            let both = agreed(switches)?;
            (both.clone(), both)
        } else {
            (switches.transmitter.clone(), switches.receiver.clone())
        };
        // One after the other: the far end of a veth pair follows some of the near end's changes, and only the
        // state after both were set counts.
        if let Some(end) = &mut self.receiver {
            settle_end(end, switches.mtu, receiver.clone())?;
        }
        let transmitter = settle_end(&mut self.transmitter, switches.mtu, transmitter)?;
        let receiver = match &mut self.receiver {
            Some(end) => Some(settle_end(end, switches.mtu, receiver)?),
            None => None,
        };
        Ok(Effective { transmitter, receiver })
    }
}

fn settle_end(end: &mut End, mtu: Option<u32>, features: BTreeMap<String, bool>) -> Result<Settled, Error> {
    match end.call(&Request::Settle { interface: end.interface.clone(), mtu, features })? {
        Answer::Settled(settled) => Ok(settled),
        other => Err(end.client.unexpected(&other).into()),
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
mod tests {
    use super::*;

    fn settled(active: &[(&str, bool)], mtu: u32) -> Settled {
        Settled {
            mtu,
            active: active.iter().map(|(name, on)| ((*name).to_owned(), *on)).collect(),
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
        }
    }

    #[test]
    fn equal_states_have_equal_fingerprints_whatever_was_refused() {
        let plain =
            Effective { transmitter: settled(&[("a", true)], 1500), receiver: Some(settled(&[], 1500)) };
        let mut refused = plain.clone();
        refused.transmitter.refused.insert("b".into(), "fixed".into());
        refused.transmitter.active.insert("b".into(), false);
        assert_eq!(plain.fingerprint(), refused.fingerprint());
    }

    #[test]
    fn mtu_side_and_feature_tell_states_apart() {
        let state = |t: &[(&str, bool)], r: &[(&str, bool)], mtu| {
            Effective { transmitter: settled(t, mtu), receiver: Some(settled(r, mtu)) }.fingerprint()
        };
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

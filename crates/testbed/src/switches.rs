//! Switches of both ends: what is requested, and what reads back.

use std::collections::BTreeMap;

use agent::message::{Answer, Request};
use host::affinity::format_cpu_list;
use study::{BySide, DeviceSetting, Effective, Placement, Scenario, Settled, Side, Tuning, TuningKey};

use crate::error::Error;
use crate::launched_agent::{LaunchedAgent, ask};
use crate::path::tunnel_mtus;
use crate::settings::not_allowed;
use crate::testbed::{End, Testbed};

/// The switches of one condition. What is not named stays as built.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Switches {
    /// Switches of the traffic's interfaces. Without an MTU they have what an underlay leaves.
    pub own: InterfaceSwitches,
    /// Switches of a tunnel's underlay. Without an MTU they have Ethernet's, 1500.
    pub underlay: InterfaceSwitches,
    /// Settings of the machines.
    pub tuning: BySide<Tuning>,
}

/// The switches of an interface on each side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct InterfaceSwitches {
    /// MTU of both, in bytes; `None`: as built.
    pub mtu: Option<u32>,
    pub features: BySide<BTreeMap<String, bool>>,
    pub devices: BySide<BTreeMap<DeviceSetting, u32>>,
}

impl Testbed {
    /// Sets the switches of both ends and their underlay, and reads them back.
    ///
    /// # Errors
    /// When an end or its interface is gone, the MTU is out of range, a machine refuses a setting,
    /// or on loopback the two ends are asked for different states.
    pub fn settle(&mut self, switches: &Switches) -> Result<Effective, Error> {
        let mut effective = self.settle_all(switches)?;
        self.place(&switches.tuning, &mut effective)?;
        Ok(effective)
    }

    pub(crate) fn place(&mut self, tuning: &BySide<Tuning>, effective: &mut Effective) -> Result<(), Error> {
        for end in self.ends() {
            let (side, wanted) = (end.side, &tuning[end.side]);
            if !wanted.varied.contains(&TuningKey::Placement) {
                continue;
            }
            let receiving = end.place(wanted.placement)?;
            let cpus = format_cpu_list(&end.cpus);
            let Some(settled) = interface_read_back(effective, side) else { continue };
            let irq = receiving
                .unwrap_or_else(|| settled.tuning.get(&TuningKey::Placement).cloned().unwrap_or_default());
            settled.tuning.insert(TuningKey::Placement, format!("irq {irq} traffic {cpus}"));
        }
        Ok(())
    }

    fn settle_all(&mut self, switches: &Switches) -> Result<Effective, Error> {
        let (own, under) = (&switches.own, &switches.underlay);
        let Some(family) = self.tunnel else {
            self.set_bridged_mtu(own.mtu.unwrap_or(self.scenario.default_mtu()))?;
            let (transmitter, receiver) = self.settle_ends(switches, own.mtu)?;
            return Ok(Effective { transmitter, receiver, underlay: None, fragments: None });
        };
        let mtus = tunnel_mtus(own.mtu, under.mtu, family);
        // The kernel rejects a tunnel larger than its underlay; the underlay may shrink later.
        let mut underlay = self.settle_underlay(switches, mtus.outer.max(mtus.needed))?;
        self.set_bridged_mtu(mtus.inner)?;
        let (transmitter, receiver) = self.settle_ends(switches, Some(mtus.inner))?;
        let fragments = (mtus.needed > mtus.outer).then_some(mtus);
        if fragments.is_some() {
            underlay = self.settle_underlay(switches, mtus.outer)?;
        }
        Ok(Effective { transmitter, receiver, underlay: Some(underlay), fragments })
    }

    fn set_bridged_mtu(&mut self, mtu: u32) -> Result<(), Error> {
        self.nodes.iter_mut().try_for_each(|node| node.set_mtu(mtu))
    }

    fn settle_ends(
        &mut self,
        switches: &Switches,
        mtu: Option<u32>,
    ) -> Result<(Settled, Option<Settled>), Error> {
        let own = &switches.own;
        let set = |end: &mut End| {
            let interface = end.interface.clone();
            let wanted = &switches.tuning[end.side];
            // Below a tunnel lies the machine's own.
            let tuning = match (end.agent.is_on_machine(), &end.underlay) {
                (true, None) => Some(wanted.clone()),
                (true, Some(_)) => None,
                (false, _) => wanted.of_network(),
            };
            settle_one(&mut end.agent, interface, mtu, (own, end.side), tuning)
        };
        if self.scenario == Scenario::Loopback {
            // By one agent: the second would remember what the first had set as the original state.
            let features = BySide { transmitter: agreed(own)?, receiver: BTreeMap::new() };
            let both = InterfaceSwitches { features, ..InterfaceSwitches::default() };
            let (end, tuning) = (&mut self.transmitter, switches.tuning.transmitter.of_network());
            let both = settle_one(&mut end.agent, end.interface.clone(), mtu, (&both, end.side), tuning)?;
            return Ok((both.clone(), Some(both)));
        }
        // The far end of a veth pair follows changes of the near end, so it is set last.
        self.receiver.as_mut().map(set).transpose()?;
        let transmitter = set(&mut self.transmitter)?;
        Ok((transmitter, self.receiver.as_mut().map(set).transpose()?))
    }

    fn settle_underlay(&mut self, switches: &Switches, mtu: u32) -> Result<BySide<Settled>, Error> {
        let mut set = |side: Side| {
            let (agent, interface) = self.underlay(side);
            let tuning = agent.is_on_machine().then(|| switches.tuning[side].clone());
            settle_one(agent, interface, Some(mtu), (&switches.underlay, side), tuning)
        };
        set(Side::Receiver)?;
        BySide::try_from_fn(set)
    }
}

fn settle_one(
    agent: &mut LaunchedAgent,
    interface: String,
    mtu: Option<u32>,
    (switches, side): (&InterfaceSwitches, Side),
    tuning: Option<Tuning>,
) -> Result<Settled, Error> {
    let (features, device) = (switches.features[side].clone(), switches.devices[side].clone());
    let request = Request::Settle { interface, mtu, features, device, tuning };
    Ok(ask!(agent, &request, Answer::Settled(settled) => settled))
}

fn agreed(switches: &InterfaceSwitches) -> Result<BTreeMap<String, bool>, Error> {
    let mut both = switches.features.transmitter.clone();
    for (name, on) in &switches.features.receiver {
        if both.insert(name.clone(), *on).is_some_and(|other| other != *on) {
            return Err(Error::Unfit(format!(
                "over loopback both ends share one interface, so {name} cannot be on at one end and off at the other: give both sides the same level, or use scenario = \"veth\""
            )));
        }
    }
    Ok(both)
}

fn interface_read_back(effective: &mut Effective, side: Side) -> Option<&mut Settled> {
    match (&mut effective.underlay, side) {
        (Some(under), side) => Some(&mut under[side]),
        (None, Side::Transmitter) => Some(&mut effective.transmitter),
        (None, Side::Receiver) => effective.receiver.as_mut(),
    }
}

impl End {
    /// Returns the CPUs of the receive work; `None` is where they were at first.
    fn place(&mut self, wanted: Option<Placement>) -> Result<Option<String>, Error> {
        let is_on_machine = self.agent.is_on_machine();
        let may = if is_on_machine { self.agent.cpu_numbers() } else { self.home.clone() };
        if let Some(Placement { irq, traffic }) = wanted {
            let steered = (!is_on_machine).then_some(irq);
            if let Some(cpu) = std::iter::once(traffic).chain(steered).find(|cpu| !may.contains(cpu)) {
                let end = format!("{} ({})", self.side, self.agent.machine());
                return Err(not_allowed(end, cpu, &may));
            }
        }
        self.cpus = wanted.map_or_else(|| self.home.clone(), |both| vec![both.traffic]);
        if is_on_machine {
            return Ok(None);
        }
        let cpus = wanted.map_or_else(|| self.home.clone(), |both| vec![both.irq]);
        let interface = self.underlay.as_ref().unwrap_or(&self.interface).clone();
        let receiving = format_cpu_list(&cpus);
        self.agent.order(&Request::Steer { interface, cpus })?;
        Ok(Some(receiving))
    }
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
            device: BTreeMap::new(),
            tuning: BTreeMap::new(),
        }
    }

    pub(crate) fn effective(transmitter: Settled, receiver: Settled) -> Effective {
        Effective { transmitter, receiver: Some(receiver), underlay: None, fragments: None }
    }

    #[test]
    fn one_interface_cannot_be_in_two_states() {
        let mut switches = InterfaceSwitches::default();
        switches.features.transmitter.insert("tx-tcp-segmentation".into(), true);
        switches.features.receiver.insert("tx-tcp-segmentation".into(), false);
        let error = agreed(&switches).unwrap_err();
        assert!(error.to_string().contains("tx-tcp-segmentation"), "{error}");
        switches.features.receiver.insert("tx-tcp-segmentation".into(), true);
        assert_eq!(agreed(&switches).unwrap().len(), 1);
    }
}

//! The interfaces of an agent's host. In namespaces of its own an agent changes them freely. On the
//! machine itself ([`crate::Isolation::Machine`]) every change goes through the undo journal.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use host::journal::Change;
use host::machine::{Interface, Machine, MachineRequest, Target};
use host::{DeviceChange, Ethtool, FeatureChange, Impairment, LEAST_IPV6_MTU, Links};
use words::{DeviceSetting, Tuning, TuningKey};

use crate::error::{Refusal, Reply};
use crate::launch::Launch;
use crate::machine::MachineSettings;
use crate::message::Answer;

/// Settings of the machine as they are read back.
pub(crate) type TuningTexts = BTreeMap<TuningKey, String>;

pub(crate) struct Interfaces {
    pub(crate) links: Links,
    pub(crate) ethtool: Ethtool,
    pub(crate) machine: MachineSettings,
    made: BTreeSet<String>,
    given: BTreeMap<String, Vec<(IpAddr, u8)>>,
    behind: BTreeMap<String, Vec<IpAddr>>,
}

impl Interfaces {
    pub(crate) fn open(launch: &Launch) -> Result<Self, host::Error> {
        Ok(Self {
            links: Links::open()?,
            ethtool: Ethtool::open()?,
            machine: MachineSettings::new(launch),
            made: BTreeSet::new(),
            given: BTreeMap::new(),
            behind: BTreeMap::new(),
        })
    }

    /// False for an interface that was made here, or lies in the agent's namespaces.
    fn is_journalled(&self, name: &str) -> bool {
        self.machine.is_allowed() && !self.made.contains(name)
    }

    fn journalled(&self, name: &str) -> Result<Option<Interface>, host::Error> {
        self.is_journalled(name).then(|| Interface::find(name)).transpose()
    }

    pub(crate) fn make<T>(
        &mut self,
        name: &str,
        kind: &str,
        make: impl FnOnce(&mut Links) -> Result<T, host::Error>,
    ) -> Result<T, Refusal> {
        let Self { links, machine, .. } = self;
        let made = if machine.is_allowed() {
            let target = Target::Made { name: name.to_owned(), kind: kind.to_owned() };
            machine.cover(&[target], || make(links))?
        } else {
            make(links)?
        };
        self.made.insert(name.to_owned());
        Ok(made)
    }

    pub(crate) fn add_addresses(&mut self, name: &str, addresses: &[(IpAddr, u8)]) -> Result<(), Refusal> {
        let journalled = self.journalled(name)?;
        let Self { links, machine, .. } = self;
        for (address, prefix) in addresses {
            let Some(interface) = &journalled else {
                links.add_address(name, *address, *prefix)?;
                continue;
            };
            let target = Target::Address { interface: interface.clone(), address: *address, prefix: *prefix };
            if Machine::system().read(&target)? != "present".into() {
                machine.cover(&[target], || links.add_address(name, *address, *prefix))?;
            }
        }
        self.given.entry(name.to_owned()).or_default().extend(addresses);
        Ok(())
    }

    fn change<T>(
        &mut self,
        name: &str,
        affected: impl FnOnce(&Machine, &Interface) -> Result<Vec<Target>, host::Error>,
        action: impl FnOnce(&mut Links, &mut Ethtool) -> Result<T, host::Error>,
    ) -> Result<T, Refusal> {
        let journalled = self.journalled(name)?;
        let Self { links, ethtool, machine, .. } = self;
        let affected = |interface: Interface| affected(&Machine::system(), &interface);
        let affected = journalled.map_or(Ok(Vec::new()), affected)?;
        if affected.is_empty() {
            return Ok(action(links, ethtool)?);
        }
        machine.cover(&affected, || action(links, ethtool))
    }

    pub(crate) fn set_up(&mut self, name: &str) -> Result<(), Refusal> {
        if self.journalled(name)?.is_some() && self.links.find(name)?.up {
            return Ok(());
        }
        self.change(name, |machine, one| Ok(machine.affected_by_up(one)), |links, _| links.set_up(name))
    }

    pub(crate) fn add_port(&mut self, bridge: &str, name: &str) -> Result<(), Refusal> {
        if self.journalled(name)?.is_some() && !self.made.contains(bridge) {
            return Err(format!("the bridge {bridge:?} is the machine's own, and keeps its ports").into());
        }
        // The bridge's deletion frees the port; features that the kernel turns off (LRO) stay off.
        self.change(name, Machine::affected_by_features, |links, _| links.add_port(bridge, name))
    }

    pub(crate) fn add_addresses_behind(&mut self, name: &str, behind: Vec<IpAddr>) -> Result<(), Refusal> {
        for address in &behind {
            self.links.add_neighbour_behind_discard(name, *address)?;
        }
        self.behind.insert(name.to_owned(), behind);
        Ok(())
    }

    pub(crate) fn set_mtu(&mut self, name: &str, mtu: u32) -> Result<(), Refusal> {
        let before = self.links.find(name)?.mtu;
        if before == mtu {
            return Ok(());
        }
        // IPv6 settings that a small MTU removed come back with a larger one.
        let is_back = before < LEAST_IPV6_MTU && mtu >= LEAST_IPV6_MTU;
        let journalled = self.journalled(name)?.filter(|_| is_back);
        if journalled.is_some() {
            // The journal has what the kernel removed.
            let is_of_mtu = |target: &Target| {
                matches!(target, Target::Mtu { .. } | Target::Ipv6 { .. } | Target::Ipv6Mtu { .. })
            };
            let is_own = |target: &Target| target.interface() == journalled.as_ref();
            self.machine.undo_matching(|target| is_of_mtu(target) && is_own(target))?;
        }
        if self.links.find(name)?.mtu != mtu {
            let affected = |machine: &Machine, one: &Interface| machine.affected_by_mtu(one, mtu);
            self.change(name, affected, |links, _| links.set_mtu(name, mtu))?;
        }
        if is_back && journalled.is_none() {
            let given = self.given.get(name).into_iter().flatten();
            for (address, prefix) in given.filter(|(address, _)| address.is_ipv6()) {
                self.links.add_address(name, *address, *prefix)?;
            }
            let behind = self.behind.get(name).into_iter().flatten();
            for address in behind.filter(|address| address.is_ipv6()) {
                self.links.add_neighbour_behind_discard(name, *address)?;
            }
        }
        // The kernel keeps path MTUs that it found under the old MTU for ten minutes.
        host::forget_path_mtus();
        Ok(())
    }

    pub(crate) fn switch(
        &mut self,
        name: &str,
        wanted: &BTreeMap<String, bool>,
    ) -> Result<FeatureChange, Refusal> {
        if !(self.is_journalled(name) && FeatureChange::is_needed(&self.ethtool.features(name)?, wanted)) {
            return Ok(self.ethtool.set(name, wanted)?);
        }
        self.change(name, Machine::affected_by_features, |_, ethtool| ethtool.set(name, wanted))
    }

    pub(crate) fn set_device(
        &mut self,
        name: &str,
        wanted: &BTreeMap<DeviceSetting, u32>,
    ) -> Result<DeviceChange, Refusal> {
        if !(self.is_journalled(name) && DeviceChange::is_needed(&self.ethtool.device(name)?, wanted)) {
            return Ok(self.ethtool.set_device(name, wanted)?);
        }
        self.change(name, Machine::affected_by_device, |_, ethtool| ethtool.set_device(name, wanted))
    }

    pub(crate) fn change_machine(&mut self, wanted: &MachineRequest) -> Reply {
        self.machine.check_allowed()?;
        if let Some((interface, _)) = &wanted.placement
            && self.queues(interface)?.is_some_and(|queues| queues > 1)
        {
            let change = self.set_device(interface, &ONE_QUEUE.into())?;
            check_one_queue(interface, &change)?;
        }
        self.machine.change(wanted)
    }

    fn queues(&mut self, name: &str) -> Result<Option<u32>, Refusal> {
        Ok(self.ethtool.device(name)?.get(&DeviceSetting::Queues).map(|queues| queues.now))
    }

    pub(crate) fn preview_machine(&mut self, wanted: &MachineRequest) -> Reply {
        let mut changes = self.machine.preview(wanted)?;
        if let Some((interface, _)) = &wanted.placement
            && let Some(queues) = self.queues(interface)?.filter(|queues| *queues > 1)
        {
            let interface = Interface::find(interface).map_err(Refusal::passing)?;
            let target = Target::Device { interface, setting: DeviceSetting::Queues };
            let (before, after) = (queues.to_string().as_str().into(), Some("1".into()));
            changes.insert(0, Change { number: 0, target, before, after });
        }
        Ok(Answer::MachineChanged(changes))
    }

    pub(crate) fn tune(&mut self, name: &str, tuning: &Tuning) -> Result<TuningTexts, Refusal> {
        self.machine.tune(tuning, name)?;
        Ok(self.read_tuning(name, tuning))
    }

    /// On the machine itself only features whose switching can be undone; an error has the reason.
    pub(crate) fn switchable(
        &self,
        name: &str,
    ) -> Result<impl Fn(&str) -> Result<(), Refusal> + use<>, Refusal> {
        let journalled = self.journalled(name)?;
        Ok(move |feature: &str| {
            let Some(interface) = &journalled else { return Ok(()) };
            let target = Target::Feature { interface: interface.clone(), feature: feature.to_owned() };
            target.check().map_err(|why| Refusal::passing(format_args!("cannot switch {target}: {why}")))
        })
    }

    pub(crate) fn tune_in_flight(&mut self, name: &str, tuning: &Tuning) -> Result<TuningTexts, Refusal> {
        match tuning.placement {
            // On a machine that must not be changed, only the CPUs that receive for an interface of
            // the agent's own namespace can be set.
            Some(placement) if !self.machine.is_allowed() => {
                let own = tuning.of_network().unwrap_or_default();
                let tuned = self.tune(name, &own)?;
                self.steer(name, &[placement.irq])?;
                Ok(tuned)
            }
            _ => self.tune(name, tuning),
        }
    }

    pub(crate) fn read_tuning(&self, name: &str, of: &Tuning) -> TuningTexts {
        let machine = Machine::system();
        of.varied.iter().map(|key| (*key, machine.setting_text(*key, of, name))).collect()
    }

    pub(crate) fn undo(&mut self) -> Reply {
        self.made.clear();
        self.given.clear();
        self.behind.clear();
        self.machine.undo()
    }

    pub(crate) fn steer(&mut self, name: &str, cpus: &[u32]) -> Result<(), Refusal> {
        self.change(name, Machine::affected_by_steering, |_, _| host::machine::steer(name, cpus))
    }

    pub(crate) fn steer_new(&self, cpus: &[u32]) -> Result<(), Refusal> {
        if self.machine.is_allowed() {
            return Err("the interfaces that other programs make on this machine are not steered: steer each interface".into());
        }
        host::machine::steer_new(cpus).map_err(Refusal::passing)
    }

    pub(crate) fn impair(&mut self, name: &str, wanted: &Impairment) -> Result<(), Refusal> {
        if self.journalled(name)?.is_none() {
            return Ok(self.links.impair(name, wanted)?);
        }
        if *wanted == Impairment::default() {
            return Ok(());
        }
        Err(format!(
            "interface {name:?} is the machine's own, and keeps its queueing disciplines: a delay, a loss or a rate of the path \
             is made on tunnels and in namespaces only"
        )
        .into())
    }
}

pub(crate) const ONE_QUEUE: [(DeviceSetting, u32); 1] = [(DeviceSetting::Queues, 1)];

pub(crate) fn check_one_queue(interface: &str, change: &DeviceChange) -> Result<(), Refusal> {
    let Some(why) = change.refused.get(&DeviceSetting::Queues) else { return Ok(()) };
    Err(format!("interface {interface:?} cannot have one queue, which `placement` needs: {why}").into())
}

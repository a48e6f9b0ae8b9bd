//! A testbed without hosts, whose interfaces follow rules: the kernel's own, or any.

use std::collections::{BTreeMap, BTreeSet};

use netassay_runner::{Bench, Lab, Readings};
use record::{Crash, Disturbance, Environment, Note, PathTrace, sample};
use study::{BootState, Condition, Effective, Settled, Tracing};
use testbed::reach::HostBoot;
use testbed::{RunOrder, Switches, TurnsOrder};

/// The rules by which an interface turns wanted features into applied ones.
pub(crate) type Rules = fn(&mut BTreeSet<String>);

/// An interface.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interface {
    /// Features that can be switched, and are on when the interface comes up.
    pub(crate) switchable: BTreeSet<String>,
    /// Features that are on and stay on.
    pub(crate) fixed_on: BTreeSet<String>,
    /// Features that are off and stay off.
    pub(crate) fixed_off: BTreeSet<String>,
    /// Beside the kernel's rules: a feature, and what it needs.
    pub(crate) needs: Vec<(String, String)>,
}

impl Interface {
    /// A host whose interfaces can switch these features.
    pub(crate) fn with(switchable: &[&str]) -> Self {
        let switchable = switchable.iter().map(ToString::to_string).collect();
        Self { switchable, ..Self::default() }
    }

    /// The state it comes to when this is asked of it, whatever it was in before.
    pub(crate) fn settle(&self, asked: &BTreeMap<String, bool>, rules: Rules) -> Settled {
        let wanted = |name: &&String| asked.get(*name).copied().unwrap_or(true);
        let mut on: BTreeSet<String> = self.switchable.iter().filter(wanted).cloned().collect();
        on.extend(self.fixed_on.iter().cloned());
        // As `__netdev_update_features` has it: first the driver's own rules, then the kernel's,
        // once.
        while let Some((feature, _)) =
            self.needs.iter().find(|(feature, need)| on.contains(feature) && !on.contains(need))
        {
            on.remove(feature);
        }
        rules(&mut on);
        on.extend(self.fixed_on.iter().cloned());
        let known = self.switchable.iter().chain(&self.fixed_on).chain(&self.fixed_off);
        let active: BTreeMap<String, bool> = known.map(|name| (name.clone(), on.contains(name))).collect();
        let unfulfilled = |(name, want): &(&String, &bool)| active.get(*name).is_some_and(|is| is != *want);
        let refused =
            asked.iter().filter(unfulfilled).map(|(name, _)| (name.clone(), "fixed".to_owned())).collect();
        Settled {
            mtu: 1500,
            active,
            refused,
            follow_on: BTreeMap::new(),
            device: BTreeMap::new(),
            tuning: BTreeMap::new(),
        }
    }
}

/// `netdev_fix_features` of `net/core/dev.c` (Linux 6.18), rule by rule, for what a study may name.
pub(crate) fn kernel(on: &mut BTreeSet<String>) {
    let has = |on: &BTreeSet<String>, name: &str| on.contains(name);
    let drop = |on: &mut BTreeSet<String>, names: &[&str]| names.iter().for_each(|name| drop_one(on, name));
    let tso = [
        "tx-tcp-segmentation",
        "tx-tcp6-segmentation",
        "tx-tcp-ecn-segmentation",
        "tx-tcp-mangleid-segmentation",
    ];
    let (generic, ipv4, ipv6) = ("tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6");
    // Mixed settings of checksums.
    if has(on, generic) {
        drop(on, &[ipv4, ipv6]);
    }
    if !has(on, "tx-scatter-gather") {
        drop(on, &tso);
        drop(on, &["tx-generic-segmentation"]);
    }
    if !has(on, generic) && !has(on, ipv4) {
        drop(on, &[tso[0], tso[2]]);
    }
    if !has(on, generic) && !has(on, ipv6) {
        drop(on, &[tso[1]]);
    }
    if !has(on, tso[0]) {
        drop(on, &[tso[3]]);
    }
    if !has(on, tso[0]) && !has(on, tso[1]) && !has(on, tso[3]) {
        drop(on, &[tso[2]]);
    }
    if !(has(on, generic) || has(on, ipv4) && has(on, ipv6)) {
        drop(on, &["tx-udp-segmentation"]);
    }
    if !has(on, "rx-checksum") {
        drop(on, &["rx-gro-hw"]);
    }
    if has(on, "rx-gro-hw") {
        drop(on, &["rx-lro"]);
    }
}

fn drop_one(on: &mut BTreeSet<String>, name: &str) {
    on.remove(name);
}

/// No rules but an interface's own.
pub(crate) fn free(_: &mut BTreeSet<String>) {}

/// Testbeds of two such interfaces, with two more under a tunnel if asked.
#[derive(Debug, Clone)]
pub(crate) struct RuledLab {
    pub(crate) rules: Rules,
    pub(crate) transmitter: Interface,
    pub(crate) receiver: Interface,
    pub(crate) underlay: Option<Interface>,
}

impl RuledLab {
    /// Both sides alike, by the kernel's rules.
    pub(crate) fn of(interface: Interface) -> Self {
        Self { rules: kernel, transmitter: interface.clone(), receiver: interface, underlay: None }
    }

    /// The state after setting these switches.
    pub(crate) fn settled(&self, switches: &Switches) -> Effective {
        let under = |interface: &Interface| {
            let asked = switches.underlay.features.each_ref();
            asked.map(|_, asked| interface.settle(asked, self.rules))
        };
        Effective {
            transmitter: self.transmitter.settle(&switches.own.features.transmitter, self.rules),
            receiver: Some(self.receiver.settle(&switches.own.features.receiver, self.rules)),
            underlay: self.underlay.as_ref().map(under),
            fragments: None,
        }
    }
}

impl Lab for RuledLab {
    fn build(&mut self, state: &BootState) -> Result<Box<dyn Bench>, testbed::Error> {
        let underlay = self.underlay.clone().filter(|_| state.scenario.has_tunnel());
        Ok(Box::new(RuledBench(Self { underlay, ..self.clone() })))
    }

    fn boots(&mut self) -> Result<Vec<HostBoot>, testbed::Error> {
        Ok(Vec::new())
    }

    fn restart(&mut self, _state: &BootState) -> Result<(), testbed::Error> {
        Ok(())
    }

    fn crash(&mut self, _before: &Environment) -> Result<Option<Crash>, testbed::Error> {
        Ok(None)
    }

    fn revive(&mut self, _before: &Environment) -> Result<bool, testbed::Error> {
        Ok(true)
    }
}

struct RuledBench(RuledLab);

impl Bench for RuledBench {
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    fn environment(&mut self) -> Result<Environment, testbed::Error> {
        Ok(sample::environment())
    }

    fn settle(&mut self, switches: &Switches) -> Result<Effective, testbed::Error> {
        Ok(self.0.settled(switches))
    }

    fn lacking(
        &mut self,
        _traffic: &load::Traffic,
        _family: load::Family,
    ) -> Result<Vec<String>, testbed::Error> {
        Ok(Vec::new())
    }

    fn run(&mut self, _condition: &Condition, _tick: &mut dyn FnMut()) -> Result<Readings, testbed::Error> {
        Ok(Readings::default())
    }

    fn check_path(&mut self, _order: &RunOrder, _effective: &Effective) -> Result<(), testbed::Error> {
        Ok(())
    }

    fn take_turns(
        &mut self,
        _order: &TurnsOrder,
        _tick: &mut dyn FnMut(),
    ) -> Result<Vec<Readings>, testbed::Error> {
        unreachable!("a design is only tried")
    }

    fn trace(
        &mut self,
        _order: &RunOrder,
        _tracing: &Tracing,
        _tick: &mut dyn FnMut(),
    ) -> Result<Vec<PathTrace>, testbed::Error> {
        unreachable!("a design is only tried")
    }

    fn differences(&mut self) -> Vec<Disturbance> {
        Vec::new()
    }
}

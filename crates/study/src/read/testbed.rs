//! Settings of a testbed that conflict: virtual machines, tunnels, exact mode.

use std::ops::Range;

use words::{Acceleration, Scenario, Value};

use crate::model::{BootKind, Guest, Varied};
use crate::read::part::Places;
use crate::read::{ParsedFactor, Problems, factor};

#[derive(Debug)]
pub(crate) struct ParsedTestbed<'r> {
    pub(crate) scenarios: &'r [Scenario],
    pub(crate) inside: Option<Range<usize>>,
    pub(crate) exact: Option<Range<usize>>,
    pub(crate) guest: Guest,
    pub(crate) guest_place: Option<Range<usize>>,
    pub(crate) guest_keys: &'r Places,
    pub(crate) underlay_place: Option<Range<usize>>,
    pub(crate) underlay_keys: &'r Places,
    pub(crate) factors: &'r [ParsedFactor],
}

impl ParsedTestbed<'_> {
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some() || self.exact.is_some()
    }

    pub(crate) fn check(&self, problems: &mut Problems) {
        let in_guest = self.guest_keys.iter().map(|(key, place)| (Varied::Guest(key), place));
        let in_underlay = self.underlay_keys.iter().map(|(key, place)| (Varied::Underlay(key), place));
        for (subject, place) in in_guest.chain(in_underlay) {
            if let Some(read) = self.factor(&subject) {
                factor::report_overridden(&read.factor.name, place.clone(), problems);
            }
        }
        // A message names one scenario: the first with the problem.
        let Some(&first) = self.scenarios.first() else { return };
        let with_guests = self.scenarios.iter().copied().find(|scenario| scenario.has_guests());
        let on_machines = self.scenarios.iter().copied().find(|scenario| scenario.has_machines());
        if let Some(scenario) = with_guests.or(on_machines.filter(|_| self.is_inside())) {
            for place in [self.inside.clone(), self.exact.clone()] {
                let message = format!("the two hosts of `{scenario}` cannot stand inside one guest");
                problems.report(place, message, "remove it, or use the scenario `veth` or `loopback`");
            }
        } else if !self.is_inside() {
            self.without_guests(first, problems);
        } else {
            // A single guest has no other to connect to.
            let message = format!("`nic` joins two guests, and `{first}` runs inside one");
            problems.report(self.place_of("nic"), message, "remove it, or use the scenario `vm`");
        }
        if !self.scenarios.iter().any(|scenario| scenario.has_tunnel()) {
            self.without_tunnel(first, problems);
        }
        if self.exact.is_none() {
            let message = "`copies` is how exact mode counts copies, and this study measures time";
            problems.report(self.place_of("copies"), message, "remove it, or set `exact = true`");
        } else if with_guests.is_none() {
            self.exactly_one(problems);
        }
    }

    fn factor(&self, subject: &Varied) -> Option<&ParsedFactor> {
        self.factors.iter().find(|read| read.factor.subject == *subject)
    }

    fn place_of(&self, key: &'static str) -> Option<Range<usize>> {
        let factor = self.factor(&Varied::Guest(key)).map(|read| read.name.clone());
        factor.or_else(|| self.guest_keys.get(key).cloned())
    }

    fn without_guests(&self, scenario: Scenario, problems: &mut Problems) {
        const HELP: &str = "use the scenario `vm` or `vm-vxlan`, or write `inside = \"guest\"` at the top";
        let message = format!("`[guest]` needs virtual machines, and `{scenario}` has none");
        problems.report(self.guest_place.clone(), message, HELP);
        let has_kernels = self.scenarios.iter().all(|scenario| scenario.has_machines());
        for read in self.factors {
            let Varied::Guest(key) = read.factor.subject else { continue };
            if key != "kernel" || !has_kernels {
                let name = &read.factor.name;
                let message = format!("`{name}` is a setting of virtual machines, and `{scenario}` has none");
                problems.report(read.name.clone(), message, HELP);
            }
        }
    }

    pub(crate) fn kernels_of_machines(&self, how: BootKind, problems: &mut Problems) {
        let are_machines = self.scenarios.iter().any(|scenario| scenario.has_machines());
        let read = self.factor(&Varied::Guest("kernel"));
        let read = read.filter(|_| are_machines && how != BootKind::Reboot);
        let message = "`kernel` of machines changes when they restart, and here they do not";
        let help = "write `boots = { how = \"reboot\", count = 3 }` in `[protocol]`, or remove it";
        problems.report(read.map(|read| read.name.clone()), message, help);
    }

    fn without_tunnel(&self, scenario: Scenario, problems: &mut Problems) {
        let help = "remove it, or use the scenario `vxlan`, `vm-vxlan` or `ssh-vxlan`";
        let message = format!("`[underlay]` is for tunnels, and `{scenario}` has none");
        problems.report(self.underlay_place.clone(), message, help);
        for read in self.factors.iter().filter(|read| read.factor.subject.scope().underlay) {
            let name = &read.factor.name;
            let message = format!(
                "`{name}` is a setting of the interfaces under a tunnel, and `{scenario}` has no tunnel"
            );
            problems.report(read.name.clone(), message, help);
        }
    }

    fn exactly_one(&self, problems: &mut Problems) {
        let vcpus = self.guest_keys.get("vcpus").cloned().filter(|_| self.guest.vcpus != 1);
        let levels = self.factor(&Varied::Guest("vcpus")).into_iter().flat_map(|read| {
            let levels = read.factor.values.iter().zip(&read.levels);
            levels.filter(|(level, _)| **level != Value::Number(1)).map(|(_, place)| place.clone())
        });
        for place in vcpus.into_iter().chain(levels) {
            let message = "exact mode counts the instructions of one CPU";
            problems.report(place, message, "set `vcpus = 1`, or `exact = false`");
        }
        let kvm = self.guest.acceleration == Acceleration::Kvm;
        let message = "exact mode needs emulation: KVM does not count instructions";
        let place = self.guest_keys.get("acceleration").cloned().filter(|_| kvm);
        problems.report(place, message, "remove it, or set `exact = false`");
    }
}

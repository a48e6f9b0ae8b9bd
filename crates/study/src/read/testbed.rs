//! Settings of a testbed that conflict: virtual machines, tunnels, exact mode.

use std::ops::Range;

use words::{Acceleration, Scenario, Value};

use crate::model::{BootKind, Guest, Subject};
use crate::read::{Problems, Written, factor, part};

/// The file's settings of its testbed, with places.
#[derive(Debug)]
pub(crate) struct Testbed<'r> {
    pub(crate) scenarios: &'r [Scenario],
    pub(crate) inside: Option<Range<usize>>,
    pub(crate) exact: Option<Range<usize>>,
    pub(crate) guest: &'r [Written],
    pub(crate) guest_place: Option<Range<usize>>,
    pub(crate) underlay: &'r [Written],
    pub(crate) underlay_place: Option<Range<usize>>,
    pub(crate) factors: &'r [factor::Read],
}

impl Testbed<'_> {
    /// Whether the whole testbed is inside one virtual machine, as in exact mode.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some() || self.exact.is_some()
    }

    /// The virtual machine of `[guest]`, with defaults for missing keys.
    pub(crate) fn guest(&self) -> Guest {
        let mut guest = Guest::default();
        let values = self.guest.iter().filter_map(|one| Some((one.key, one.value.as_ref()?)));
        values.for_each(|(key, value)| guest.set(key, value));
        guest
    }

    pub(crate) fn check(&self, problems: &mut Problems) {
        self.overridden(problems);
        // A message names one scenario: the first with the problem.
        let Some(&first) = self.scenarios.first() else { return };
        let with_guests = self.scenarios.iter().copied().find(|scenario| scenario.has_guests());
        let on_machines = self.scenarios.iter().copied().find(|scenario| scenario.has_machines());
        if let Some(scenario) = with_guests.or(on_machines.filter(|_| self.is_inside())) {
            self.hosts_in_a_guest(scenario, problems);
        } else if !self.is_inside() {
            self.without_guests(first, problems);
        } else {
            self.one_guest(first, problems);
        }
        if !self.scenarios.iter().any(|scenario| scenario.has_tunnel()) {
            self.without_tunnel(first, problems);
        }
        if self.exact.is_some() && with_guests.is_none() {
            self.exactly_one(problems);
        }
        if self.exact.is_none() {
            self.copies_of_time(problems);
        }
    }

    /// Values that a factor of the same name overrides.
    fn overridden(&self, problems: &mut Problems) {
        let in_guest = self.guest.iter().map(|one| (Subject::Guest(one.key), &one.place));
        let in_underlay = self.underlay.iter().map(|one| (Subject::Underlay(one.key), &one.place));
        for (subject, place) in in_guest.chain(in_underlay) {
            if let Some(read) = self.factor(&subject) {
                problems.push(factor::overridden(read, place.clone()));
            }
        }
    }

    fn factor(&self, subject: &Subject) -> Option<&factor::Read> {
        self.factors.iter().find(|read| read.factor.subject == *subject)
    }

    fn place_of(&self, key: &'static str) -> Option<Range<usize>> {
        let factor = self.factor(&Subject::Guest(key)).map(|read| read.name.clone());
        factor.or_else(|| part::place_of(self.guest, key))
    }

    /// The whole testbed inside one guest, where the hosts are guests or machines themselves.
    fn hosts_in_a_guest(&self, scenario: Scenario, problems: &mut Problems) {
        let (are, two) = if scenario.has_guests() {
            ("guests already, and a guest cannot contain guests", "has two")
        } else {
            ("machines of yours, and a guest cannot contain them", "has two machines")
        };
        if let Some(place) = &self.inside {
            let message = format!("the hosts of `{scenario}` are {are}");
            problems.report(place.clone(), message, "remove it, or use the scenario `veth`");
        }
        if let Some(place) = &self.exact {
            let message = format!("exact mode counts the instructions of one guest, and `{scenario}` {two}");
            let help = "use the scenario `veth` or `loopback`, which then runs inside one guest";
            problems.report(place.clone(), message, help);
        }
    }

    fn without_guests(&self, scenario: Scenario, problems: &mut Problems) {
        const HELP: &str = "use the scenario `vm` or `vm-vxlan`, or write `inside = \"guest\"` at the top";
        if let Some(place) = &self.guest_place {
            let message = format!("`[guest]` needs virtual machines, and `{scenario}` has none");
            problems.report(place.clone(), message, HELP);
        }
        let has_kernels = self.scenarios.iter().all(|scenario| scenario.has_machines());
        let is_of_guest = |read: &&factor::Read| match &read.factor.subject {
            Subject::Guest("kernel") => !has_kernels,
            Subject::Guest(_) => true,
            _ => false,
        };
        for read in self.factors.iter().filter(is_of_guest) {
            let message = format!(
                "`{}` is a setting of virtual machines, and `{scenario}` has none",
                &read.factor.name
            );
            problems.report(read.name.clone(), message, HELP);
        }
    }

    /// Kernels of machines, which only a restart changes.
    pub(crate) fn kernels_of_machines(&self, how: BootKind, problems: &mut Problems) {
        let are_machines = self.scenarios.iter().any(|scenario| scenario.has_machines());
        let Some(read) = self.factor(&Subject::Guest("kernel")).filter(|_| are_machines) else { return };
        if how != BootKind::Reboot {
            let message = "`kernel` of machines changes when they restart, and here they do not";
            let help = "write `boots = { how = \"reboot\", count = 3 }` in `[protocol]`, or remove it";
            problems.report(read.name.clone(), message, help);
        }
    }

    /// A single guest has no other to connect to.
    fn one_guest(&self, scenario: Scenario, problems: &mut Problems) {
        if let Some(place) = self.place_of("nic") {
            let message = format!("`nic` joins two guests, and `{scenario}` runs inside one");
            problems.report(place, message, "remove it, or use the scenario `vm`");
        }
    }

    /// `copies` without exact mode.
    fn copies_of_time(&self, problems: &mut Problems) {
        if let Some(place) = self.place_of("copies") {
            let message = "`copies` is how exact mode counts copies, and this study measures time";
            problems.report(place, message, "remove it, or set `exact = true`");
        }
    }

    fn without_tunnel(&self, scenario: Scenario, problems: &mut Problems) {
        let tunnel = match scenario {
            _ if scenario.has_guests() => Scenario::VmVxlan,
            _ if scenario.has_machines() => Scenario::SshVxlan,
            _ => Scenario::Vxlan,
        };
        if let Some(place) = &self.underlay_place {
            let message = format!("`[underlay]` is for tunnels, and `{scenario}` has none");
            let help = format!("use the scenario `{tunnel}`, or remove it");
            problems.report(place.clone(), message, help);
        }
        for read in self.factors.iter().filter(|read| read.factor.subject.scope().underlay) {
            let name = &read.factor.name;
            let message = format!(
                "`{name}` is a setting of the interfaces under a tunnel, and `{scenario}` has no tunnel"
            );
            let bare = name.replacen("underlay.", "", 1);
            let help = format!("write `{bare}`, or use the scenario `{tunnel}`");
            problems.report(read.name.clone(), message, help);
        }
    }

    fn exactly_one(&self, problems: &mut Problems) {
        const WHY: &str = "exact mode counts the instructions of one CPU";
        let guest = self.guest();
        if let Some(place) = part::place_of(self.guest, "vcpus").filter(|_| guest.vcpus != 1) {
            problems.report(place, WHY, "set `vcpus = 1`, or `exact = false`");
        }
        if let Some(read) = self.factor(&Subject::Guest("vcpus")) {
            for (index, place) in read.levels.iter().enumerate() {
                if *read.factor.level(index) != Value::Number(1) {
                    problems.report(place.clone(), WHY, "keep 1 only, or set `exact = false`");
                }
            }
        }
        let kvm = guest.acceleration == Acceleration::Kvm;
        if let Some(place) = part::place_of(self.guest, "acceleration").filter(|_| kvm) {
            let message = "exact mode needs emulation: KVM does not count instructions";
            problems.report(place, message, "remove it, or set `exact = false`");
        }
    }
}

//! What of a study's testbed does not go together: virtual machines, tunnels, exact mode.

use std::ops::Range;
use words::{Acceleration, Scenario};

use crate::model::factor::{Level, Subject};
use crate::model::scope::UNDERLAY;
use crate::read::diagnostic::Problem;
use crate::read::problems::Problems;
use crate::read::{factor, guest, underlay};

/// What the file says of its testbed, with places.
#[derive(Debug)]
pub(crate) struct Testbed<'r> {
    /// The scenarios that could be read.
    pub(crate) scenarios: &'r [Scenario],
    /// The place of `inside`, if it is written.
    pub(crate) inside: Option<Range<usize>>,
    /// The place of `exact`, if it is on.
    pub(crate) exact: Option<Range<usize>>,
    pub(crate) guest: &'r guest::Read,
    /// The place of `[guest]`, if it is written.
    pub(crate) guest_place: Option<Range<usize>>,
    pub(crate) underlay: &'r underlay::Read,
    /// The place of `[underlay]`, if it is written.
    pub(crate) underlay_place: Option<Range<usize>>,
    pub(crate) factors: &'r [factor::Read],
}

impl Testbed<'_> {
    /// Whether everything stands inside one virtual machine: exact mode counts the instructions of
    /// one.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some() || self.exact.is_some()
    }

    /// Reports all that does not go together.
    pub(crate) fn check(&self, problems: &mut Problems) {
        self.overridden(problems);
        // A message names one scenario: the first that it is true of.
        let Some(&first) = self.scenarios.first() else { return };
        let with_guests = self.scenarios.iter().copied().find(|scenario| scenario.has_guests());
        if let Some(scenario) = with_guests {
            self.guests_in_guests(scenario, problems);
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

    /// Values that are never used, because a factor of the same name is.
    fn overridden(&self, problems: &mut Problems) {
        let is_factor = |subject: &Subject| self.factors.iter().any(|read| read.factor.subject() == subject);
        let in_guest = self.guest.written.iter().filter_map(|(key, place)| Some((Subject::of(key)?, place)));
        let key = |key: &&str| Subject::of(&format!("{UNDERLAY}.{key}"));
        let in_underlay = self.underlay.written.iter().filter_map(|(name, place)| Some((key(name)?, place)));
        for (subject, place) in in_guest.chain(in_underlay).filter(|(subject, _)| is_factor(subject)) {
            let read = self.factors.iter().find(|read| *read.factor.subject() == subject);
            if let Some(read) = read {
                problems.push(factor::overridden(read, place.clone()));
            }
        }
    }

    fn guests_in_guests(&self, scenario: Scenario, problems: &mut Problems) {
        if let Some(place) = &self.inside {
            let message =
                format!("the hosts of `{scenario}` are guests already, and a guest cannot contain guests");
            problems.push(Problem::new(place.clone(), message).help("remove it, or use the scenario `veth`"));
        }
        if let Some(place) = &self.exact {
            let message =
                format!("exact mode counts the instructions of one guest, and `{scenario}` has two");
            let help = "use the scenario `veth` or `loopback`, which then runs inside one guest";
            problems.push(Problem::new(place.clone(), message).help(help));
        }
    }

    fn without_guests(&self, scenario: Scenario, problems: &mut Problems) {
        const HELP: &str = "use the scenario `vm` or `vm-vxlan`, or write `inside = \"guest\"` at the top";
        if let Some(place) = &self.guest_place {
            let message = format!("`[guest]` needs virtual machines, and `{scenario}` has none");
            problems.push(Problem::new(place.clone(), message).help(HELP));
        }
        for read in self.factors.iter().filter(|read| read.factor.subject().is_of_guest()) {
            let message =
                format!("`{}` is of virtual machines, and `{scenario}` has none", read.factor.name());
            problems.push(Problem::new(read.name.clone(), message).help(HELP));
        }
    }

    /// One guest has nobody to be joined with.
    fn one_guest(&self, scenario: Scenario, problems: &mut Problems) {
        let factor = self.factors.iter().find(|read| *read.factor.subject() == Subject::Nic);
        let place = factor.map(|read| read.name.clone()).or_else(|| self.guest.place_of("nic"));
        if let Some(place) = place {
            let message = format!("`nic` joins two guests, and `{scenario}` runs inside one");
            problems.push(Problem::new(place, message).help("remove it, or use the scenario `vm`"));
        }
    }

    /// How copies are counted, where nothing is.
    fn copies_of_time(&self, problems: &mut Problems) {
        let factor = self.factors.iter().find(|read| *read.factor.subject() == Subject::Copies);
        let place = factor.map(|read| read.name.clone()).or_else(|| self.guest.place_of("copies"));
        if let Some(place) = place {
            let message = "`copies` is how exact mode counts copies, and this study measures time";
            problems.push(Problem::new(place, message).help("remove it, or set `exact = true`"));
        }
    }

    fn without_tunnel(&self, scenario: Scenario, problems: &mut Problems) {
        let tunnel = if scenario.has_guests() { Scenario::VmVxlan } else { Scenario::Vxlan };
        if let Some(place) = &self.underlay_place {
            let message = format!("`[underlay]` is what carries a tunnel, and `{scenario}` has none");
            let help = format!("use the scenario `{tunnel}`, or remove it");
            problems.push(Problem::new(place.clone(), message).help(help));
        }
        for read in self.factors.iter().filter(|read| read.factor.subject().scope().underlay) {
            let name = read.factor.name();
            let message = format!("`{name}` is under a tunnel, and `{scenario}` has none");
            let bare = name.replacen("underlay.", "", 1);
            let help = format!("write `{bare}`, or use the scenario `{tunnel}`");
            problems.push(Problem::new(read.name.clone(), message).help(help));
        }
    }

    /// Exact mode: one CPU, emulated.
    fn exactly_one(&self, problems: &mut Problems) {
        const WHY: &str = "exact mode counts the instructions of one CPU";
        if let Some(place) = self.guest.place_of("vcpus").filter(|_| self.guest.guest.vcpus != 1) {
            problems.push(Problem::new(place, WHY).help("set `vcpus = 1`, or `exact = false`"));
        }
        for read in self.factors.iter().filter(|read| *read.factor.subject() == Subject::Vcpus) {
            for (index, place) in read.levels.iter().enumerate() {
                if *read.factor.level(index) != Level::Number(Some(1)) {
                    problems
                        .push(Problem::new(place.clone(), WHY).help("keep 1 only, or set `exact = false`"));
                }
            }
        }
        let kvm = self.guest.guest.acceleration == Acceleration::Kvm;
        if let Some(place) = self.guest.place_of("acceleration").filter(|_| kvm) {
            let message = "exact mode counts what an emulator executes, and KVM executes none of it there";
            problems.push(Problem::new(place, message).help("remove it, or set `exact = false`"));
        }
    }
}

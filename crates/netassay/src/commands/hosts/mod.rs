//! The machines of a study: named on the command line or in a file, reached, and their interfaces
//! found.

mod wanted;

pub(crate) use wanted::{LARGEST, PairOfHosts, pairs};

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::{Interrupt, Launch};
use host::machine::MachineRequest;
use report::document::Block;
use study::{Assignment, BootKind, BySide, Condition, Family, Scenario, Study, format_duration};
use testbed::reach::{Binary, HostSpec, Launcher, RemoteHost, Retention};
use testbed::{
    Crossing, FoundMachine, HostPlace, Hosts, IntendedChange, MachineSideSettings, OutOfBand, PairCheck,
    Restarter,
};

use crate::cli::{AddressesOf, HostFlags, Login};
use crate::failure::{Failure, bail, say};
use crate::machine::{self, PROGRAM};
use crate::turn::HeldEnds;

/// The time limit of a command on another machine.
// It may boot a guest to try KVM, or wait for a session there that is just ending.
pub(crate) const TO_END: Duration = Duration::from_secs(120);

const BETWEEN: &str = "between machines there are ssh, ssh-vxlan, vm and vm-vxlan only";

/// `None`: no machines were named.
pub(crate) fn reach(
    flags: &HostFlags,
    scenarios: &[Scenario],
    inside_guest: bool,
    interrupt: &Interrupt,
) -> Result<Option<ReachedHosts>, Failure> {
    let Some(mut wanted) = wanted::read(flags)? else { return Ok(None) };
    let is_of_one = scenarios.iter().all(|scenario| scenario.between_machines().is_none());
    if inside_guest {
        bail!(Usage, "virtual machines run on this machine only: name no other");
    }
    if let Some(local) = scenarios.iter().find(|one| one.between_machines() != Some(**one) && !is_of_one) {
        bail!(Usage, "the scenario {local} runs on this machine: {BETWEEN}");
    }
    if is_of_one {
        if wanted.transmitter.is_none() {
            bail!(Usage, "the scenario {} has one host: name its machine with --transmitter", scenarios[0]);
        }
        wanted.receiver = None;
    }
    let binary = Binary::read(flags.login.agent_binary.as_deref().unwrap_or(Path::new(PROGRAM)))?;
    let lease = wanted.lease.unwrap_or(Launch::LEASE);
    let places = BySide { transmitter: wanted.transmitter, receiver: wanted.receiver };
    let launchers = places.each_ref().into_iter();
    let launchers: Vec<&Launcher> =
        launchers.filter_map(|(_, place)| place.as_ref()?.launcher.as_ref()).collect();
    let stay = Retention { keep: flags.keep_agent, lease };
    let mut reached = RemoteHost::connect_all(&launchers, &binary, stay, interrupt)?.into_iter();
    let places = places.map(|_, spec| {
        let by = spec.as_ref().and_then(|spec| spec.launcher.as_ref()).and_then(|_| reached.next());
        let out_of_band = spec.as_ref().and_then(|spec| OutOfBand::new(spec.management.clone()));
        HostPlace { out_of_band, ..HostPlace::new(by, spec.and_then(|spec| spec.interface), lease) }
    });
    let own_addresses = wanted.addresses == Some(AddressesOf::Own);
    let mut hosts = Hosts { places, own_addresses, program: PROGRAM.into(), interrupt: interrupt.clone() };
    if is_of_one {
        say_namespaces(&hosts.places.transmitter);
        return Ok(Some(ReachedHosts { hosts, found: None, binary, stay }));
    }
    let found = hosts.locate()?;
    for (side, place) in hosts.places.each_ref() {
        say(&format!("netassay: {side}: {}", host_line(place, &found[side].located, hosts.own_addresses)));
    }
    Ok(Some(ReachedHosts { hosts, found: Some(found), binary, stay }))
}

pub(crate) struct ReachedHosts {
    pub(crate) hosts: Hosts,
    /// `None`: they are used in namespaces of netassay's own only.
    pub(crate) found: Option<BySide<FoundMachine>>,
    binary: Binary,
    stay: Retention,
}

/// The time limit of a restart.
// Servers test their memory first.
const TO_RESTART: Duration = Duration::from_secs(600);

impl ReachedHosts {
    /// `None` if no family lacks an address.
    ///
    /// # Errors
    /// The missing address, if no family remains.
    pub(crate) fn without_missing_families(&self, study: &Study) -> Result<Option<Study>, Failure> {
        type FamilyOf = fn(&Condition) -> Family;
        let Some(found) = &self.found else { return Ok(None) };
        let conditions = study.plan().conditions;
        let check = |one: &Condition| self.hosts.check_addresses(found, &one.boot, one.family);
        let (lacking, why): (Vec<&Condition>, Vec<testbed::Error>) =
            conditions.iter().filter_map(|one| Some((one, check(one).err()?))).unzip();
        let Some(why) = why.into_iter().next() else { return Ok(None) };
        let factors: [(&str, FamilyOf); 2] =
            [("family", |one| one.family), ("underlay.family", |one| one.boot.underlay_family)];
        for (key, of) in factors {
            let is_lacking = |family: &Family| lacking.iter().any(|one| of(one) == *family);
            let is_there = |family: &Family| conditions.iter().any(|one| of(one) == *family);
            let (without, left): (Vec<Family>, Vec<Family>) =
                Family::ALL.into_iter().filter(is_there).partition(is_lacking);
            if let ([without], [left]) = (without.as_slice(), left.as_slice()) {
                say(&format!("netassay: {:?} without {key}={without}: {why}", study.name));
                let shorter =
                    Study::parse_with(&study.name, &study.text, &[change(&format!("{key}={left}"))?]);
                return shorter.map(Some).map_err(|problems| Failure::Study(problems.render(false)));
            }
        }
        Err(why.into())
    }

    /// The ends that another session measures, each with the holder of its turn. `None`: the
    /// traffic is not between machines.
    pub(crate) fn measured_ends(&self) -> Option<HeldEnds> {
        let measured = self.found.as_ref()?.each_ref().into_iter().filter_map(|(side, found)| {
            Some((format!("{side} ({})", self.hosts.places[side]), found.measured_by.clone()?))
        });
        Some(measured.collect())
    }

    pub(crate) fn check(&self, study: &Study) -> Result<(), Failure> {
        let (conditions, name) = (study.plan().conditions, &study.name);
        if self.hosts.places.receiver.shares_machine && differs_in_whole_machine(study, &conditions) {
            let what = "the governor, or sysctls that are not net.*,";
            bail!(Usage, "{name:?} sets {what} differently at two ends of one machine: set the same");
        }
        match (study.protocol.how, &self.found) {
            (BootKind::Reboot, Some(found)) => {
                self.hosts.check(found)?;
                self.hosts.check_kernels(&kernels_of(study))?;
            }
            (_, None) if !study.machine.is_empty() => {
                bail!(Usage, "{name:?} has one host, in namespaces on another machine: remove [machine]");
            }
            _ => {}
        }
        self.check_pair(&conditions)
    }

    pub(crate) fn check_pair(&self, conditions: &[Condition]) -> Result<(), Failure> {
        if self.found.is_none() {
            return Ok(());
        }
        let crossing = |one: &Condition| {
            Crossing::of_condition(&one.boot, &runner::order_of(one), &runner::switches_of(one))
        };
        let crossings: Vec<Crossing> = conditions.iter().filter_map(crossing).collect();
        Ok(PairCheck::refuse(self.hosts.check_pair(&crossings)?)?)
    }

    pub(crate) fn into_parts(self, within: Option<Duration>) -> (Hosts, Arc<Restarter>) {
        let Self { hosts, found, binary, stay } = self;
        (hosts, Arc::new(Restarter { binary, stay, within: within.unwrap_or(TO_RESTART), found }))
    }

    /// `settings`: of the machines themselves, for all conditions.
    pub(crate) fn intended(
        &self,
        study: &Study,
        settings: &BySide<MachineSideSettings>,
    ) -> Result<Vec<Block<'static>>, Failure> {
        let Some(found) = &self.found else {
            let place = &self.hosts.places.transmitter;
            return Ok(vec![intended(format!("On the transmitter ({place}) would be changed:"), &[])]);
        };
        let conditions = &study.plan().conditions;
        let mut of_machines = None;
        if !study.machine.is_empty() || study.machine_factors().next().is_some() {
            let tunings: Vec<_> = conditions.iter().map(|one| runner::switches_of(one).tuning).collect();
            of_machines = Some(self.hosts.preview(settings, &tunings)?);
        }
        let both = found.each_ref().map(|_, one| &one.located);
        let mut blocks = Vec::new();
        for (side, place) in self.hosts.places.each_ref() {
            let located = &found[side].located;
            let Some(now) = found[side].about() else { continue };
            let mut all: Vec<IntendedChange> = Vec::new();
            for scenario in study.scenarios() {
                let of_it = |condition: &&Condition| condition.boot.scenario == scenario;
                let wanted: Vec<_> = conditions.iter().filter(of_it).map(runner::switches_of).collect();
                let has_tunnel = scenario.has_tunnel();
                let crosses =
                    |one: &Condition| if has_tunnel { one.boot.underlay_family } else { one.family };
                let crossed: Vec<Family> = conditions.iter().filter(of_it).map(crosses).collect();
                let is_own = |family: &Family| self.hosts.own_addresses && crossed.contains(family);
                let own: Vec<Family> = Family::ALL.into_iter().filter(is_own).collect();
                all.extend(IntendedChange::on_machine(side, (&both, now), &wanted, (&own, scenario)));
            }
            all.extend(of_machines.iter().flat_map(|both| both[side].iter().cloned()));
            all.extend(kernels_of(study).iter().map(|kernel| IntendedChange::kernel(kernel)));
            let all = results::distinct(all);
            let head =
                format!("On the {side} ({place}) would be changed, and undone at the end of each boot:");
            blocks.push(intended(head, &all));
            if located.carries {
                let (interface, lease) = (&located.interface, format_duration(place.lease));
                blocks.push(Block::Text(format!(
                    "{interface} carries netassay's own connection: if that is lost, the agent there undoes all of this {lease} after the last byte"
                )));
            }
        }
        Ok(blocks)
    }
}

/// The texts of a study as pairs measure it: whole, and without a family that a pair lacks.
pub(crate) fn texts_on_pairs(study: &Study) -> Result<Vec<String>, Failure> {
    let mut texts = vec![study.text.clone()];
    for (key, family) in
        ["family", "underlay.family"].into_iter().flat_map(|key| Family::ALL.map(|one| (key, one)))
    {
        let shorter = Study::parse_with(&study.name, &study.text, &[change(&format!("{key}={family}"))?]);
        texts.extend(shorter.ok().map(|shorter| shorter.text));
    }
    Ok(texts)
}

fn differs_in_whole_machine(study: &Study, conditions: &[Condition]) -> bool {
    let of_study = BySide::from_fn(|side| machine::requested(&study.machine.for_side(side)));
    let of_condition = |one: &Condition| {
        runner::switches_of(one).tuning.map(|_, tuning| MachineRequest::of_condition(&tuning, ""))
    };
    let mut all = std::iter::once(of_study).chain(conditions.iter().map(of_condition));
    all.any(|one| one.transmitter.of_whole_machine() != one.receiver.of_whole_machine())
}

pub(crate) fn intended(head: String, all: &[IntendedChange]) -> Block<'static> {
    if all.is_empty() {
        return Block::Fold(head, vec![Block::List(vec!["nothing".to_owned()])]);
    }
    let changes = Block::List(all.iter().map(|one| one.change.clone()).collect());
    let undo = "to undo all of it by hand, in this order:".to_owned();
    Block::Fold(head, vec![changes, Block::Fold(undo, vec![Block::List(IntendedChange::undo_commands(all))])])
}

fn kernels_of(study: &Study) -> BTreeSet<String> {
    study.plan().conditions.into_iter().filter_map(|condition| condition.boot.kernel).collect()
}

pub(crate) fn place(by: Option<RemoteHost>, interface: Option<&str>) -> HostPlace {
    HostPlace::new(by.map(Arc::new), interface.map(str::to_owned), Launch::LEASE)
}

/// Reaches one machine; `None`: none is named.
pub(crate) fn reach_one(
    host: Option<&HostSpec>,
    login: &Login,
    interrupt: &Interrupt,
) -> Result<Option<RemoteHost>, Failure> {
    let Some(mut launcher) = host.and_then(|host| host.launcher.clone()) else { return Ok(None) };
    if let Launcher::Ssh { config, .. } = &mut launcher {
        config.clone_from(&login.ssh_config);
    }
    let binary = Binary::read(login.agent_binary.as_deref().unwrap_or(Path::new(PROGRAM)))?;
    Ok(Some(RemoteHost::connect(&launcher, &binary, Retention::default(), interrupt)?))
}

/// `None`: no machine is named.
pub(crate) fn namespaces_on(
    host: Option<&HostSpec>,
    login: &Login,
    interrupt: &Interrupt,
) -> Result<Option<Hosts>, Failure> {
    let Some(reached) = reach_one(host, login, interrupt)? else { return Ok(None) };
    if !reached.makes_namespaces() {
        let lacks = reached.lacks().unwrap_or("CAP_SYS_ADMIN");
        let (host, no_sudo) = (&reached.launcher, in_brackets(&reached.no_sudo));
        let ways = "log in as root, or allow `sudo -n`";
        bail!(Environment, "{host}: the login there lacks {lacks}{no_sudo}: {ways}");
    }
    let place = place(Some(reached), None);
    say_namespaces(&place);
    let places = BySide::from_fn(|_| place.clone());
    let (program, interrupt) = (PROGRAM.into(), interrupt.clone());
    Ok(Some(Hosts { places, own_addresses: false, program, interrupt }))
}

fn host_line(place: &HostPlace, located: &host::LocatedInterface, own: bool) -> String {
    let addresses: Vec<String> =
        located.addresses.iter().map(|(address, prefix)| format!("{address}/{prefix}")).collect();
    let addresses = match (own, addresses.is_empty()) {
        (true, _) => "addresses of netassay's for the time of the study".to_owned(),
        (false, true) => "no address".to_owned(),
        (false, false) => addresses.join(", "),
    };
    let no_sudo = place.by.as_ref().map(|reached| in_brackets(&reached.no_sudo)).unwrap_or_default();
    let without = |what: &str| format!("; without {what}, so that nothing can be changed there{no_sudo}");
    let privileges = place.lacks().map(without).unwrap_or_default();
    format!("{place}, interface {} (MTU {}, {addresses}){privileges}", located.interface, located.mtu)
}

fn in_brackets(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(" ({words})") }
}

fn say_namespaces(place: &HostPlace) {
    say(&format!("netassay: transmitter: {place}, in namespaces of netassay's own"));
}

pub(crate) fn rootless(wanted: bool, reached: Option<&ReachedHosts>) -> bool {
    let place = reached.map(|reached| &reached.hosts.places.transmitter);
    wanted || !place.map_or_else(|| host::Privileges::read().privileged(), HostPlace::makes_namespaces)
}

/// `None` if the study runs on machines already. Names the scenarios that it leaves out.
///
/// # Errors
/// A study without any scenario that has a counterpart there.
pub(crate) fn moved(study: &Study) -> Result<Option<Assignment>, Failure> {
    let scenarios = study.scenarios();
    if scenarios.iter().any(|one| one.has_machines())
        || scenarios.iter().all(|one| one.between_machines().is_none())
    {
        return Ok(None);
    }
    let to: Vec<&str> = scenarios.iter().filter_map(|one| Some(one.between_machines()?.word())).collect();
    if to.is_empty() {
        let (name, own) = (&study.name, study.scenario_names());
        bail!(Usage, "{name:?} runs in the scenario {own}, and {BETWEEN}: choose with --set scenario=ssh");
    }
    if to.len() < scenarios.len() {
        say(&format!("netassay: {:?} in the scenario {} only: {BETWEEN}", study.name, to.join(" and ")));
    }
    change(&format!("scenario={}", to.join(","))).map(Some)
}

pub(crate) fn change(assignment: &str) -> Result<Assignment, Failure> {
    assignment.parse().map_err(|error| Failure::Internal(format!("{assignment}: {error}")))
}

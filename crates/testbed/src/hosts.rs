//! The machines that a study runs between, where it has machines of its user's.

use std::collections::BTreeSet;
use std::fmt;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::Interrupt;
use host::machine::MachineRequest;
use study::{BySide, Placement, Side};

use crate::error::Error;
use crate::guest;
use crate::out_of_band::OutOfBand;
use crate::path::{Addresses, pairs};
use crate::reach::{self, Binary, ConnectionAddresses, HostBoot, Launcher, RemoteHost, Restart, Retention};
use crate::two_machines::{self, FoundMachine};

/// The machines of both sides.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Hosts {
    pub places: BySide<HostPlace>,
    /// Whether their interfaces get netassay's addresses for the time of the study.
    pub own_addresses: bool,
    /// The netassay binary, for agents on this machine.
    pub program: PathBuf,
    pub interrupt: Interrupt,
}

/// A study's settings of a side's machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct MachineSideSettings {
    /// The settings; the interface of a placement is that of the traffic.
    pub wanted: MachineRequest,
    pub placement: Option<Placement>,
}

impl MachineSideSettings {
    /// The request to the machine whose traffic uses this interface.
    pub fn request(&self, interface: &str) -> MachineRequest {
        let placement = self.placement.map(|both| (interface.to_owned(), both.irq));
        MachineRequest { placement, ..self.wanted.clone() }
    }
}

/// A machine, and its interface for the traffic.
#[derive(Debug, Clone)]
pub struct HostPlace {
    /// The connection to it; `None`: it is this machine.
    pub by: Option<Arc<RemoteHost>>,
    /// The interface that the user named; `None`: the one that leads to the other machine.
    pub interface: Option<String>,
    /// Time without a sign of life after which its agent undoes its changes and ends.
    pub lease: Duration,
    /// Whether the other end is on the same machine, and sets what belongs to the whole machine.
    pub shares_machine: bool,
    /// The commands for its console and its power, if any are configured.
    pub out_of_band: Option<Arc<OutOfBand>>,
}

impl HostPlace {
    /// A machine that is not known to have the other end too.
    pub fn new(by: Option<Arc<RemoteHost>>, interface: Option<String>, lease: Duration) -> Self {
        Self { by, interface, lease, shares_machine: false, out_of_band: None }
    }

    /// The addresses of the connection to it, where that is ssh's.
    pub fn connection(&self) -> Option<ConnectionAddresses> {
        self.by.as_ref().and_then(|reached| reached.connection)
    }

    pub(crate) fn bring(&self, bytes: Vec<u8>, interrupt: &Interrupt) -> Result<Brought, Error> {
        if let Some(reached) = &self.by {
            return Ok((reached.bring(bytes, interrupt)?.into(), None));
        }
        let file = guest::in_memory(&bytes).map_err(|error| {
            Error::Failed(format!("cannot keep what a guest boots from in memory: {error}"))
        })?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok((path.into(), Some(file)))
    }

    /// Whether its agent may change interfaces.
    pub fn is_root(&self) -> bool {
        self.lacks().is_none()
    }

    /// The privilege that its agent lacks to change interfaces.
    pub fn lacks(&self) -> Option<&'static str> {
        match &self.by {
            Some(reached) => reached.lacks(),
            None => (!host::Privileges::read().privileged()).then_some("root"),
        }
    }

    /// Why its agent is not root's, with what sudo says.
    pub fn not_root(&self) -> String {
        let said = self.by.as_ref().map(|reached| reached.no_sudo.as_str()).filter(|said| !said.is_empty());
        let sudo = said.map(|said| format!(", and sudo does not make it root ({said})"));
        format!("its login is not root{}", sudo.unwrap_or_default())
    }

    /// Whether its agent makes network namespaces of the machine's root.
    pub fn makes_namespaces(&self) -> bool {
        self.by.as_ref().map_or_else(|| self.is_root(), |reached| reached.makes_namespaces())
    }
}

/// The path of a brought file, and the descriptor that keeps it on this machine.
pub(crate) type Brought = (PathBuf, Option<OwnedFd>);

impl fmt::Display for HostPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            Some(reached) => reached.launcher.fmt(f),
            None => f.write_str("this machine"),
        }
    }
}

const PAUSE: Duration = Duration::from_secs(1);

/// Inputs for using machines again after a restart.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Restarter {
    pub binary: Binary,
    pub stay: Retention,
    /// Time limit for both to be back, from the order to restart, and from a cycle of their power.
    pub within: Duration,
    /// The machines as the session found them; `None`: they are used in namespaces only.
    pub found: Option<BySide<FoundMachine>>,
}

impl Hosts {
    pub(crate) fn end(&self, side: Side) -> String {
        format!("{side} ({})", self.places[side])
    }

    /// Refuses machines that cannot be rebooted, before anything is changed.
    ///
    /// # Errors
    /// [`Error::Failed`], which names the machine, the reason and the way out.
    pub fn check(&self, found: &BySide<FoundMachine>) -> Result<(), Error> {
        let here = boot_id_here();
        let id = |side: Side| found[side].environment.kernel.boot_id.as_ref();
        for (side, place) in self.places.each_ref() {
            let launcher = place.by.as_ref().map(|reached| &reached.launcher);
            let is_here = id(side).is_none() || id(side) == here.as_ref();
            let against = against_restart(launcher, is_here, id(side) == id(side.other()));
            let not_root = (!place.is_root()).then(|| place.not_root());
            if let Some(why) = against.map(str::to_owned).or(not_root) {
                return Err(not_restartable(&format!("the {side} ({place})"), &why));
            }
        }
        Ok(())
    }

    /// Refuses kernels that the machines cannot be made to boot once, before anything is changed.
    ///
    /// # Errors
    /// [`Error::Failed`], which names the machine and the reason.
    pub fn check_kernels(&self, releases: &BTreeSet<String>) -> Result<(), Error> {
        for (side, place) in self.places.each_ref() {
            let Some(reached) = place.by.as_ref().filter(|_| !releases.is_empty()) else { continue };
            if let Some(why) = reached.kernels_refused(releases, &self.interrupt)? {
                return Err(Error::Failed(format!(
                    "the {side} ({place}) cannot boot every kernel of the study: {why}"
                )));
            }
        }
        Ok(())
    }

    /// The machines' present boots.
    ///
    /// # Errors
    /// When a machine does not answer.
    pub fn boots(&self) -> Result<Vec<HostBoot>, Error> {
        let by = self.places.each_ref().into_iter().filter_map(|(_, place)| place.by.as_ref());
        by.map(|reached| reached.boot(&self.interrupt)).collect()
    }

    /// Restarts both machines with this or their default kernel, and connects again. Also returns
    /// why they are not as asked, if they answer all the same ([`Error::NotUp`]).
    ///
    /// # Errors
    /// When a machine refuses, or is not back in time.
    pub fn reboot(
        mut self,
        restarter: &Restarter,
        kernel: Option<&str>,
    ) -> Result<(Self, Option<Error>), Error> {
        let until = Instant::now() + restarter.within;
        let before = self.addresses();
        let restarts = self.restarts(kernel);
        if restarts.len() < Side::BOTH.len() {
            return Err(not_restartable("one of the machines", HERE));
        }
        // Its last use: the program there is removed, and the connection closed.
        self.disconnect();
        // A machine that lost netassay answers over ssh all the same.
        let may_be_other = kernel.is_some() || before.is_err();
        let interrupt = self.interrupt.clone();
        let connected = before.and_then(|before| {
            let not_up = match reach::reboot_all(&restarts, restarter.within, &interrupt) {
                Ok(_) => None,
                Err(not_up @ Error::NotUp { answers: true, .. }) => Some(not_up),
                Err(error) => return Err(error),
            };
            Ok((self.connect(&restarts, restarter, until, before.as_ref())?, not_up))
        });
        if connected.is_err() && may_be_other {
            reach::restart_with_default(&restarts, &interrupt);
        }
        connected
    }

    /// The machines that are reached from here.
    pub(crate) fn restarts(&self, kernel: Option<&str>) -> Vec<Restart> {
        let restart = |(side, place): (Side, &HostPlace)| {
            let by = place.by.as_ref()?;
            let (launcher, by_sudo) = (by.launcher.clone(), by.setup.by_sudo);
            let (kernel, out_of_band) = (kernel.map(str::to_owned), place.out_of_band.clone());
            Some(Restart { side, launcher, by_sudo, kernel, out_of_band })
        };
        self.places.each_ref().into_iter().filter_map(restart).collect()
    }

    pub(crate) fn disconnect(&mut self) {
        self.places.each_mut().into_iter().for_each(|(_, place)| place.by = None);
    }

    /// Connects again, once the interfaces have these addresses.
    pub(crate) fn connect(
        self,
        restarts: &[Restart],
        restarter: &Restarter,
        until: Instant,
        before: Option<&BySide<Addresses>>,
    ) -> Result<Self, Error> {
        let Restarter { binary, stay, found, .. } = restarter;
        let launchers: Vec<&Launcher> = restarts.iter().map(|host| &host.launcher).collect();
        let connect = || {
            let mut hosts = self.clone();
            let all = RemoteHost::connect_all(&launchers, binary, *stay, &self.interrupt)?;
            for (restart, by) in restarts.iter().zip(all) {
                hosts.places[restart.side].by = Some(by);
            }
            hosts.open_consoles()?;
            Ok::<_, Error>(hosts)
        };
        let mut connected = None;
        // A power cycle may have taken the time.
        patiently(until.max(Instant::now() + FOR_ADDRESSES), &self.interrupt, |until| {
            // An error drops the connection: a machine may restart twice, or its sshd.
            let hosts: Self = connected.take().map_or_else(connect, Ok)?;
            // A study in namespaces of one machine uses no interface there.
            let now = if found.is_some() { hosts.addresses()? } else { None };
            if now.as_ref() == before {
                return Ok(hosts);
            }
            connected = Some(hosts);
            *until = (*until).min(Instant::now() + FOR_ADDRESSES);
            Err(Error::Failed(OTHER_ADDRESSES.to_owned()))
        })
    }

    fn addresses(&self) -> Result<Option<BySide<Addresses>>, Error> {
        let machines = two_machines::machines(self)?;
        let there = pairs(&machines.each_ref().map(|_, machine| machine.located.addresses.as_slice()));
        Ok(self.to_compare(there))
    }

    pub(crate) fn to_compare(&self, there: BySide<Addresses>) -> Option<BySide<Addresses>> {
        // Where the interfaces get netassay's own addresses, the present ones do not matter.
        (!self.own_addresses).then_some(there)
    }
}

// Time for the interfaces of a machine that answers to get their addresses.
const FOR_ADDRESSES: Duration = Duration::from_secs(60);

const HERE: &str = "it is this machine, on which netassay runs";

pub(crate) fn boot_id_here() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

fn not_restartable(host: &str, why: &str) -> Error {
    Error::Failed(format!(
        "{host} cannot be rebooted between boots: {why}; name two other machines that are reached over ssh, or use boots.how = \"reset\""
    ))
}

const OTHER_ADDRESSES: &str = "the machines restarted, but their interfaces no longer have the addresses that the traffic used: let the machines set these at each start, or let netassay add a pair for the time of the study (--addresses own)";

/// `launcher`: `None` for this machine.
fn against_restart(launcher: Option<&Launcher>, is_here: bool, is_the_other: bool) -> Option<&'static str> {
    match launcher {
        None => Some(HERE),
        Some(Launcher::Words(_)) => {
            Some("it is not reached by ssh, and a container cannot restart the machine that it is on")
        }
        Some(_) if is_here => Some("it is this machine, on which netassay runs: both have the same boot id"),
        Some(_) => is_the_other.then_some("both hosts are one machine: they have the same boot id"),
    }
}

fn patiently<T>(
    mut until: Instant,
    interrupt: &Interrupt,
    mut attempt: impl FnMut(&mut Instant) -> Result<T, Error>,
) -> Result<T, Error> {
    loop {
        match attempt(&mut until) {
            Err(error) if !error.is_interrupt() && Instant::now() < until => {}
            result => return result,
        }
        // The next attempt tells that it was interrupted.
        interrupt.trips_within(PAUSE);
    }
}

#[cfg(test)]
mod restart_tests {
    use super::*;

    #[test]
    fn only_another_machine_over_ssh_is_rebooted() {
        let ssh = Launcher::Ssh { destination: "root@a".to_owned(), config: None };
        let words = Launcher::Words(vec!["kubectl".to_owned()]);
        let why = |launcher, is_here, is_the_other| {
            against_restart(launcher, is_here, is_the_other).unwrap_or_default()
        };
        assert_eq!(why(Some(&ssh), false, false), "");
        assert!(why(None, false, false).contains("this machine"));
        assert!(why(Some(&words), false, false).contains("not reached by ssh"));
        assert!(why(Some(&ssh), true, false).contains("this machine"));
        assert!(why(Some(&ssh), false, true).contains("one machine"));
    }

    #[test]
    fn an_attempt_is_repeated_until_the_time_is_over() {
        let interrupt = Interrupt::new().unwrap();
        let mut tries = 0;
        let second = patiently(Instant::now() + Duration::from_secs(30), &interrupt, |_| {
            tries += 1;
            if tries == 2 { Ok(tries) } else { Err(Error::Failed(OTHER_ADDRESSES.to_owned())) }
        });
        assert_eq!(second.unwrap(), 2);
        let over =
            patiently::<()>(Instant::now(), &interrupt, |_| Err(Error::Failed(OTHER_ADDRESSES.to_owned())));
        assert!(over.unwrap_err().to_string().contains("--addresses own"));
    }
}

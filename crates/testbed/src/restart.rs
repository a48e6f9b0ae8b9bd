//! Starting the user's machines afresh between two boots of a study.

use std::collections::BTreeSet;
use std::path;
use std::thread;
use std::time::{Duration, Instant};

use agent::Interrupt;
use study::{BySide, Side};

use crate::error::Error;
use crate::guest::identity;
use crate::hosts::{HostPlace, Hosts};
use crate::path::address::Addresses;
use crate::reach::{self, Binary, HostBoot, Launcher, RemoteHost, Restart, Retention};
use crate::two_machines::{self, FoundMachine};

/// The time between two looks at interfaces that are not back yet.
const PAUSE: Duration = Duration::from_secs(1);

/// Inputs for using machines again after a restart.
#[derive(Debug)]
pub struct Restarter {
    /// The program, which is sent to them again.
    pub binary: Binary,
    /// The conditions under which it stays there.
    pub stay: Retention,
    /// Time limit for both to be back, from the order to restart.
    pub within: Duration,
}

impl Hosts {
    /// Refuses machines that cannot be rebooted, before anything is changed.
    ///
    /// # Errors
    /// [`Error::NoRestart`], which names the machine, the reason and the way out.
    pub fn check(&self, found: &BySide<FoundMachine>) -> Result<(), Error> {
        let here = identity::machine();
        let id = |side: Side| found[side].environment.kernel.boot_id.as_deref();
        let not_root = self.places.each_ref().map(|_, place| (!place.is_root()).then(|| place.not_root()));
        let facts = |side: Side| RestartFacts {
            launcher: self.places[side].by.as_ref().map(|reached| &reached.launcher),
            not_root: not_root[side].as_deref(),
            is_here: id(side).is_none() || id(side) == here.as_str(),
            is_the_other: id(side) == id(side.other()),
        };
        for (side, place) in self.places.each_ref() {
            if let Some(why) = facts(side).against() {
                return Err(Error::NoRestart { host: format!("the {side} ({place})"), why });
            }
        }
        Ok(())
    }

    /// Refuses kernels that the machines cannot be made to boot once, before anything is changed.
    ///
    /// # Errors
    /// [`Error::NoKernel`], which names the machine and the reason.
    pub fn check_kernels(&self, releases: &BTreeSet<String>, interrupt: &Interrupt) -> Result<(), Error> {
        for (side, place) in self.places.each_ref() {
            let Some(reached) = place.by.as_ref().filter(|_| !releases.is_empty()) else { continue };
            if let Some(why) = reached.kernels_refused(releases, interrupt)? {
                return Err(Error::NoKernel { host: format!("the {side} ({place})"), why });
            }
        }
        Ok(())
    }

    /// The machines' present boots.
    ///
    /// # Errors
    /// When a machine does not answer.
    pub fn boots(&self, interrupt: &Interrupt) -> Result<Vec<HostBoot>, Error> {
        let by = self.places.each_ref().into_iter().filter_map(|(_, place)| place.by.as_ref());
        by.map(|reached| Ok(reached.boot(interrupt)?)).collect()
    }

    /// Restarts both machines, with the kernel of this release or their own default, waits until
    /// they are back with their interfaces, and connects again.
    ///
    /// # Errors
    /// When a machine refuses, or is not back in time.
    pub fn reboot(
        self,
        program: &path::Path,
        restarter: &Restarter,
        kernel: Option<&str>,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let begun = Instant::now();
        let Restarter { binary, stay, within } = restarter;
        let before = self.addresses(program, interrupt);
        let own_addresses = self.own_addresses;
        let places = self.places.map(|side, HostPlace { by, interface, .. }| {
            // Its last use: the program there is removed, and the connection closed.
            let by = by.map(|reached| (reached.launcher.clone(), reached.by_sudo));
            (by.ok_or(side), interface)
        });
        let BySide { transmitter, receiver } = places;
        let mut hosts = Vec::new();
        for (by, _) in [&transmitter, &receiver] {
            let (launcher, by_sudo) = by
                .as_ref()
                .map_err(|side| Error::NoRestart { host: format!("the {side}"), why: HERE.to_owned() })?;
            hosts.push(Restart { launcher, by_sudo: *by_sudo, kernel });
        }
        let launchers: Vec<&Launcher> = hosts.iter().map(|host| host.launcher).collect();
        let interfaces = [transmitter.1.clone(), receiver.1.clone()];
        let connect = || {
            let mut all = RemoteHost::connect_all(&launchers, binary, *stay, interrupt)?.into_iter();
            let mut place = |interface: &Option<String>| HostPlace {
                by: all.next(),
                interface: interface.clone(),
                lease: stay.lease,
                shares_machine: false,
            };
            let places = BySide { transmitter: place(&interfaces[0]), receiver: place(&interfaces[1]) };
            Ok::<_, Error>(Self { places, own_addresses })
        };
        // A machine that lost netassay answers over ssh all the same.
        let may_be_other = kernel.is_some() || before.is_err();
        let mut connected = None;
        let connected = before.and_then(|before| {
            reach::reboot_all(&hosts, *within, interrupt)?;
            patiently(begun + *within, interrupt, |until| {
                // An error drops the connection: a machine may restart twice, or its sshd.
                let hosts: Self = connected.take().map_or_else(connect, Ok)?;
                let now = hosts.addresses(program, interrupt)?;
                if now == before {
                    return Ok(hosts);
                }
                connected = Some(hosts);
                *until = (*until).min(Instant::now() + FOR_ADDRESSES);
                Err(Error::OtherAddresses)
            })
        });
        if connected.is_err() && may_be_other {
            reach::restart_with_default(&hosts, interrupt);
        }
        connected
    }

    /// The addresses that the traffic uses, of those that the interfaces have; the default where it
    /// gets netassay's own.
    fn addresses(
        &self,
        program: &path::Path,
        interrupt: &Interrupt,
    ) -> Result<Option<BySide<Addresses>>, Error> {
        let there = two_machines::addresses(self, program, interrupt)?;
        Ok((!self.own_addresses).then_some(there))
    }
}

/// Time for the interfaces of a machine that answers to get their addresses.
const FOR_ADDRESSES: Duration = Duration::from_secs(60);

const HERE: &str = "it is this machine, on which netassay runs";

/// Facts for or against a restart of a machine.
#[derive(Debug, Clone, Copy)]
struct RestartFacts<'h> {
    /// `None`: it is this machine.
    launcher: Option<&'h Launcher>,
    /// Why its agent is not root's, if it is not.
    not_root: Option<&'h str>,
    /// Its boot is that of this machine, or unknown.
    is_here: bool,
    /// The other machine has the same boot.
    is_the_other: bool,
}

impl RestartFacts<'_> {
    /// Why it cannot be restarted.
    fn against(self) -> Option<String> {
        let why = match self.launcher {
            None => HERE.to_owned(),
            Some(Launcher::Words(_)) => {
                "it is not reached by ssh, and a container cannot restart the machine that it is on"
                    .to_owned()
            }
            Some(_) if self.is_here => format!("{HERE}: both have the same boot id"),
            Some(_) if self.is_the_other => {
                "both hosts are one machine: they have the same boot id".to_owned()
            }
            Some(_) => return self.not_root.map(str::to_owned),
        };
        Some(why)
    }
}

/// The first success of `attempt`, or its error at the end of this time, which it may bring
/// forward.
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
        let resume = Instant::now() + PAUSE;
        while Instant::now() < resume && !interrupt.is_tripped() {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_machine_over_ssh_is_rebooted() {
        let ssh = Launcher::Ssh { destination: "root@a".to_owned(), config: None };
        let words = Launcher::Words(vec!["kubectl".to_owned()]);
        let fine = RestartFacts { launcher: Some(&ssh), not_root: None, is_here: false, is_the_other: false };
        let why = |facts: RestartFacts<'_>| facts.against().unwrap_or_default();
        assert_eq!(why(fine), "");
        assert!(why(RestartFacts { launcher: None, ..fine }).contains("this machine"));
        assert!(why(RestartFacts { launcher: Some(&words), ..fine }).contains("not reached by ssh"));
        assert!(why(RestartFacts { is_here: true, ..fine }).contains("this machine"));
        assert!(why(RestartFacts { is_the_other: true, ..fine }).contains("one machine"));
        assert_eq!(why(RestartFacts { not_root: Some("not root"), ..fine }), "not root");
    }

    #[test]
    fn an_attempt_is_repeated_until_the_time_is_over() {
        let interrupt = Interrupt::new().unwrap();
        let mut tries = 0;
        let second = patiently(Instant::now() + Duration::from_secs(30), &interrupt, |_| {
            tries += 1;
            if tries == 2 { Ok(tries) } else { Err(Error::OtherAddresses) }
        });
        assert_eq!(second.unwrap(), 2);
        let over = patiently::<()>(Instant::now(), &interrupt, |_| Err(Error::OtherAddresses));
        assert!(over.unwrap_err().to_string().contains("--addresses own"));
    }
}

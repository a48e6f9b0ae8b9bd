//! Machines that crash: whether they did, and the wait until they are back.

use std::time::{Duration, Instant};

use record::{Crash, CrashSign, Environment};
use study::{BySide, Side};

use crate::error::Error;
use crate::hosts::{Hosts, Restarter};
use crate::path::pairs;
use crate::reach;

// Time for a machine to answer after its agent was lost: some virtual machines restart in it.
const TO_LOOK: Duration = Duration::from_secs(20);

impl Hosts {
    /// Whether commands for a machine's console or power are configured.
    pub fn are_managed(&self) -> bool {
        self.places.each_ref().into_iter().any(|(_, place)| place.out_of_band.is_some())
    }

    /// Starts to read the consoles that are configured. Call it on a thread that lives as long as
    /// the session.
    ///
    /// # Errors
    /// When the command of a console cannot be started.
    pub fn open_consoles(&self) -> Result<(), Error> {
        for (_, place) in self.places.each_ref() {
            place.out_of_band.as_ref().map_or(Ok(()), |own| own.open_console(&place.to_string()))?;
        }
        Ok(())
    }

    /// Forgets panics that the consoles showed: the machines answer.
    pub fn forget_panics(&self) {
        for own in self.places.each_ref().into_iter().filter_map(|(_, place)| place.out_of_band.as_ref()) {
            own.take_panic();
        }
    }

    /// The machines that crashed since this description of them. `counts_silent`: also one that
    /// does not answer for 20 s, unless the network to all machines may be cut.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn crash(&self, before: &Environment, counts_silent: bool) -> Result<Option<Crash>, Error> {
        let hosts = self.restarts(None);
        let within = if counts_silent { TO_LOOK } else { Duration::ZERO };
        let looks = reach::look_all(&hosts, within, &self.interrupt);
        if looks.iter().flat_map(|look| look.as_ref().err()).any(Error::is_interrupt) {
            return Err(Error::Interrupted);
        }
        let one_answers = looks.iter().any(Result::is_ok);
        let machines = hosts.iter().zip(looks).filter_map(|(host, look)| {
            let sign = match look {
                Ok(now) if boot_id(before, host.side).is_some_and(|id| *id != now.id) => CrashSign::Restarted,
                Err(Error::Unanswered(_)) if counts_silent && (one_answers || host.out_of_band.is_some()) => {
                    CrashSign::Silent
                }
                _ => return None,
            };
            Some(host.crashed(sign))
        });
        let machines: Vec<_> = machines.collect();
        Ok((!machines.is_empty()).then_some(Crash { machines }))
    }

    /// Waits until the machines answer, cycles the power of one that stays away, and connects
    /// again. Also returns whether one is in another boot than in this description. `kernel`: the
    /// one that they were started with, if it was chosen.
    ///
    /// # Errors
    /// When a machine stays away; it is named with the last lines of its console.
    pub fn revive(
        mut self,
        restarter: &Restarter,
        before: &Environment,
        kernel: Option<&str>,
    ) -> Result<(Self, bool), Error> {
        let hosts = self.restarts(kernel);
        self.disconnect();
        let boots = reach::await_all(&hosts, restarter.within, &self.interrupt);
        let boots = boots.inspect_err(|_| {
            if kernel.is_some() {
                reach::restart_with_default(&hosts, &self.interrupt);
            }
        })?;
        let mut all = hosts.iter().zip(&boots);
        let has_restarted = all.any(|(host, now)| boot_id(before, host.side) != Some(&now.id));
        let found = restarter.found.as_ref();
        let found = found.map(|both| both.each_ref().map(|_, one| one.located.addresses.as_slice()));
        let there = found.and_then(|both: BySide<&[_]>| self.to_compare(pairs(&both)));
        let connected = self.connect(&hosts, restarter, Instant::now(), there.as_ref())?;
        Ok((connected, has_restarted))
    }
}

/// The boot of the machine that a side is on, or that its guest is on.
fn boot_id(environment: &Environment, side: Side) -> Option<&String> {
    let nodes = environment.nodes.as_ref();
    let host = match (nodes, side) {
        (Some(nodes), Side::Transmitter) => nodes.first(),
        (Some(nodes), Side::Receiver) => nodes.last(),
        (None, Side::Transmitter) => Some(&environment.transmitter),
        (None, Side::Receiver) => environment.receiver.as_ref(),
    };
    host?.kernel.boot_id.as_ref()
}

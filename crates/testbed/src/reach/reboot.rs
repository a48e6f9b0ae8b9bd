//! Restarting hosts, and the wait until they are back.

use std::time::{Duration, Instant};

use agent::Interrupt;

use crate::error::Error;
use crate::reach::boot::{self, HostBoot, KernelChoice, Kernels, present_boot};
use crate::reach::control_socket::ControlSocket;
use crate::reach::in_parallel;
use crate::reach::launcher::Launcher;
use crate::reach::script::{REBOOT, SETTLE};
use crate::reach::session::{RootShell, TO_ANSWER};

// A host whose shutdown has begun no longer answers.
const TO_OBEY: Duration = Duration::from_secs(20);

// Time for a silent host to answer before its restart is ordered.
const TO_BEGIN: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Restart {
    pub(crate) launcher: Launcher,
    pub(crate) by_sudo: bool,
    pub(crate) kernel: Option<String>,
}

/// Waits until each host answers from another boot; returns these boots, in order.
pub(crate) fn reboot_all(
    hosts: &[Restart],
    within: Duration,
    interrupt: &Interrupt,
) -> Result<Vec<HostBoot>, Error> {
    let (mut boots, mut errors) = (Vec::new(), Vec::new());
    for rebooted in in_parallel(hosts, |host| reboot(host, within, interrupt)) {
        match rebooted {
            Ok(boot) => boots.push(boot),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if errors.is_empty() { Ok(boots) } else { Err(Error::Failed(errors.join("; "))) }
}

pub(crate) fn restart_with_default(hosts: &[Restart], interrupt: &Interrupt) {
    for host in hosts {
        // Nobody waits for the hosts; after a failure their next restart does the same.
        let _ = connected(host, interrupt, |shell| {
            let now = present_boot(shell, TO_ANSWER)?;
            if now.is_of_default() { Ok(()) } else { order(shell, None, &now) }
        });
    }
}

fn connected<T>(
    of: &Restart,
    interrupt: &Interrupt,
    work: impl FnOnce(&RootShell<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let Restart { launcher, by_sudo, .. } = of;
    let control = ControlSocket::for_host(&launcher.to_string())?;
    work(&RootShell { launcher, by_sudo: *by_sudo, control: &control, interrupt })
}

fn reboot(of: &Restart, within: Duration, interrupt: &Interrupt) -> Result<HostBoot, Error> {
    let (host, kernel) = (of.launcher.to_string(), of.kernel.as_deref());
    let before = retry(interrupt, || connected(of, interrupt, |shell| present_boot(shell, TO_ANSWER)))?;
    let choose = |release: &str| {
        let kernels = retry(interrupt, || connected(of, interrupt, Kernels::ask))?;
        kernels.choice(release).map_err(|error| unbootable(&host, &error.to_string()))
    };
    let choice = kernel.map(choose).transpose()?;
    let begun = Instant::now();
    retry(interrupt, || connected(of, interrupt, |shell| order(shell, choice.as_ref(), &before)))?;
    let by = choice.as_ref().map_or("default", |[by, _]| by);
    let is_to_settle = choice.is_some() || !before.is_of_default();
    let mut last = None;
    loop {
        let left = within.saturating_sub(begun.elapsed());
        // The connection of the boot before is dead.
        let settled = connected(of, interrupt, |shell| {
            let now = present_boot(shell, left.min(TO_ANSWER))?;
            if now.id != before.id && is_to_settle {
                // The choice for that boot is removed.
                shell.start(SETTLE, &[by], TO_ANSWER)?.line()?;
            }
            Ok(now)
        });
        match settled {
            Ok(now) if now.id != before.id => {
                let Some(wanted) = kernel.filter(|wanted| *wanted != now.release) else { return Ok(now) };
                let release = now.release;
                return Err(Error::Failed(format!(
                    "{host} came up with kernel {release}, and {wanted} was chosen for this boot: look at its console for why its boot loader did not start that; its default kernel is unchanged"
                )));
            }
            Ok(_) => last = Some("it still answers from the boot before".to_owned()),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // The reason of a try that the end of the wait cut off says nothing.
            Err(error) if last.is_none() || begun.elapsed() < within => last = Some(error.to_string()),
            Err(_) => {}
        }
        if begun.elapsed() >= within {
            let (seconds, last) = (within.as_secs(), last.unwrap_or_default());
            return Err(Error::Failed(format!(
                "{host} did not come back within {seconds} s after its reboot ({last}): look at its console; `--resume` goes on once it is back, and `--reboot-within` waits longer"
            )));
        }
        pause(interrupt)?;
    }
}

fn unbootable(host: &str, why: &str) -> Error {
    Error::Failed(format!(
        "{host} cannot be rebooted: {why}: let its login be root, or let sudo run systemctl, reboot and sh without a password"
    ))
}

fn retry<T>(interrupt: &Interrupt, mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let until = Instant::now() + TO_BEGIN;
    loop {
        match attempt() {
            Err(Error::Unanswered(_)) if Instant::now() < until => pause(interrupt)?,
            answer => return answer,
        }
    }
}

/// Does nothing if the host has left this boot.
fn order(shell: &RootShell<'_>, choice: Option<&KernelChoice>, before: &HostBoot) -> Result<(), Error> {
    let host = shell.launcher.to_string();
    let [by, what] = choice.map_or(["default", ""], |choice| choice.each_ref().map(String::as_str));
    // The answer to an earlier order may be lost: the script compares the boot.
    let mut session = shell.start(REBOOT, &[by, what, &before.id], TO_ANSWER)?;
    boot::read(&host, &session.line()?)?;
    session.wait_for(TO_OBEY);
    match session.line() {
        // The output of the host when its shutdown cut the session is of no interest.
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Ok(line) if line.starts_with("failed") => {
            Err(unbootable(&host, line.trim_start_matches("failed").trim()))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn pause(interrupt: &Interrupt) -> Result<(), Error> {
    if interrupt.trips_within(PAUSE) { Err(Error::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests;

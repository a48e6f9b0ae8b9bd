//! Restarting hosts, and the wait until they are back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::Interrupt;
use record::{Crash, CrashSign, CrashedMachine, with_console};
use study::Side;
use words::LONGEST_REASON;

use crate::error::Error;
use crate::out_of_band::OutOfBand;
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

// In bytes, of the last answer of a host that stays away.
const LAST: usize = 200;

#[derive(Debug)]
pub(crate) struct Restart {
    pub(crate) side: Side,
    pub(crate) launcher: Launcher,
    pub(crate) by_sudo: bool,
    pub(crate) kernel: Option<String>,
    pub(crate) out_of_band: Option<Arc<OutOfBand>>,
}

impl Restart {
    pub(crate) fn crashed(&self, sign: CrashSign) -> CrashedMachine {
        let (side, host) = (self.side, self.launcher.to_string());
        CrashedMachine { side, host, sign, console: self.console() }
    }

    fn console(&self) -> Vec<String> {
        self.out_of_band.as_ref().map_or_else(Vec::new, |own| own.last_lines())
    }

    fn not_up(&self, why: &str, sign: CrashSign) -> Error {
        let machine = self.crashed(sign);
        let why = with_console(why, &machine.console, LONGEST_REASON);
        let (crash, answers) = (Crash { machines: vec![machine] }, sign == CrashSign::OtherKernel);
        Error::NotUp { why, crash, answers }
    }

    fn take_panic(&self) -> bool {
        self.out_of_band.as_ref().is_some_and(|own| own.take_panic())
    }
}

/// Waits until each host answers from another boot; returns these boots, in order.
pub(crate) fn reboot_all(
    hosts: &[Restart],
    within: Duration,
    interrupt: &Interrupt,
) -> Result<Vec<HostBoot>, Error> {
    collect(in_parallel(hosts, |host| reboot(host, within, interrupt)))
}

/// Waits until each host answers, from whatever boot.
pub(crate) fn await_all(
    hosts: &[Restart],
    within: Duration,
    interrupt: &Interrupt,
) -> Result<Vec<HostBoot>, Error> {
    collect(in_parallel(hosts, |host| {
        // A host that crashed with a chosen kernel runs its default again, whose note ends.
        let settle = host.kernel.as_ref().map(|_| "kexec");
        await_boot(host, None, settle, within, interrupt)
    }))
}

/// The present boots of hosts, which are asked again for this time.
pub(crate) fn look_all(
    hosts: &[Restart],
    within: Duration,
    interrupt: &Interrupt,
) -> Vec<Result<HostBoot, Error>> {
    in_parallel(hosts, |host| {
        // The connection of before may be dead.
        retry(within, interrupt, || connected(host, interrupt, |shell| present_boot(shell, TO_ANSWER)))
    })
}

fn collect(all: Vec<Result<HostBoot, Error>>) -> Result<Vec<HostBoot>, Error> {
    let (mut boots, mut errors, mut machines, mut all_answer) = (Vec::new(), Vec::new(), Vec::new(), true);
    let mut is_crash = true;
    for one in all {
        match one {
            Ok(boot) => boots.push(boot),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(Error::NotUp { why, crash, answers }) => {
                errors.push(why);
                machines.extend(crash.machines);
                all_answer &= answers;
            }
            Err(error) => {
                errors.push(error.to_string());
                is_crash = false;
            }
        }
    }
    if errors.is_empty() {
        return Ok(boots);
    }
    let why = errors.join("; ");
    Err(match is_crash {
        true => Error::NotUp { why, crash: Crash { machines }, answers: all_answer },
        false => Error::Failed(why),
    })
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
    let ask = || connected(of, interrupt, |shell| present_boot(shell, TO_ANSWER));
    let before = retry(TO_BEGIN, interrupt, ask)?;
    let choose = |release: &str| {
        let kernels = retry(TO_BEGIN, interrupt, || connected(of, interrupt, Kernels::ask))?;
        kernels.choice(release).map_err(|error| unbootable(&host, &error.to_string()))
    };
    let choice = kernel.map(choose).transpose()?;
    of.take_panic();
    let restart = || connected(of, interrupt, |shell| order(shell, choice.as_ref(), &before));
    retry(TO_BEGIN, interrupt, restart)?;
    let by = choice.as_ref().map_or("default", |[by, _]| by);
    let is_to_settle = choice.is_some() || !before.is_of_default();
    let now = await_boot(of, Some(&before.id), is_to_settle.then_some(by), within, interrupt)?;
    let Some(wanted) = kernel.filter(|wanted| *wanted != now.release) else { return Ok(now) };
    let release = now.release;
    let why = format!(
        "{host} came up with kernel {release}, and {wanted} was chosen for this boot: look at its console for why its boot loader did not start that; its default kernel is unchanged"
    );
    Err(of.not_up(&why, CrashSign::OtherKernel))
}

/// Waits until a host answers, from another boot than `left` if it was to leave that. The power of
/// one that stays away is cycled once. `settle`: by what a kernel was chosen for the boot.
fn await_boot(
    of: &Restart,
    left: Option<&str>,
    settle: Option<&str>,
    within: Duration,
    interrupt: &Interrupt,
) -> Result<HostBoot, Error> {
    let host = of.launcher.to_string();
    let (mut begun, mut last, mut has_stayed) = (Instant::now(), None, false);
    let mut power = of.out_of_band.as_ref().filter(|own| own.has_power());
    let mut after = if left.is_some() { "its reboot" } else { "it was lost" }.to_owned();
    loop {
        let rest = within.saturating_sub(begun.elapsed());
        // The connection of the boot before is dead.
        let settled = connected(of, interrupt, |shell| {
            let now = present_boot(shell, rest.min(TO_ANSWER))?;
            if let Some(by) = settle.filter(|_| left != Some(now.id.as_str())) {
                // The choice for that boot is removed.
                shell.start(SETTLE, &[by], TO_ANSWER)?.line()?;
            }
            Ok(now)
        });
        let is_over = begun.elapsed() >= within;
        match settled {
            Ok(now) if left != Some(now.id.as_str()) => return Ok(now),
            Ok(_) => {
                (last, has_stayed) = (Some("it still answers from the boot before".to_owned()), true);
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // The reason of a try that the end of the wait cut off says nothing.
            Err(error) if last.is_none() || !is_over => {
                (last, has_stayed) = (Some(error.to_string()), false);
            }
            Err(_) => {}
        }
        if let Some(own) = power.filter(|own| is_over || own.take_panic()) {
            power = None;
            match own.cycle_power(interrupt) {
                Ok(()) => (begun, last, after) = (Instant::now(), None, "its power was cycled".to_owned()),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => after = format!("{after}, and {error}"),
            }
        } else if is_over {
            let (seconds, console) = (within.as_secs(), of.console());
            let last = words::last_words_within(&last.unwrap_or_default(), LAST);
            let look = if console.is_empty() { "look at its console; " } else { "" };
            let why = format!(
                "{host} did not come back within {seconds} s after {after} ({last}): {look}`--resume` goes on once it is back, and `--reboot-within` waits longer"
            );
            // A machine that refused to leave its boot did not crash.
            let is_of_restart = left.is_some() && !has_stayed;
            return Err(match is_of_restart {
                true => of.not_up(&why, CrashSign::NotBack),
                false => Error::Failed(with_console(&why, &console, LONGEST_REASON)),
            });
        }
        pause(interrupt)?;
    }
}

fn unbootable(host: &str, why: &str) -> Error {
    Error::Failed(format!(
        "{host} cannot be rebooted: {why}: let its login be root, or let sudo run systemctl, reboot and sh without a password"
    ))
}

fn retry<T>(
    within: Duration,
    interrupt: &Interrupt,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let until = Instant::now() + within;
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

//! Restarting hosts, and the wait until they are back.

use std::thread;
use std::time::{Duration, Instant};

use agent::Interrupt;

use crate::boot_id;
use crate::control::Control;
use crate::error::Error;
use crate::launcher::Launcher;
use crate::script::REBOOT;
use crate::session::Session;

/// How long one try to get an answer may take: ssh's own 10 s for the connection, and as long for a
/// login.
const TO_ANSWER: Duration = Duration::from_secs(20);

/// How long the order may take to begin. A host whose shutdown has begun says no more.
const TO_OBEY: Duration = Duration::from_secs(20);

/// The time between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// Restarts these hosts at once, and waits until each of them answers from another boot. Returns
/// their new boot ids, in order. `by_sudo`: the login is not root.
///
/// # Errors
/// [`Error::NoReboot`] for a host that refuses, [`Error::NotBack`] for one that does not answer
/// `within` this time, or still from the same boot.
pub fn reboot_all(
    hosts: &[(&Launcher, bool)],
    within: Duration,
    interrupt: &Interrupt,
) -> Result<Vec<String>, Error> {
    thread::scope(|scope| {
        let all: Vec<_> = hosts
            .iter()
            .map(|(launcher, by_sudo)| scope.spawn(|| reboot(launcher, *by_sudo, within, interrupt)))
            .collect();
        all.into_iter()
            .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn reboot(
    launcher: &Launcher,
    by_sudo: bool,
    within: Duration,
    interrupt: &Interrupt,
) -> Result<String, Error> {
    let begun = Instant::now();
    let before = order(launcher, by_sudo, interrupt)?;
    let host = launcher.to_string();
    let mut last = None;
    loop {
        // A connection of its own each time: that of the boot before is dead.
        let control = Control::of(&host)?;
        let left = within.saturating_sub(begun.elapsed());
        match boot_id::ask(launcher, &control.socket(), left.min(TO_ANSWER), interrupt) {
            Ok(id) if id != before => return Ok(id),
            Ok(_) => last = Some("it still answers from the boot before".to_owned()),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // The reason of a try that the end of the wait cut off says nothing.
            Err(error) if last.is_none() || begun.elapsed() < within => last = Some(error.to_string()),
            Err(_) => {}
        }
        if begun.elapsed() >= within {
            let last = last.unwrap_or_default();
            return Err(Error::NotBack { host, seconds: within.as_secs(), last });
        }
        pause(interrupt)?;
    }
}

/// Orders the restart; returns the boot id before it.
fn order(launcher: &Launcher, by_sudo: bool, interrupt: &Interrupt) -> Result<String, Error> {
    let host = launcher.to_string();
    let control = Control::of(&host)?;
    let sudo = if by_sudo { "yes" } else { "no" };
    let command = launcher.command(REBOOT, &[sudo], &control.socket());
    let mut session = Session::start(&host, command)?;
    let before = boot_id::read(&host, &session.line(Instant::now() + TO_ANSWER, TO_ANSWER, interrupt)?)?;
    let answer = session.line(Instant::now() + TO_OBEY, TO_OBEY, interrupt);
    session.end();
    match answer {
        // What the host said when its shutdown cut the session is of no interest.
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Ok(line) if line.starts_with("failed") => {
            let said = line.trim_start_matches("failed").trim().to_owned();
            Err(Error::NoReboot { host, said })
        }
        Ok(_) | Err(_) => Ok(before),
    }
}

fn pause(interrupt: &Interrupt) -> Result<(), Error> {
    let until = Instant::now() + PAUSE;
    while Instant::now() < until {
        if interrupt.is_tripped() {
            return Err(Error::Interrupted);
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    const FIRST: &str = "01234567-89ab-cdef-0123-456789abcdef";
    const SECOND: &str = "f1234567-89ab-cdef-0123-456789abcdef";

    /// A host that is a shell script: `$1` is the script that it is asked to run.
    fn host(directory: &Path, script: &str) -> Launcher {
        let words = ["env", &format!("D={}", directory.display()), "sh", "-c", script, "host"];
        Launcher::Words(words.map(str::to_owned).to_vec())
    }

    fn rebooted(launcher: &Launcher, within_ms: u64) -> Result<Vec<String>, Error> {
        let within = Duration::from_millis(within_ms);
        reboot_all(&[(launcher, false), (launcher, false)], within, &Interrupt::new().unwrap())
    }

    /// `case` tells the order from the question by the word `sysrq`.
    const GOES_DOWN: &str = "case \"$3\" in *sysrq*) echo boot $(cat $D/now); cp $D/next $D/now; exit 255;; \
        *) echo boot $(cat $D/now);; esac";

    #[test]
    fn a_host_is_back_once_it_answers_from_another_boot() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("now"), FIRST).unwrap();
        fs::write(directory.path().join("next"), SECOND).unwrap();
        let launcher = host(directory.path(), GOES_DOWN);
        let interrupt = Interrupt::new().unwrap();
        let control = Control::of("host").unwrap();
        assert_eq!(boot_id::ask(&launcher, &control.socket(), TO_ANSWER, &interrupt).unwrap(), FIRST);
        let ids = reboot_all(&[(&launcher, false)], Duration::from_secs(5), &interrupt).unwrap();
        assert_eq!(ids, [SECOND]);
    }

    /// One host in each test: two that share a directory could read a file that the other writes.
    fn not_back(script: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("now"), FIRST).unwrap();
        fs::write(directory.path().join("next"), FIRST).unwrap();
        let (launcher, within) = (host(directory.path(), script), Duration::from_millis(3500));
        let error = reboot_all(&[(&launcher, false)], within, &Interrupt::new().unwrap()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("did not come back within 3 s") && error.contains("look at its console"),
            "{error}"
        );
        error
    }

    #[test]
    fn a_host_that_never_restarts_is_named_with_the_time_and_the_way_out() {
        let error = not_back(GOES_DOWN);
        assert!(error.contains("it still answers from the boot before"), "{error}");
    }

    #[test]
    fn a_host_that_stays_away_is_named_with_what_the_last_try_came_to() {
        let error = not_back(&format!(
            "case \"$3\" in *sysrq*) echo boot {FIRST};; *) echo no route >&2; exit 255;; esac"
        ));
        assert!(error.contains("no route"), "{error}");
    }

    #[test]
    fn a_host_that_refuses_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let refuses = format!("echo boot {FIRST}; echo failed reboot: must be root");
        let error = rebooted(&host(directory.path(), &refuses), 60_000).unwrap_err().to_string();
        assert!(error.contains("cannot be rebooted: reboot: must be root"), "{error}");
        for strange in ["echo hello", "echo boot 1", "echo 'boot 01234567 89ab cdef 0123 456789abcdef'"] {
            let error = rebooted(&host(directory.path(), strange), 60_000).unwrap_err().to_string();
            assert!(error.contains("answered"), "{error}");
        }
    }

    #[test]
    fn the_wait_ends_at_an_interrupt() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("now"), FIRST).unwrap();
        fs::write(directory.path().join("next"), FIRST).unwrap();
        let (launcher, interrupt) = (host(directory.path(), GOES_DOWN), Interrupt::new().unwrap());
        let soon = interrupt.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            soon.trip();
        });
        let error = reboot_all(&[(&launcher, false)], Duration::from_secs(60), &interrupt).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }
}

//! Places for programs: each is one host of a testbed. Programs started there are bounded in time,
//! and gone with everything they started.

mod guest;
mod libraries;
mod namespace;
mod protocol;
mod relay;
mod shell;

use std::fmt::Debug;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use agent::Interrupt;

use crate::failure::Failure;
use crate::interrupt;

pub(crate) use guest::{Guest, Way};
pub(crate) use libraries::needed;
pub(crate) use namespace::{Inside, Namespace, serve};
pub(crate) use relay::{Relay, serve as relay};
pub(crate) use shell::{serve as shell, start as start_shell};

/// One host of a testbed, as a place for programs.
pub(crate) trait Place: Debug + Sync {
    /// Starts a program. The thread that calls this must live as long as the program shall.
    fn start(&self, program: &[String]) -> Result<Resident, Failure>;

    /// Reads files below `/proc/net`, as they are in its network namespace.
    fn read(&self, files: &[&str]) -> Result<Reading, Failure>;
}

/// The two hosts of a testbed.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) transmitter: Box<dyn Place>,
    pub(crate) receiver: Box<dyn Place>,
}

/// What was read, and when, by the clock of that place (`CLOCK_MONOTONIC`).
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) at: Duration,
    /// One text for each file.
    pub(crate) texts: Vec<String>,
}

/// This program, for a command that is run in a place: in a guest it has another path.
pub(crate) const THIS_PROGRAM: &str = "/proc/self/exe";

/// A program's life in some place.
pub(crate) trait Life: Debug {
    /// How it ended, if it has.
    fn ended(&mut self) -> Result<Option<ExitStatus>, Failure>;

    /// Ends it and everything it started, and waits until it is gone.
    fn stop(&mut self);

    /// Its standard output so far.
    fn output(&mut self) -> String;

    /// All that it has said.
    fn words(&mut self) -> String;
}

/// A program that runs, or has run, in a place. Dropping it ends it and everything it started.
#[derive(Debug)]
pub(crate) struct Resident {
    life: Box<dyn Life>,
    /// The program and its arguments, for messages.
    pub(crate) command: String,
}

impl Resident {
    fn new(program: &[String], life: impl Life + 'static) -> Self {
        Self { life: Box::new(life), command: program.join(" ") }
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.life.ended()
    }

    /// Waits until it ends; `None` if it has not after `patience`.
    pub(crate) fn wait(
        &mut self,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<Option<ExitStatus>, Failure> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.ended()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            interrupt::sleep(Duration::from_millis(10), interrupt)?;
        }
    }

    /// Ends it and waits until it is gone.
    pub(crate) fn stop(&mut self) {
        self.life.stop();
    }

    /// Its standard output so far.
    pub(crate) fn output(&mut self) -> String {
        self.life.output()
    }

    /// All that it has said.
    pub(crate) fn words(&mut self) -> String {
        self.life.words()
    }

    /// The line of it that tells what is wrong, for messages.
    pub(crate) fn complaint(&mut self) -> String {
        complaint(&self.words())
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A line that speaks of an error, or the last one: programs begin with what they are.
fn complaint(words: &str) -> String {
    let lines = || words.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| line.to_lowercase().contains("error")).or_else(|| lines().next_back());
    line.unwrap_or("it said nothing").chars().filter(|letter| !letter.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_about_the_error_is_shown() {
        assert_eq!(complaint("x version 1\n\n  ERROR: no \u{1b}route\nbye\n"), "ERROR: no route");
        assert_eq!(complaint("x version 1\nconnect failed\n\n"), "connect failed");
        assert_eq!(complaint(""), "it said nothing");
    }
}

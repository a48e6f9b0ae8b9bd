//! A program that runs on a host.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agent::Interrupt;

use crate::failure::Failure;
use crate::process::Owned;
use crate::wait;

/// Between two looks whether a program has ended.
const LOOK: Duration = Duration::from_millis(10);

/// A program that runs, or has run, on a host. Dropping it ends it and everything it started: what
/// stands between it and the bench does so when its standard input closes.
#[derive(Debug)]
pub(crate) struct Program {
    child: Owned,
    output: File,
    errors: File,
    /// The program and its arguments, for messages.
    pub(crate) command: String,
}

impl Program {
    /// Starts `between`, which runs the program `command`.
    pub(super) fn spawn(mut between: Command, command: String) -> Result<Self, Failure> {
        let cannot = |what: &str| Failure::io(format!("cannot start {command}: {what}"));
        let file = || tempfile::tempfile().map_err(cannot("no temporary file"));
        let copy = |file: &File| file.try_clone().map_err(cannot("no descriptor"));
        let (output, errors) = (file()?, file()?);
        between.stdin(Stdio::piped()).stdout(copy(&output)?).stderr(copy(&errors)?);
        let child = between.spawn().map(Owned).map_err(cannot("no process"))?;
        Ok(Self { child, output, errors, command })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.child.ended()
    }

    /// Waits until it has ended well, and gives its standard output.
    pub(crate) fn finish(&mut self, patience: Duration, interrupt: &Interrupt) -> Result<String, Failure> {
        match wait::until(patience, LOOK, interrupt, || self.ended())? {
            Some(status) if status.success() => Ok(text(&mut self.output)),
            Some(status) => Err(self.ended_early(status)),
            None => Err(Failure::Environment(format!("{} does not end", self.command))),
        }
    }

    /// Ends it and everything it started, and waits until it is gone.
    pub(crate) fn stop(&mut self) {
        drop(self.child.0.stdin.take());
        let deadline = Instant::now() + Duration::from_secs(3);
        while Instant::now() < deadline && matches!(self.ended(), Ok(None)) {
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// All that it has said.
    pub(crate) fn output(&mut self) -> String {
        [text(&mut self.errors), text(&mut self.output)].concat()
    }

    /// Why it should not have ended so.
    pub(crate) fn ended_early(&mut self, status: ExitStatus) -> Failure {
        let complaint = complaint(&self.output());
        Failure::Environment(format!("{} ended early ({status}): {complaint}", self.command))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // What does not end then is killed.
        self.stop();
    }
}

/// All of a file. Empty if it cannot be read: the caller then finds no figure in it, and reports
/// that.
fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // The program shares this file and its position, so it is read only once the program has said
    // what it had to say.
    let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
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
        for (words, line) in [
            ("x version 1\n\n  ERROR: no \u{1b}route\nbye\n", "ERROR: no route"),
            ("x version 1\nconnect failed\n\n", "connect failed"),
            ("", "it said nothing"),
        ] {
            assert_eq!(complaint(words), line);
        }
    }
}

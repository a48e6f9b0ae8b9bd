//! One script that runs on a host, and the lines that it answers.

use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agent::Interrupt;

use crate::error::Error;
use crate::lines::{Lines, NoLine};
use crate::said::Said;

/// What a host answered is not what its script says.
pub(crate) fn strange(host: &str, got: &str) -> Error {
    Error::Strange { host: host.to_owned(), got: text::reason(got) }
}

/// One script that runs on a host, until this is dropped.
#[derive(Debug)]
pub(crate) struct Session {
    host: String,
    pub(crate) process: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: Lines,
    said: Said,
}

impl Session {
    pub(crate) fn start(host: &str, mut command: Command) -> Result<Self, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |source| Error::Start { host: host.to_owned(), program: program.clone(), source };
        let mut process = command.spawn().map_err(failed)?;
        let lines = Lines::of(process.stdout.take().expect("its standard output was asked to be a pipe"));
        let said = Said::read(process.stderr.take().expect("its standard error was asked to be a pipe"));
        let input = process.stdin.take();
        match said {
            Ok(said) => Ok(Self { host: host.to_owned(), process, input, lines, said }),
            Err(source) => {
                let _ = process.kill();
                let _ = process.wait();
                Err(failed(source))
            }
        }
    }

    /// The next line that it answers; otherwise its end, with its last words in the error.
    pub(crate) fn line(
        &mut self,
        deadline: Instant,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<String, Error> {
        let line = self.lines.next(deadline, interrupt);
        line.map_err(|no_line| self.failed(no_line, deadline, patience))
    }

    /// All that it prints, at most so many bytes, as it is; and its exit status, where it exited in
    /// time.
    pub(crate) fn rest(
        &mut self,
        most: usize,
        deadline: Instant,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(Vec<u8>, Option<ExitStatus>), Error> {
        self.input = None;
        let rest = self.lines.rest(most, deadline, interrupt);
        let rest = rest.map_err(|no_line| self.failed(no_line, deadline, patience))?;
        let status = self.exit(deadline);
        self.end();
        Ok((rest, status))
    }

    /// Its last words.
    pub(crate) fn said(&self) -> String {
        self.said.last_words()
    }

    fn failed(&mut self, no_line: NoLine, deadline: Instant, patience: Duration) -> Error {
        let host = self.host.clone();
        self.input = None;
        let status = match no_line {
            NoLine::Ended => self.exit(deadline).map(|status| status.to_string()),
            _ => None,
        };
        self.end();
        let said = Some(self.said.last_words()).filter(|said| !said.is_empty());
        match no_line {
            NoLine::Interrupted => Error::Interrupted,
            NoLine::Endless => strange(&host, "what has no end"),
            NoLine::Late => Error::Silent {
                host,
                seconds: patience.as_secs(),
                said: said.unwrap_or_else(|| "nothing".to_owned()),
            },
            NoLine::Ended => {
                let said = said.or(status).unwrap_or_else(|| "it closed its output".to_owned());
                Error::Unreachable { hint: hint(&said).to_owned(), host, said }
            }
        }
    }

    /// Its exit status. A process that has closed its output may go on.
    fn exit(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            match self.process.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                exited => return exited.ok().flatten(),
            }
        }
    }

    pub(crate) fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Session {
    /// Whatever the host answered, its `ssh` does not go on.
    fn drop(&mut self) {
        self.end();
    }
}

/// The way out of what ssh commonly says.
fn hint(said: &str) -> &'static str {
    if said.contains("Host key verification failed") {
        "; connect once by hand (ssh HOST) and compare the key that it shows: netassay never accepts one by itself"
    } else if said.contains("Permission denied") {
        "; netassay cannot type a password: let a key log in (ssh-copy-id), or start an agent that holds it"
    } else {
        ""
    }
}

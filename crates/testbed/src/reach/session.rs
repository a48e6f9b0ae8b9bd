//! A script that runs on a host, and the lines that it prints.

use std::process::{Child, ChildStdin, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use agent::Interrupt;

use crate::reach::error::Error;
use crate::reach::output_lines::{NoLine, OutputLines};
use crate::reach::piped::{PipedCommand, PipedProcess};
use crate::reach::stderr_tail::StderrTail;

/// Time limit of a host's answer: ssh's own 10 s for the connection, and as long for a login.
pub(crate) const TO_ANSWER: Duration = Duration::from_secs(20);

/// The error of an answer that is not the script's.
pub(crate) fn unexpected_answer(host: &str, got: &str) -> Error {
    Error::UnexpectedAnswer { host: host.to_owned(), got: words::shortened_reason(got), hint: "" }
}

/// A script that runs on a host, until this is dropped.
#[derive(Debug)]
pub(crate) struct ScriptSession {
    host: String,
    pub(crate) process: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: OutputLines,
    stderr: StderrTail,
    is_ssh: bool,
    /// Whether the login's shell starts the script, and has not done so yet.
    is_at_login: bool,
}

impl ScriptSession {
    pub(crate) fn start(host: &str, start: PipedCommand) -> Result<Self, Error> {
        let program = start.program();
        let failed = |source| Error::Start { host: host.to_owned(), program: program.clone(), source };
        let PipedProcess { process, input, output, stderr } = start.spawn().map_err(failed)?;
        Ok(Self {
            host: host.to_owned(),
            process,
            input: Some(input),
            lines: OutputLines::new(output),
            stderr,
            is_ssh: program == "ssh",
            is_at_login: false,
        })
    }

    /// The first line that the first script of a connection answers, which begins with this word.
    /// Any other line comes from the login's shell.
    pub(crate) fn first_line(
        &mut self,
        word: &str,
        deadline: Instant,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<String, Error> {
        self.is_at_login = true;
        let line = self.line(deadline, patience, interrupt)?;
        let Some(rest) = line.strip_prefix(word) else {
            return Err(Error::UnexpectedAnswer {
                host: self.host.clone(),
                got: words::shortened_reason(&line),
                hint: GUARD,
            });
        };
        self.is_at_login = false;
        Ok(rest.to_owned())
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

    /// The script's output to its end, unchanged, at most `most` bytes; and its exit status, if it
    /// exited in time.
    pub(crate) fn read_to_end(
        &mut self,
        most: usize,
        deadline: Instant,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(Vec<u8>, Option<ExitStatus>), Error> {
        self.input = None;
        let rest = self.lines.read_to_end(most, deadline, interrupt);
        let rest = rest.map_err(|no_line| self.failed(no_line, deadline, patience))?;
        let status = self.exit(deadline);
        self.end();
        Ok((rest, status))
    }

    pub(crate) fn last_words(&self) -> String {
        self.stderr.last_words()
    }

    fn failed(&mut self, no_line: NoLine, deadline: Instant, patience: Duration) -> Error {
        let host = self.host.clone();
        self.input = None;
        let status = match no_line {
            NoLine::Ended => self.exit(deadline),
            _ => None,
        };
        self.end();
        let said = Some(self.stderr.last_words()).filter(|said| !said.is_empty());
        let hint = if self.is_at_login { GUARD } else { "" };
        match no_line {
            NoLine::Interrupted => Error::Interrupted,
            NoLine::Endless => Error::UnexpectedAnswer { host, got: "what has no end".to_owned(), hint },
            NoLine::Late => Error::Silent {
                host,
                seconds: patience.as_secs(),
                said: said.unwrap_or_else(|| "nothing".to_owned()),
                hint,
            },
            NoLine::Ended => {
                let is_of_ssh = self.is_ssh && status.is_some_and(|status| status.code() == Some(OF_SSH));
                // Another launcher may fail before there is a shell, and says so.
                let is_of_shell = self.is_ssh || said.is_none();
                let status = status.map(|status| status.to_string());
                let said = said.or(status).unwrap_or_else(|| "it closed its output".to_owned());
                let hint = match (is_of_ssh, is_of_shell) {
                    (true, _) => hint_of(&said, &host),
                    (false, true) => hint.to_owned(),
                    (false, false) => String::new(),
                };
                match self.is_at_login || is_of_ssh {
                    true => Error::Unreachable { host, said, hint },
                    false => Error::Refused { host, said },
                }
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

impl Drop for ScriptSession {
    /// Whatever the host answered, its `ssh` does not go on.
    fn drop(&mut self) {
        self.end();
    }
}

const OF_SSH: i32 = 255;

/// The way out where a login's shell comes before the script.
const GUARD: &str = "; if a startup file of its login's shell (~/.bashrc, ~/.zshenv, ~/.cshrc) prints, reads, waits or exits, let it do so \
    only where somebody types: begin it with `case $- in *i*) ;; *) return ;; esac` (csh: `if (! $?prompt) exit`)";

/// The way out of what ssh commonly says.
fn hint_of(said: &str, host: &str) -> String {
    if said.contains("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        format!(
            "; it is another machine, or was installed anew: only then take the old key out (ssh-keygen -R), connect once by hand (ssh {host}) and compare the key that it shows"
        )
    } else if said.contains("Host key verification failed") {
        format!(
            "; connect once by hand (ssh {host}) and compare the key that it shows: netassay never accepts one by itself"
        )
    } else if said.contains("Permission denied") {
        format!(
            "; netassay cannot type a password: let a key log in (ssh-copy-id {host}), or start an agent that holds it"
        )
    } else {
        format!("; netassay reaches it once `ssh {host} true` does without a question")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_out_names_the_host() {
        for (said, way_out) in [
            (
                "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! Host key verification failed.",
                "ssh-keygen -R",
            ),
            ("Host key verification failed.", "compare the key"),
            ("root@a: Permission denied (publickey).", "(ssh-copy-id root@a)"),
            ("ssh: connect to host a port 22: ConnectionAddresses refused", "`ssh root@a true`"),
        ] {
            let hint = hint_of(said, "root@a");
            assert!(hint.contains(way_out) && hint.contains("root@a"), "{said}: {hint}");
        }
    }
}

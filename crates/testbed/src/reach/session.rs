//! A script that runs on a host, and the lines that it prints.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agent::{Interrupt, ReadLimiter};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::console::Console;
use crate::error::Error;
use crate::reach::launcher::Launcher;

/// Time limit of a host's answer: ssh's own 10 s for the connection, and as long for a login.
pub(crate) const TO_ANSWER: Duration = Duration::from_secs(20);

/// The end of a wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    patience: Duration,
}

impl Deadline {
    pub(crate) fn after(patience: Duration) -> Self {
        Self { at: Instant::now() + patience, patience }
    }
}

/// The error of an answer that is not the script's. `hint`: the way out; may be empty.
pub(crate) fn unexpected_answer(host: &str, got: &str, hint: &str) -> Error {
    let got = words::shortened_reason(got);
    Error::Machine(format!("{host} answered {got:?}, and not what netassay's script says{hint}"))
}

/// The means to run scripts that need root on a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RootShell<'a> {
    pub(crate) launcher: &'a Launcher,
    /// The login is not root.
    pub(crate) by_sudo: bool,
    /// The socket of the connection.
    pub(crate) control: &'a Path,
    pub(crate) interrupt: &'a Interrupt,
}

impl RootShell<'_> {
    pub(crate) fn start(&self, script: &str, arguments: &[&str]) -> Result<ScriptSession, Error> {
        let arguments = [&[sudo_argument(self.by_sudo)], arguments].concat();
        let command = self.launcher.command(script, &arguments, self.control);
        ScriptSession::start(&self.launcher.to_string(), command, self.interrupt)
    }
}

/// The argument of a script that tells whether it needs sudo.
pub(crate) fn sudo_argument(by_sudo: bool) -> &'static str {
    if by_sudo { "yes" } else { "no" }
}

/// A script that runs on a host, until this is dropped.
#[derive(Debug)]
pub(crate) struct ScriptSession {
    host: String,
    pub(crate) process: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: OutputLines,
    stderr: Console,
    interrupt: Interrupt,
    is_ssh: bool,
    /// Whether the login's shell starts the script, and has not done so yet.
    is_at_login: bool,
}

impl ScriptSession {
    pub(crate) fn start(host: &str, start: PipedCommand, interrupt: &Interrupt) -> Result<Self, Error> {
        let program = start.program();
        let failed = |source| Error::Machine(format!("{host}: cannot start {program}: {source}"));
        let PipedProcess { process, input, output, stderr } = start.spawn().map_err(failed)?;
        Ok(Self {
            host: host.to_owned(),
            process,
            input: Some(input),
            lines: OutputLines { from: output, pending: Vec::new(), pace: ReadLimiter::default() },
            stderr,
            interrupt: interrupt.clone(),
            is_ssh: program == "ssh",
            is_at_login: false,
        })
    }

    /// The first line that the first script of a connection answers, which begins with this word.
    /// Any other line comes from the login's shell.
    pub(crate) fn first_line(&mut self, word: &str, deadline: Deadline) -> Result<String, Error> {
        self.is_at_login = true;
        let line = self.line(deadline)?;
        let rest = line.strip_prefix(word).ok_or_else(|| unexpected_answer(&self.host, &line, GUARD))?;
        self.is_at_login = false;
        Ok(rest.to_owned())
    }

    /// The next line that it answers; otherwise its end, with its last words in the error.
    pub(crate) fn line(&mut self, deadline: Deadline) -> Result<String, Error> {
        let line = self.lines.next(deadline.at, &self.interrupt);
        line.map_err(|no_line| self.failed(no_line, deadline))
    }

    /// The script's output to its end, unchanged, at most `most` bytes; and its exit status, if it
    /// exited in time.
    pub(crate) fn read_to_end(
        &mut self,
        most: usize,
        deadline: Deadline,
    ) -> Result<(Vec<u8>, Option<ExitStatus>), Error> {
        self.input = None;
        let rest = self.lines.read_to_end(most, deadline.at, &self.interrupt);
        let rest = rest.map_err(|no_line| self.failed(no_line, deadline))?;
        let status = self.exit(deadline.at);
        self.end();
        Ok((rest, status))
    }

    pub(crate) fn last_words(&self) -> String {
        self.stderr.last_words()
    }

    fn failed(&mut self, no_line: NoLine, deadline: Deadline) -> Error {
        self.input = None;
        let status = match no_line {
            NoLine::Ended => self.exit(deadline.at),
            _ => None,
        };
        self.end();
        let host = &self.host;
        let said = Some(self.stderr.last_words()).filter(|said| !said.is_empty());
        let hint = if self.is_at_login { GUARD } else { "" };
        match no_line {
            NoLine::Interrupted => Error::Interrupted,
            NoLine::Endless => unexpected_answer(host, "what has no end", hint),
            NoLine::Late => Error::Unanswered(format!(
                "{host} did not answer within {} s; it said: {}{hint}",
                deadline.patience.as_secs(),
                said.as_deref().unwrap_or("nothing")
            )),
            NoLine::Ended => {
                let is_of_ssh = self.is_ssh && status.is_some_and(|status| status.code() == Some(OF_SSH));
                // Another launcher may fail before there is a shell, and says so.
                let is_of_shell = self.is_ssh || said.is_none();
                let status = status.map(|status| status.to_string());
                let said = said.or(status).unwrap_or_else(|| "it closed its output".to_owned());
                let hint = match (is_of_ssh, is_of_shell) {
                    (true, _) => hint_of(&said, host),
                    (false, true) => hint.to_owned(),
                    (false, false) => String::new(),
                };
                Error::Unanswered(match self.is_at_login || is_of_ssh {
                    true => format!("cannot reach {host}: {said}{hint}"),
                    false => format!("{host}: {said}"),
                })
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

/// The longest line that a host's shell may answer, in bytes.
const LONGEST: usize = 4 << 10;

#[derive(Debug)]
struct OutputLines {
    from: ChildStdout,
    pending: Vec<u8>,
    pace: ReadLimiter,
}

#[derive(Debug, PartialEq, Eq)]
enum NoLine {
    /// The output ended.
    Ended,
    Late,
    Interrupted,
    /// The line is too long.
    Endless,
}

impl OutputLines {
    /// The next line, without its end, made harmless.
    fn next(&mut self, deadline: Instant, interrupt: &Interrupt) -> Result<String, NoLine> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(words::sanitised_line(&String::from_utf8_lossy(&line[..end])).into_owned());
            }
            if self.pending.len() > LONGEST {
                return Err(NoLine::Endless);
            }
            self.take_more(deadline, interrupt)?;
        }
    }

    /// The output to its end, unchanged; more than `most` bytes are an error.
    fn read_to_end(
        &mut self,
        most: usize,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<Vec<u8>, NoLine> {
        loop {
            match self.take_more(deadline, interrupt) {
                Ok(()) if self.pending.len() > most => return Err(NoLine::Endless),
                Ok(()) => {}
                Err(NoLine::Ended) => return Ok(std::mem::take(&mut self.pending)),
                Err(other) => return Err(other),
            }
        }
    }

    fn take_more(&mut self, deadline: Instant, interrupt: &Interrupt) -> Result<(), NoLine> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(NoLine::Late);
        }
        let wait = PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX);
        let mut watched = [
            PollFd::new(self.from.as_fd(), PollFlags::POLLIN),
            PollFd::new(interrupt.as_fd(), PollFlags::POLLIN),
        ];
        // A signal is no answer: the caller looks again.
        let _ = poll(&mut watched, wait);
        let [ready, stop] = watched.map(|one| one.any().unwrap_or(false));
        if stop {
            return Err(NoLine::Interrupted);
        }
        if ready {
            let mut piece = [0; 1024];
            self.pace.pause();
            match self.from.read(&mut piece) {
                Ok(0) => return Err(NoLine::Ended),
                Ok(count) => self.pending.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(NoLine::Ended),
            }
        }
        Ok(())
    }
}

/// A command, and what its input begins with: the script, where it is a host's shell.
#[derive(Debug)]
pub(crate) struct PipedCommand {
    pub(crate) command: Command,
    pub(crate) first_line: String,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct PipedProcess {
    pub(crate) process: Child,
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    /// The end of its standard error.
    pub(crate) stderr: Console,
}

impl From<Command> for PipedCommand {
    fn from(command: Command) -> Self {
        Self { command, first_line: String::new() }
    }
}

impl PipedCommand {
    /// The program on this machine.
    pub(crate) fn program(&self) -> String {
        self.command.get_program().to_string_lossy().into_owned()
    }

    pub(crate) fn spawn(mut self) -> io::Result<PipedProcess> {
        let all = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = all.spawn()?;
        tracing::debug!(process = process.id(), command = ?self.command, "started");
        let mut input = process.stdin.take().expect("its standard input was asked to be a pipe");
        let output = process.stdout.take().expect("its standard output was asked to be a pipe");
        let errors = process.stderr.take().expect("its standard error was asked to be a pipe");
        // A pipe takes it at once. One that has ended tells why at the end of its output.
        let _ = input.write_all(self.first_line.as_bytes());
        match Console::read(errors) {
            Ok(stderr) => Ok(PipedProcess { process, input, output, stderr }),
            Err(error) => {
                // Without its reader it must not run.
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
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

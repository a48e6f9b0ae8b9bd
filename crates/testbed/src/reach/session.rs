//! A script that runs on a host, and the lines that it prints.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agent::{Interrupt, ReadLimiter, Wake};
use nix::poll::PollFlags;

use crate::console::Console;
use crate::error::Error;
use crate::reach::control_socket::ControlSocket;
use crate::reach::launcher::Launcher;

// Time limit of a host's answer: ssh's own 10 s for the connection, and as long for a login.
pub(crate) const TO_ANSWER: Duration = Duration::from_secs(20);

pub(crate) fn unexpected_answer(host: &str, got: &str, hint: &str) -> Error {
    let got = words::shortened_reason(got);
    Error::Failed(format!("{host} answered {got:?}, and not what netassay's script says{hint}"))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RootShell<'a> {
    pub(crate) launcher: &'a Launcher,
    pub(crate) by_sudo: bool,
    pub(crate) control: &'a ControlSocket,
    pub(crate) interrupt: &'a Interrupt,
}

impl RootShell<'_> {
    pub(crate) fn start(
        &self,
        script: &str,
        arguments: &[&str],
        within: Duration,
    ) -> Result<ScriptSession, Error> {
        let arguments = [&[yes_or_no(self.by_sudo)], arguments].concat();
        let command = self.launcher.command(script, &arguments, &self.control.socket());
        ScriptSession::start(&self.launcher.to_string(), command, within, self.interrupt)
    }
}

pub(crate) fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

#[derive(Debug)]
pub(crate) struct ScriptSession {
    host: String,
    pub(crate) process: Child,
    output: ChildStdout,
    pending: Vec<u8>,
    pace: ReadLimiter,
    stderr: Console,
    interrupt: Interrupt,
    patience: Duration,
    until: Instant,
    is_ssh: bool,
    is_at_login: bool,
}

impl ScriptSession {
    pub(crate) fn start(
        host: &str,
        start: PipedCommand,
        within: Duration,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let program = start.program();
        let failed = |source| Error::Failed(format!("{host}: cannot start {program}: {source}"));
        let (mut process, stderr) = start.spawn().map_err(failed)?;
        let output = process.stdout.take().expect("its standard output was asked to be a pipe");
        Ok(Self {
            host: host.to_owned(),
            process,
            output,
            pending: Vec::new(),
            pace: ReadLimiter::default(),
            stderr,
            interrupt: interrupt.clone(),
            patience: within,
            until: Instant::now() + within,
            is_ssh: program == "ssh",
            is_at_login: false,
        })
    }

    pub(crate) fn wait_for(&mut self, patience: Duration) {
        (self.patience, self.until) = (patience, Instant::now() + patience);
    }

    pub(crate) fn first_line(&mut self, word: &str) -> Result<String, Error> {
        self.is_at_login = true;
        let line = self.line()?;
        let rest = line.strip_prefix(word).ok_or_else(|| unexpected_answer(&self.host, &line, GUARD))?;
        self.is_at_login = false;
        Ok(rest.to_owned())
    }

    pub(crate) fn line(&mut self) -> Result<String, Error> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(words::sanitised_line(&String::from_utf8_lossy(&line[..end])).into_owned());
            }
            let more = if self.pending.len() > LONGEST { Err(NoMore::Endless) } else { self.read() };
            more.map_err(|no_more| self.failed(no_more))?;
        }
    }

    /// At most `most` bytes; without an exit status if the script did not exit in time.
    pub(crate) fn read_to_end(&mut self, most: usize) -> Result<(Vec<u8>, Option<ExitStatus>), Error> {
        self.process.stdin = None;
        loop {
            match self.read() {
                Ok(()) if self.pending.len() > most => return Err(self.failed(NoMore::Endless)),
                Ok(()) => {}
                Err(NoMore::Ended) => break,
                Err(other) => return Err(self.failed(other)),
            }
        }
        let status = self.exit();
        self.end();
        Ok((std::mem::take(&mut self.pending), status))
    }

    fn read(&mut self) -> Result<(), NoMore> {
        if Instant::now() >= self.until {
            return Err(NoMore::Late);
        }
        match self.interrupt.wait_for(self.output.as_fd(), PollFlags::POLLIN, self.until) {
            Ok(Wake::Interrupted) => return Err(NoMore::Interrupted),
            Ok(Wake::Ready) => {}
            Ok(Wake::Timeout) | Err(_) => return Err(NoMore::Late),
        }
        let mut piece = [0; 1024];
        self.pace.pause();
        match self.output.read(&mut piece) {
            Ok(0) => return Err(NoMore::Ended),
            Ok(count) => self.pending.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(NoMore::Ended),
        }
        Ok(())
    }

    pub(crate) fn last_words(&self) -> String {
        self.stderr.last_words()
    }

    fn failed(&mut self, no_more: NoMore) -> Error {
        self.process.stdin = None;
        let status = if no_more == NoMore::Ended { self.exit() } else { None };
        self.end();
        let host = &self.host;
        let said = Some(self.stderr.last_words()).filter(|said| !said.is_empty());
        // Another launcher may fail before there is a shell, and says so.
        let is_of_shell = no_more != NoMore::Ended || self.is_ssh || said.is_none();
        let hint = if self.is_at_login && is_of_shell { GUARD } else { "" };
        match no_more {
            NoMore::Interrupted => Error::Interrupted,
            NoMore::Endless => unexpected_answer(host, "what has no end", hint),
            NoMore::Late => Error::Unanswered(format!(
                "{host} did not answer within {} s; it said: {}{hint}",
                self.patience.as_secs(),
                said.as_deref().unwrap_or("nothing")
            )),
            NoMore::Ended => {
                let is_of_ssh = self.is_ssh && status.is_some_and(|status| status.code() == Some(OF_SSH));
                let status = status.map(|status| status.to_string());
                let said = said.or(status).unwrap_or_else(|| "it closed its output".to_owned());
                Error::Unanswered(match self.is_at_login {
                    _ if is_of_ssh => format!(
                        "cannot reach {host}: {said}; netassay never accepts a host key and types no password: connect once by hand (ssh {host}), compare the key that it shows, and let a key log in without a question (ssh-copy-id {host})"
                    ),
                    true => format!("cannot reach {host}: {said}{hint}"),
                    false => format!("{host}: {said}"),
                })
            }
        }
    }

    fn exit(&mut self) -> Option<ExitStatus> {
        look_until(self.until, || self.process.try_wait().ok().flatten())
    }

    pub(crate) fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for ScriptSession {
    fn drop(&mut self) {
        self.end();
    }
}

/// Looks again and again until something is found, at the deadline for the last time.
pub(crate) fn look_until<T>(deadline: Instant, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    loop {
        let found = look();
        if found.is_some() || Instant::now() >= deadline {
            return found;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

const OF_SSH: i32 = 255;

const GUARD: &str = "; if a startup file of its login's shell (~/.bashrc, ~/.zshenv, ~/.cshrc) prints, reads, waits or exits, let it do so \
    only where somebody types: begin it with `case $- in *i*) ;; *) return ;; esac` (csh: `if (! $?prompt) exit`)";

// The longest line that a host's shell may answer, in bytes.
const LONGEST: usize = 4 << 10;

#[derive(Debug, PartialEq, Eq)]
enum NoMore {
    Ended,
    Late,
    Interrupted,
    Endless,
}

#[derive(Debug)]
pub(crate) struct PipedCommand {
    pub(crate) command: Command,
    // Of the input: the script, where the command is a host's shell.
    pub(crate) first_line: String,
}

impl PipedCommand {
    pub(crate) fn program(&self) -> String {
        self.command.get_program().to_string_lossy().into_owned()
    }

    /// The console reads its standard error.
    pub(crate) fn spawn(mut self) -> io::Result<(Child, Console)> {
        let all = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = all.spawn()?;
        tracing::debug!(process = process.id(), command = ?self.command, "started");
        let input = process.stdin.as_mut().expect("its standard input was asked to be a pipe");
        // A pipe takes it at once. One that has ended tells why at the end of its output.
        let _ = input.write_all(self.first_line.as_bytes());
        let errors = process.stderr.take().expect("its standard error was asked to be a pipe");
        let stderr = Console::read(errors).inspect_err(|_| {
            // Without its reader it must not run.
            let _ = process.kill();
            let _ = process.wait();
        })?;
        Ok((process, stderr))
    }
}

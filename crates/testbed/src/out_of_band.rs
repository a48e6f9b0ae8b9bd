//! The out-of-band management of a machine: commands of the user's, which run on this machine, show
//! its console, and cycle its power.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, io};

use agent::Interrupt;
use nix::sys::prctl;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getppid};

use crate::console::Console;
use crate::error::Error;

/// The management commands of a machine, as argument vectors; an empty one is not configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ManagementCommands {
    /// Prints what the machine prints on its console.
    pub console: Vec<String>,
    /// Switches the machine off and on.
    pub power: Vec<String>,
}

/// The management of one machine. Dropping it ends the command that reads the console.
#[derive(Debug)]
pub struct OutOfBand {
    commands: ManagementCommands,
    console: Mutex<Option<ManagementProcess>>,
}

// The length of an oops before its call trace.
const LINES: usize = 20;

// A power distribution unit waits some seconds between off and on.
const TO_CYCLE: Duration = Duration::from_secs(60);

// In bytes, of what a command that failed printed.
const SAID: usize = 300;

impl OutOfBand {
    /// `None`: no command is configured.
    pub fn new(commands: ManagementCommands) -> Option<Arc<Self>> {
        let is_configured = commands != ManagementCommands::default();
        is_configured.then(|| Arc::new(Self { commands, console: Mutex::default() }))
    }

    /// Starts to read the console, unless that is under way. The command ends with this thread. The
    /// program for its power is looked for: a crash would be too late.
    pub(crate) fn open_console(&self, host: &str) -> Result<(), Error> {
        if let Some(program) = self.commands.power.first().filter(|program| !is_program(program)) {
            return Err(Error::Failed(format!(
                "{host}: there is no program {program} for its power: install it, or remove `power` from the file of hosts"
            )));
        }
        let mut console = self.console();
        let is_open = console.as_ref().is_some_and(|command| !command.output.closed_within(Duration::ZERO));
        let Some(program) = self.commands.console.first().filter(|_| !is_open) else { return Ok(()) };
        let started = ManagementProcess::start(&self.commands.console);
        *console = Some(started.map_err(|error| {
            Error::Failed(format!(
                "{host}: the command of its console ({program}) cannot be started: {error}: install it, or remove `console` from the file of hosts"
            ))
        })?);
        Ok(())
    }

    /// The last lines of the console, the oldest first.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        let console = self.console();
        let Some(command) = console.as_ref() else { return Vec::new() };
        let mut lines = command.output.last_lines(LINES);
        lines.iter_mut().for_each(|line| *line = words::shortened_reason(line));
        if command.output.closed_within(Duration::ZERO) {
            lines.push("(the command of the console has ended)".to_owned());
        }
        lines
    }

    /// Whether the console showed the end of a panic that hangs, since this was asked last.
    pub(crate) fn take_panic(&self) -> bool {
        self.console().as_ref().is_some_and(|command| command.output.take_panic())
    }

    pub(crate) fn has_power(&self) -> bool {
        !self.commands.power.is_empty()
    }

    pub(crate) fn cycle_power(&self, interrupt: &Interrupt) -> Result<(), Error> {
        let program = self.commands.power.first().map_or("", String::as_str);
        let failed = |why: String| Error::Failed(format!("the command of its power ({program}) {why}"));
        let started = ManagementProcess::start(&self.commands.power);
        let mut command = started.map_err(|error| failed(format!("cannot be started: {error}")))?;
        drop(command.process.stdin.take());
        let until = Instant::now() + TO_CYCLE;
        let status = loop {
            match command.process.try_wait() {
                Ok(None) if interrupt.trips_within(GLANCE) => return Err(Error::Interrupted),
                Ok(None) if Instant::now() < until => {}
                Ok(status) => break status,
                Err(error) => return Err(failed(format!("cannot be waited for: {error}"))),
            }
        };
        command.is_reaped = status.is_some();
        let why = match status {
            Some(status) if status.success() => return Ok(()),
            Some(status) => format!("failed: {status}"),
            None => format!("did not end within {} s", TO_CYCLE.as_secs()),
        };
        let said = words::last_words_within(&command.output.last_words(), SAID);
        Err(failed(if said.is_empty() { why } else { format!("{why}; it said: {said}") }))
    }

    fn console(&self) -> MutexGuard<'_, Option<ManagementProcess>> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether there is a program of this name, as `execvp` looks for it.
fn is_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_in = |directory: PathBuf| directory.join(name).is_file();
    if name.contains('/') { Path::new(name).is_file() } else { env::split_paths(&path).any(is_in) }
}

const GLANCE: Duration = Duration::from_millis(50);

// Time to end in order, which frees the only session of a machine's console.
const TO_END: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct ManagementProcess {
    // Its input is an open pipe: `ipmitool sol activate` ends with its input.
    process: Child,
    output: Console,
    is_reaped: bool,
}

impl ManagementProcess {
    fn start(words: &[String]) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let (reader, writer) = io::pipe()?;
        let output = Console::read(reader)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
        // A signal to the process group of netassay leaves it the console.
        command.process_group(0);
        let parent = std::process::id().cast_signed();
        let die_with_parent = move || -> io::Result<()> {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            if getppid().as_raw() == parent { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
        };
        // SAFETY: between fork and exec the closure makes two system calls, and allocates nothing.
        unsafe { command.pre_exec(die_with_parent) };
        Ok(Self { process: command.spawn()?, output, is_reaped: false })
    }

    fn signal(&self, signal: Signal) {
        // It has not been waited for, so the number is still that of its group.
        let _ = killpg(Pid::from_raw(self.process.id().cast_signed()), signal);
    }
}

impl Drop for ManagementProcess {
    fn drop(&mut self) {
        if self.is_reaped {
            return;
        }
        drop(self.process.stdin.take());
        if !self.output.closed_within(TO_END) {
            self.signal(Signal::SIGTERM);
            self.output.closed_within(TO_END);
        }
        self.signal(Signal::SIGKILL);
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests;

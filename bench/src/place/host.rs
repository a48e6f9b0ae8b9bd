//! One host of a testbed.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use agent::Interrupt;

use super::inside::Joined;
use super::program::Program;
use super::remote::READ;
use super::{Reading, THIS_PROGRAM};
use crate::failure::Failure;

/// One host of a testbed, as a place for programs.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    /// A process in the network namespace that is the host, or that its guest is reached from.
    pub(crate) process: u32,
    /// Do the namespaces belong to a user namespace of the process's?
    pub(crate) rootless: bool,
    /// The CPUs that programs run on; all if there is none.
    pub(crate) cpus: Vec<u32>,
    /// The shell in the host, if that is a virtual machine.
    pub(crate) guest: Option<SocketAddr>,
}

const PREPARED: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) transmitter: Host,
    pub(crate) receiver: Host,
}

impl Host {
    /// Starts a program. The thread that calls this must live as long as the program shall.
    pub(crate) fn start(&self, program: &[String]) -> Result<Program, Failure> {
        let mut command = match self.guest {
            None => self.here("inside"),
            Some(guest) => self.there(guest, &["inside"]),
        };
        if !self.cpus.is_empty() {
            let cpus: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
            command.args(["--cpus", &cpus.join(",")]);
        }
        command.arg("--").args(program);
        Program::spawn(command, program.join(" "))
    }

    /// Makes settings that hold for all its programs: the arguments of `netassay-bench prepare`.
    pub(crate) fn prepare(&self, settings: &str, interrupt: &Interrupt) -> Result<(), Failure> {
        let command = [THIS_PROGRAM, "prepare"].into_iter().chain(settings.split_whitespace());
        let mut running = self.start(&command.map(str::to_owned).collect::<Vec<_>>())?;
        running.finish(PREPARED, interrupt).map(|_| ())
    }

    /// Reads files below `/proc/net`, as they are in its network namespace.
    pub(crate) fn read(&self, files: &[&str]) -> Result<Reading, Failure> {
        let Some(guest) = self.guest else { return Reading::of(self.process, files) };
        let answer = output(self.there(guest, &[&[READ], files].concat()), Stdio::null())?;
        serde_json::from_slice(&answer).map_err(Failure::failed)
    }

    /// Copies a file of this machine to the same path in the guest, if the host is one.
    pub(crate) fn copy(&self, file: &Path) -> Result<(), Failure> {
        let Some(guest) = self.guest else { return Ok(()) };
        let open = File::open(file).map_err(Failure::io(format!("cannot read {}", file.display())))?;
        output(self.there(guest, &["put", &file.to_string_lossy()]), open.into()).map(|_| ())
    }

    /// This program in the network namespace.
    fn here(&self, what: &str) -> Command {
        let mut command = Command::new(THIS_PROGRAM);
        command.arg(what).args(Joined::arguments(self.process, self.rootless));
        command
    }

    /// This program in the guest.
    fn there(&self, guest: SocketAddr, arguments: &[&str]) -> Command {
        let mut command = self.here("remote");
        command.args(["--to", &guest.to_string(), "--"]).args(arguments);
        command
    }
}

/// What a command says that must succeed.
fn output(mut command: Command, input: Stdio) -> Result<Vec<u8>, Failure> {
    let output = command.stdin(input).output().map_err(Failure::io("cannot start the way to a guest"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = [output.stdout, output.stderr].concat();
    Err(Failure::Environment(format!("in the guest: {}", String::from_utf8_lossy(&said).trim_end())))
}

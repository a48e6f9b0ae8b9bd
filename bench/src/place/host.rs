//! One host of a testbed.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use agent::Interrupt;

use super::inside::{self, Joined, THIS_PROGRAM};
use super::program::Program;
use super::reading::Reading;
use super::remote::Request;
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

/// How long settings may take.
const PREPARED: Duration = Duration::from_secs(5);

/// The two hosts of a testbed.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) transmitter: Host,
    pub(crate) receiver: Host,
}

impl Host {
    /// Starts a program. The thread that calls this must live as long as the program shall.
    pub(crate) fn start(&self, program: &[String]) -> Result<Program, Failure> {
        let command = match self.guest {
            None => inside::command(self.process, self.rootless, &self.cpus, program),
            Some(guest) => {
                self.remote(guest, &Request::Start { program: program.to_vec(), cpus: self.cpus.clone() })?
            }
        };
        Program::spawn(command, program.join(" "))
    }

    /// Makes settings that hold for all its programs: the arguments of `netassay-bench prepare`.
    pub(crate) fn prepare(&self, settings: &str, interrupt: &Interrupt) -> Result<(), Failure> {
        let command = [THIS_PROGRAM, "prepare"].into_iter().chain(settings.split_whitespace());
        let command: Vec<String> = command.map(str::to_owned).collect();
        let mut running = self.start(&command)?;
        match running.wait(PREPARED, interrupt)? {
            Some(status) if status.success() => Ok(()),
            _ => Err(Failure::Environment(running.complaint())),
        }
    }

    /// Reads files below `/proc/net`, as they are in its network namespace.
    pub(crate) fn read(&self, files: &[&str]) -> Result<Reading, Failure> {
        if let Some(guest) = self.guest {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            let answer = self.ask(guest, &Request::Read { files }, Stdio::null())?;
            return serde_json::from_slice(&answer).map_err(Failure::failed);
        }
        Reading::of(self.process, files)
    }

    /// Copies a file of this machine to the same path in the guest, if the host is one.
    pub(crate) fn copy(&self, file: &Path) -> Result<(), Failure> {
        let Some(guest) = self.guest else { return Ok(()) };
        let open = File::open(file).map_err(Failure::io(format!("cannot read {}", file.display())))?;
        let request = Request::Put { path: file.to_string_lossy().into_owned() };
        self.ask(guest, &request, open.into()).map(|_| ())
    }

    /// The command that has the shell in the guest do something.
    fn remote(&self, guest: SocketAddr, request: &Request) -> Result<Command, Failure> {
        let mut command = Command::new(THIS_PROGRAM);
        command.arg("remote").args(Joined::arguments(self.process, self.rootless));
        command.args(["--to", &guest.to_string(), "--request"]);
        command.arg(serde_json::to_string(request).map_err(Failure::failed)?);
        Ok(command)
    }

    fn ask(&self, guest: SocketAddr, request: &Request, input: Stdio) -> Result<Vec<u8>, Failure> {
        let output = self.remote(guest, request)?.stdin(input).output();
        let output = output.map_err(Failure::io("cannot start the way to a guest"))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = [output.stdout, output.stderr].concat();
        Err(Failure::Environment(format!("in the guest: {}", String::from_utf8_lossy(&said).trim_end())))
    }
}

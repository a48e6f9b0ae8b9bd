//! A host of a testbed that is a virtual machine, as a place for programs: the shell there does
//! what it is asked.

use std::io::{self, BufReader, Read};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::namespace::Joined;
use super::protocol::{Answer, Conversation, PORT, Request};
use super::relay::PATIENCE;
use super::{Life, Place, Reading, Resident, THIS_PROGRAM};
use crate::failure::Failure;
use crate::ready;

/// A virtual machine.
#[derive(Debug)]
pub(crate) struct Guest {
    shell: Arc<Mutex<Shell>>,
    cpus: Vec<u32>,
}

/// From where a guest is reached, and at which address.
#[derive(Debug)]
pub(crate) struct Way<'a> {
    /// A process in the network namespace of the bridge.
    pub(crate) process: u32,
    /// Does that belong to a user namespace of the process's?
    pub(crate) rootless: bool,
    pub(crate) bridge: &'a str,
    /// An address that the bridge is given for this.
    pub(crate) own: IpAddr,
    pub(crate) prefix: u8,
    pub(crate) guest: IpAddr,
}

/// The conversation with the shell, through a relay.
#[derive(Debug)]
struct Shell {
    relay: Child,
    conversation: Conversation<BufReader<Patient>, ChildStdin>,
}

impl Guest {
    /// Reaches the shell; programs run on these CPUs of the guest's.
    pub(crate) fn reach(way: &Way<'_>, cpus: Vec<u32>) -> Result<Self, Failure> {
        let cannot = || Failure::io("cannot start the way to a guest");
        let mut command = Command::new(THIS_PROGRAM);
        command.arg("relay").args(Joined::arguments(way.process, way.rootless));
        command.args(["--bridge", way.bridge, "--own", &way.own.to_string()]);
        command.args(["--prefix", &way.prefix.to_string()]);
        command.args(["--to", &SocketAddr::new(way.guest, PORT).to_string()]);
        let mut relay = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(cannot())?;
        let pipes = relay.stdin.take().zip(relay.stdout.take());
        let (to, from) = pipes.ok_or_else(|| cannot()(io::ErrorKind::BrokenPipe.into()))?;
        let conversation = Conversation::new(BufReader::new(Patient(from)), to);
        Ok(Self { shell: Arc::new(Mutex::new(Shell { relay, conversation })), cpus })
    }

    /// Copies a file of this machine to the same path in the guest.
    pub(crate) fn copy(&self, file: &Path) -> Result<(), Failure> {
        let bytes = std::fs::read(file).map_err(Failure::io(format!("cannot read {}", file.display())))?;
        self.put(&file.to_string_lossy(), &bytes)
    }

    /// Writes a file in the guest.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) -> Result<(), Failure> {
        let request = Request::Put { path: path.to_owned(), length: bytes.len() as u64 };
        match ask(&self.shell, &request, bytes)? {
            Answer::Done => Ok(()),
            other => Err(unexpected(&other)),
        }
    }
}

impl Place for Guest {
    fn start(&self, program: &[String]) -> Result<Resident, Failure> {
        let request = Request::Start { program: program.to_vec(), cpus: self.cpus.clone() };
        match ask(&self.shell, &request, &[])? {
            Answer::Started(number) => {
                Ok(Resident::new(program, Distant { shell: Arc::clone(&self.shell), number }))
            }
            other => Err(unexpected(&other)),
        }
    }

    fn read(&self, files: &[&str]) -> Result<Reading, Failure> {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        match ask(&self.shell, &Request::Read { files }, &[])? {
            Answer::Read { at_ns, texts } => Ok(Reading { at: Duration::from_nanos(at_ns), texts }),
            other => Err(unexpected(&other)),
        }
    }
}

/// A program in a guest.
#[derive(Debug)]
struct Distant {
    shell: Arc<Mutex<Shell>>,
    number: usize,
}

impl Distant {
    /// Empty if the guest does not give the text: the caller then finds no figure in it, and
    /// reports that.
    fn text(&self, request: &Request) -> String {
        match ask(&self.shell, request, &[]) {
            Ok(Answer::Text(text)) => text,
            _ => String::new(),
        }
    }
}

impl Life for Distant {
    fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        match ask(&self.shell, &Request::Ended { number: self.number }, &[])? {
            Answer::Ended(status) => Ok(status.map(ExitStatus::from_raw)),
            other => Err(unexpected(&other)),
        }
    }

    fn stop(&mut self) {
        // It fails only when the guest is gone, and the program with it.
        let _ = ask(&self.shell, &Request::Stop { number: self.number }, &[]);
    }

    fn output(&mut self) -> String {
        self.text(&Request::Output { number: self.number })
    }

    fn words(&mut self) -> String {
        self.text(&Request::Words { number: self.number })
    }
}

fn ask(shell: &Mutex<Shell>, request: &Request, then: &[u8]) -> Result<Answer, Failure> {
    // A thread that panicked here left a conversation that fails at its next word.
    let mut shell = shell.lock().unwrap_or_else(PoisonError::into_inner);
    shell.conversation.say(request, then).map_err(no_shell)?;
    match shell.conversation.hear().map_err(no_shell)? {
        Some(Answer::Refused(why)) => Err(Failure::Environment(format!("in the guest: {why}"))),
        Some(answer) => Ok(answer),
        None => Err(Failure::Environment("the shell in the guest has ended".to_owned())),
    }
}

fn no_shell(failure: Failure) -> Failure {
    Failure::Environment(format!("the shell in the guest: {failure}"))
}

fn unexpected(answer: &Answer) -> Failure {
    Failure::Internal(format!("the shell in the guest answered something else: {answer:?}"))
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Both fail only when it is gone.
        let _ = self.relay.kill();
        let _ = self.relay.wait();
    }
}

/// A pipe that is waited for, but not for ever.
#[derive(Debug)]
struct Patient(ChildStdout);

impl Read for Patient {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match ready::first(&[self.0.as_fd()], 2 * PATIENCE) {
            Ok(Some(_)) => self.0.read(room),
            Ok(None) => Err(io::ErrorKind::TimedOut.into()),
            Err(failure) => Err(io::Error::other(failure.to_string())),
        }
    }
}

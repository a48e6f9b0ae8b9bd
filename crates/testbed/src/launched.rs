//! An agent that was launched, wherever it is, and the conversation with it.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agent::message::{Answer, PROTOCOL, Request};
use agent::{CallError, Client, Interrupt, Isolation};

use crate::error::Error;

/// How long an agent may take to start, or to answer anything that does not wait by design.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// An agent at work. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Launched {
    /// Whose agent it is, for messages.
    pub(crate) name: String,
    pub(crate) client: Client,
    /// How long it may take to answer: [`PATIENCE`], and more for a run of many threads.
    pub(crate) patience: Duration,
    process: Child,
}

impl Launched {
    /// Starts an agent as a process of this machine; [`Launched::greet`] waits until it is in its place.
    pub(crate) fn process(
        program: &Path,
        name: &str,
        isolation: Isolation,
        cpus: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
        let (place, pid) = words(isolation);
        let mut command = Command::new(program);
        command.arg("agent").args(["--isolation", place]).args(["--cpus", &list.join(",")]);
        command.args(["--parent", &std::process::id().to_string()]);
        if let Some(pid) = pid {
            command.args(["--of", &pid.to_string()]);
        }
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started.map_err(|source| Error::Start {
            host: name.to_owned(),
            program: program.to_owned(),
            source,
        })?;
        let to: OwnedFd = process.stdin.take().expect("its standard input was asked to be a pipe").into();
        let from: OwnedFd = process.stdout.take().expect("its standard output was asked to be a pipe").into();
        Ok(Self {
            name: name.to_owned(),
            client: Client::new(name, to, from, interrupt.clone()),
            patience: PATIENCE,
            process,
        })
    }

    /// The agent's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn greet(&mut self) -> Result<(), Error> {
        match self.client.call(&Request::Hello { protocol: PROTOCOL }, PATIENCE) {
            Ok(Answer::Hello { protocol: PROTOCOL, .. }) => Ok(()),
            Ok(other) => Err(self.client.unexpected(&other).into()),
            Err(error) => Err(self.explain(error)),
        }
    }

    pub(crate) fn order(&mut self, request: &Request) -> Result<(), Error> {
        self.client.order(request, self.patience).map_err(|error| self.explain(error))
    }

    pub(crate) fn call(&mut self, request: &Request) -> Result<Answer, Error> {
        self.client.call(request, self.patience).map_err(|error| self.explain(error))
    }

    /// Adds to "gone" how the process ended, where that can be known.
    pub(crate) fn explain(&mut self, error: CallError) -> Error {
        if !matches!(error, CallError::Gone { .. }) {
            return error.into();
        }
        // The pipe closes a moment before the process can be waited for.
        for _ in 0..50 {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Error::Died { host: self.name.clone(), pid: self.pid(), how: status.to_string() };
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        error.into()
    }
}

impl Drop for Launched {
    /// Ends the agent at once. It holds nothing but its namespaces, which end with it, so there is nothing that a
    /// gentler way would save.
    fn drop(&mut self) {
        // Both fail only when the process is already gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An isolation as the agent's command line has it, and whose place it is, if it is another's.
fn words(isolation: Isolation) -> (&'static str, Option<u32>) {
    match isolation {
        Isolation::None => ("none", None),
        Isolation::Network => ("network", None),
        Isolation::UserAndNetwork => ("user-and-network", None),
        Isolation::NetworkInUserOf(pid) => ("network-in-user-of", Some(pid)),
        Isolation::NetworkOf(pid) => ("network-of", Some(pid)),
        Isolation::UserAndNetworkOf(pid) => ("user-and-network-of", Some(pid)),
    }
}

//! One end of the wire: a host's agent as the testbed knows it.

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agent::message::{Answer, PROTOCOL, Request};
use agent::{CallError, Client, Interrupt, Isolation};
use study::Side;

use crate::testbed::Error;

/// How long an agent may take to start, or to answer anything that does not wait by design.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// One host: its agent's process, and what the testbed gave it.
#[derive(Debug)]
pub struct End {
    /// Its part in a workload.
    pub side: Side,
    /// The interface that the traffic uses.
    pub interface: String,
    /// Its IPv4 address on that interface.
    pub ipv4: IpAddr,
    /// Its IPv6 address on that interface.
    pub ipv6: IpAddr,
    /// The CPUs it runs on, by number.
    pub cpus: Vec<u32>,
    pub(crate) client: Client,
    /// How long it may take to answer: [`PATIENCE`], and more for a run of many threads.
    pub(crate) patience: Duration,
    process: Child,
}

impl End {
    /// Starts an agent; [`End::greet`] waits until it is in its place.
    pub(crate) fn start(
        program: &Path,
        side: Side,
        isolation: Isolation,
        cpus: &[u32],
        wire: (&str, IpAddr, IpAddr),
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
        let (place, pid) = match isolation {
            Isolation::None => ("none", None),
            Isolation::Network => ("network", None),
            Isolation::UserAndNetwork => ("user-and-network", None),
            Isolation::NetworkInUserOf(pid) => ("network-in-user-of", Some(pid)),
            Isolation::NetworkOf(pid) => ("network-of", Some(pid)),
            Isolation::UserAndNetworkOf(pid) => ("user-and-network-of", Some(pid)),
        };
        let mut command = Command::new(program);
        command.arg("agent").args(["--isolation", place]).args(["--cpus", &list.join(",")]);
        command.args(["--parent", &std::process::id().to_string()]);
        if let Some(pid) = pid {
            command.args(["--of", &pid.to_string()]);
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| Error::Start { side, program: program.to_owned(), source })?;
        let to: OwnedFd = process.stdin.take().expect("its standard input was asked to be a pipe").into();
        let from: OwnedFd = process.stdout.take().expect("its standard output was asked to be a pipe").into();
        Ok(Self {
            side,
            interface: wire.0.to_owned(),
            ipv4: wire.1,
            ipv6: wire.2,
            cpus: cpus.to_vec(),
            client: Client::new(side.to_string(), to, from, interrupt.clone()),
            patience: PATIENCE,
            process,
        })
    }

    /// The agent's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
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
                return Error::Died { side: self.side, pid: self.pid(), how: status.to_string() };
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        error.into()
    }
}

impl Drop for End {
    /// Ends the agent at once. It holds nothing but its namespaces, which end with it, so there is nothing that a
    /// gentler way would save.
    fn drop(&mut self) {
        // Both fail only when the process is already gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

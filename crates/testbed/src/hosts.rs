//! The machines that a study runs between, where it has machines of its user's.

use std::fmt;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::Interrupt;
use host::machine::{MachineRequest, PlacementRequest};
use study::{BySide, Placement, Side};

use crate::error::Error;
use crate::guest;
use crate::reach::{ConnectionAddresses, RemoteHost};

/// The machines of both sides.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// The machine of each side.
    pub places: BySide<HostPlace>,
    /// Whether their interfaces get addresses of netassay's for the time of the study, in place of
    /// those that they have.
    pub own_addresses: bool,
}

impl Hosts {
    pub(crate) fn end(&self, side: Side) -> String {
        format!("{side} ({})", self.places[side])
    }
}

/// A study's settings of a side's machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineSideSettings {
    /// The settings; the interface of a placement is that of the traffic.
    pub wanted: MachineRequest,
    /// The CPUs of this end's work.
    pub placement: Option<Placement>,
}

impl MachineSideSettings {
    /// The request to the machine whose traffic uses this interface.
    #[must_use]
    pub fn request(&self, interface: &str) -> MachineRequest {
        let placement =
            self.placement.map(|both| PlacementRequest { interface: interface.to_owned(), cpu: both.irq });
        MachineRequest { placement, ..self.wanted.clone() }
    }
}

/// A machine, and its interface for the traffic.
#[derive(Debug, Clone)]
pub struct HostPlace {
    /// The connection to it; `None`: it is this machine.
    pub by: Option<Arc<RemoteHost>>,
    /// The interface that the user named; `None`: the one that leads to the other machine.
    pub interface: Option<String>,
    /// Time without a sign of life after which its agent undoes its changes and ends.
    pub lease: Duration,
    /// Whether the other end is on the same machine, and sets what belongs to the whole machine.
    pub shares_machine: bool,
}

impl HostPlace {
    /// The addresses of the connection to it, where that is ssh's.
    #[must_use]
    pub fn connection(&self) -> Option<ConnectionAddresses> {
        self.by.as_ref().and_then(|reached| reached.connection)
    }

    /// Brings a file there, which is there for as long as the connection and the result.
    pub(crate) fn bring(&self, bytes: Vec<u8>, interrupt: &Interrupt) -> Result<Brought, Error> {
        if let Some(reached) = &self.by {
            return Ok(Brought { path: reached.bring(bytes, interrupt)?.into(), _here: None });
        }
        let file = guest::in_memory(&bytes).map_err(|error| {
            Error::Failed(format!("cannot keep what a guest boots from in memory: {error}"))
        })?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok(Brought { path: path.into(), _here: Some(file) })
    }

    /// Whether its agent may change interfaces.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.lacks().is_none()
    }

    /// The privilege that its agent lacks to change interfaces.
    #[must_use]
    pub fn lacks(&self) -> Option<&'static str> {
        match &self.by {
            Some(reached) => reached.lacks(),
            None => (!host::Privileges::read().privileged()).then_some("root"),
        }
    }

    /// Why its agent is not root's, with what sudo says.
    #[must_use]
    pub fn not_root(&self) -> String {
        let said = self.by.as_ref().map(|reached| reached.no_sudo.as_str()).filter(|said| !said.is_empty());
        let sudo = said.map(|said| format!(", and sudo does not make it root ({said})"));
        format!("its login is not root{}", sudo.unwrap_or_default())
    }

    /// Whether its agent makes network namespaces of the machine's root.
    #[must_use]
    pub fn makes_namespaces(&self) -> bool {
        match &self.by {
            Some(reached) => reached.makes_namespaces(),
            None => host::Privileges::read().privileged(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Brought {
    pub(crate) path: PathBuf,
    /// The file, if the machine is this one.
    _here: Option<OwnedFd>,
}

impl fmt::Display for HostPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            Some(reached) => reached.launcher.fmt(f),
            None => f.write_str("this machine"),
        }
    }
}

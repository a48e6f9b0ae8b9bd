//! Errors of a testbed.

use agent::CallError;
use thiserror::Error as ThisError;

use crate::pair::PairFault;
use crate::{guest, reach};

/// Why a testbed could not be built or used.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The agent's process could not be made.
    #[error("cannot start the {host}'s agent ({program}): {source}")]
    Start {
        /// The host.
        host: String,
        /// The program that was to start.
        program: String,
        /// The kernel's error.
        source: std::io::Error,
    },
    /// The agent exited unexpectedly.
    #[error("the {host}'s agent (process {pid}) exited unexpectedly: {how}{said}")]
    Died {
        /// The host.
        host: String,
        /// Its process id.
        pid: u32,
        /// Its exit status.
        how: String,
        /// Its standard error, cut as by [`words::shortened_reason`]; may be empty.
        said: String,
    },
    /// The conversation with an agent failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// An agent did not answer in time, and answers again.
    #[error("{source}, but answers again: the machine is busy")]
    Late {
        /// The error of the conversation.
        source: CallError,
    },
    /// A virtual machine could not be started, or is gone.
    #[error(transparent)]
    Guest(#[from] guest::Error),
    /// A virtual machine runs, but its agent is gone or silent.
    #[error("{source}; the virtual machine still runs; last lines of its console:\n{console}")]
    Unreachable {
        /// The error of the conversation.
        source: CallError,
        /// The console's last lines.
        console: String,
    },
    /// A machine could not be reached.
    #[error(transparent)]
    Reach(#[from] reach::Error),
    /// The scenario needs machines, and none are given.
    #[error(
        "scenario \"{0}\" runs between machines of yours: name them with --transmitter USER@HOST:INTERFACE and --receiver USER@HOST:INTERFACE (one is enough if the other is this machine)"
    )]
    NoHosts(study::Scenario),
    /// The interface that leads to the other machine carries the controller's connection too.
    #[error(
        "{host}: the interface that leads to the other machine, {interface}, carries this connection too, so a change of it may cut netassay off: name another interface (USER@HOST:INTERFACE), or this one to accept that; what is changed is undone when the connection is lost"
    )]
    CarriesTheConnection {
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
    },
    /// The two machines cannot exchange the study's packets.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Pair(Vec<PairFault>),
    /// A machine cannot boot a guest.
    #[error("{host} cannot boot a guest: {why}")]
    NoGuest {
        /// The machine.
        host: String,
        /// The reason, with the way out.
        why: String,
    },
    /// A port of a bridge carries no connection.
    #[error(
        "{host}: the interface {interface} carries this connection, and in the scenario \"vm\" it becomes a port of a bridge, which would cut netassay off: name another interface (USER@HOST:INTERFACE), or use the scenario \"vm-vxlan\""
    )]
    BridgeCutsOff {
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
    },
    /// A machine cannot be rebooted between boots.
    #[error(
        "{host} cannot be rebooted between boots: {why}; name two other machines that are reached over ssh, or use boots.how = \"reset\""
    )]
    NoRestart {
        /// The machine.
        host: String,
        /// The reason.
        why: String,
    },
    /// A setting of a machine could not be changed.
    #[error("the {side} ({host}): {why}")]
    NotSet {
        /// The side of the machine.
        side: study::Side,
        /// Its name.
        host: String,
        /// The reason.
        why: String,
    },
    /// A kernel of the study cannot be booted on a machine.
    #[error("{host} cannot boot every kernel of the study: {why}")]
    NoKernel {
        /// The machine.
        host: String,
        /// The reason.
        why: String,
    },
    /// The machines are back, but not the addresses of their interfaces.
    #[error(
        "the machines restarted, but their interfaces no longer have the addresses that the traffic used: let the machines set these at each start, or let netassay add a pair for the time of the study (--addresses own)"
    )]
    OtherAddresses,
    /// A machine has no such interface.
    #[error("{host} has no interface {interface:?}: `ip link` lists those that it has")]
    NoSuchInterface {
        /// The machine.
        host: String,
        /// The name.
        interface: String,
    },
    /// A setting that was to stay was not taken.
    #[error("{host}, interface {interface}: {what}; so nothing is applied, and what was set is undone")]
    NotApplied {
        /// The machine.
        host: String,
        /// The interface.
        interface: String,
        /// The setting, and why.
        what: String,
    },
    /// Conditions cannot take turns in one flow here.
    #[error("the {host} cannot take turns: {why}")]
    NotInTurns {
        /// The host.
        host: String,
        /// The reason.
        why: String,
    },
    /// An interface has no address of this family.
    #[error(
        "the {end}'s interface has no {family} address that the other machine can send to: give it one, or let netassay add a pair for the time of the study (--addresses own)"
    )]
    NoAddress {
        /// The family.
        family: study::Family,
        /// The end with this interface.
        end: String,
    },
    /// An interface cannot have addresses of IPv6.
    #[error(
        "IPv6 is off on the {end}'s machine: turn it on there (sysctl net/ipv6/conf/{interface}/disable_ipv6=0), or measure IPv4 only (--set family=ipv4)"
    )]
    Ipv6Off {
        /// The end on this machine.
        end: String,
        /// The interface, or `default` for those that are made.
        interface: String,
    },
    /// This workload needs a receiver, and the testbed has none.
    #[error(
        "{0} needs a receiver, and scenario \"discard\" has none: use scenario \"veth\" or \"loopback\", or the kind pps"
    )]
    NoReceiver(load::Kind),
    /// This scenario has virtual machines, which cannot be built inside one.
    #[error("scenario \"{0}\" already has virtual machines: remove `inside`, or use scenario \"veth\"")]
    Nested(study::Scenario),
    /// The kind pps has no receiver: a host would answer that nobody listens.
    #[error("pps has no receiver and runs in scenario \"discard\" only: use that scenario, or udp_stream")]
    NeedsDiscard,
    /// Loopback has one interface for both ends, which asked for different states of this feature.
    #[error(
        "over loopback both ends share one interface, so {0} cannot be on at one end and off at the other: give both sides the same level, or use scenario = \"veth\""
    )]
    OneInterface(String),
}

impl Error {
    /// Whether the user asked to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Call(CallError::Interrupted)
                | Self::Guest(guest::Error::Interrupted)
                | Self::Reach(reach::Error::Interrupted)
        )
    }

    /// Whether every further change would fail too, so that a study ends with it.
    #[must_use]
    pub fn ends_the_study(&self) -> bool {
        matches!(self, Self::Call(CallError::NoJournal { .. }))
    }

    /// The reason of a refusal of an agent; any other error as it is.
    pub(crate) fn refusal(self) -> Result<String, Self> {
        match self {
            Self::Call(CallError::Refused { why, .. }) => Ok(why),
            other => Err(other),
        }
    }

    /// [`Error::Late`] for the silence of an agent; any other error as it is.
    pub(crate) fn or_late(self) -> Self {
        match self {
            Self::Call(source @ CallError::Silent { .. })
            | Self::Unreachable { source: source @ CallError::Silent { .. }, .. } => Self::Late { source },
            other => other,
        }
    }

    /// Whether its text says what to do; other errors are about what this machine supports.
    #[must_use]
    pub fn names_its_way_out(&self) -> bool {
        matches!(
            self,
            Self::Reach(_)
                | Self::NoHosts(_)
                | Self::CarriesTheConnection { .. }
                | Self::NoAddress { .. }
                | Self::Pair(_)
                | Self::Ipv6Off { .. }
                | Self::NoGuest { .. }
                | Self::BridgeCutsOff { .. }
                | Self::NoRestart { .. }
                | Self::NoKernel { .. }
                | Self::OtherAddresses
                | Self::NoSuchInterface { .. }
                | Self::NotApplied { .. }
        )
    }

    /// Whether the testbed can be used for the next run. If not, it must be built again.
    #[must_use]
    pub fn testbed_is_well(&self) -> bool {
        match self {
            Self::Late { .. }
            | Self::OneInterface(_)
            | Self::NoReceiver(_)
            | Self::NeedsDiscard
            | Self::NoAddress { .. }
            | Self::NotInTurns { .. } => true,
            Self::Call(error) => error.agent_is_well(),
            _ => false,
        }
    }
}

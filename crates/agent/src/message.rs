//! The words of the protocol: what the controller asks of an agent, and what the agent answers.
//!
//! One request, one answer, in order. A request that fails is answered by [`Answer::Failed`] and
//! leaves the agent ready for the next one.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use host::journal::{Outcome, Undoing};
use host::machine::MachineRequest;
use serde::{Deserialize, Serialize};
use words::Settled;

pub use record::{Finished, GuestTimes, Late, Measured, Series, Watched};

/// The protocol's version. Controller and agent must agree on it exactly: they are the same binary
/// on every host that netassay starts by itself, and a mismatch means that a stale copy answered.
pub const PROTOCOL: u32 = 9;

/// What the controller asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Who are you? Always the first request.
    Hello {
        /// [`PROTOCOL`] of the controller.
        protocol: u32,
    },
    /// Make a veth pair between this host's network namespace and that of another process on the
    /// same kernel.
    CreateVeth {
        /// Name of this end.
        name: String,
        /// Name of the far end.
        peer: String,
        /// A process in the far end's network namespace.
        peer_pid: u32,
    },
    /// Make an interface that throws away what is sent through it, give it addresses, and set it
    /// up.
    CreateDiscard {
        /// Its name.
        name: String,
        /// What is to stand behind it; `None`: the first that this kernel has.
        device: Option<host::DiscardDevice>,
        /// Its addresses with their prefix lengths.
        addresses: Vec<(IpAddr, u8)>,
        /// Addresses that are to be reached through it, though nobody is there.
        behind: Vec<IpAddr>,
    },
    /// Make one end of a VXLAN tunnel, give it addresses or make it a port of a bridge, and set it
    /// up.
    CreateVxlan {
        /// Its name.
        name: String,
        /// Where it leads.
        vxlan: host::Vxlan,
        /// Its addresses with their prefix lengths.
        addresses: Vec<(IpAddr, u8)>,
        /// The bridge that it is a port of, if it is one.
        bridge: Option<String>,
    },
    /// Make a bridge and set it up.
    CreateBridge {
        /// Its name.
        name: String,
    },
    /// Make a tap for a guest, a port of a bridge, and set it up.
    CreateTap {
        /// Its name.
        name: String,
        /// The bridge.
        bridge: String,
    },
    /// Which interface has this link-layer address?
    FindInterface {
        /// The address, as `02:00:5e:00:53:01`.
        address: String,
    },
    /// Give an interface its addresses and set it up.
    Configure {
        /// The interface.
        interface: String,
        /// Addresses with their prefix lengths.
        addresses: Vec<(IpAddr, u8)>,
    },
    /// Set the MTU of an interface that has no switches of its own to settle: a port of a bridge.
    SetMtu {
        /// The interface.
        interface: String,
        /// In bytes.
        mtu: u32,
    },
    /// Wait until an interface sends what it is given: just set up, it may throw it away.
    AwaitRunning {
        /// The interface.
        interface: String,
    },
    /// Let an interface's receive work run on these CPUs.
    Steer {
        /// The interface.
        interface: String,
        /// The CPUs, by number.
        cpus: Vec<u32>,
    },
    /// Let the receive work of interfaces that are made from now on run on these CPUs; none: as the
    /// kernel chooses.
    SteerNew {
        /// The CPUs, by number.
        cpus: Vec<u32>,
    },
    /// Set the switches of an interface and read them back.
    Settle {
        /// The interface.
        interface: String,
        /// The MTU in bytes, or `None` to leave it alone.
        mtu: Option<u32>,
        /// Features by kernel name. Features not named return to what they were when the agent
        /// first saw the interface.
        features: BTreeMap<String, bool>,
    },
    /// Describe this host and these interfaces.
    Environment {
        /// The interfaces to describe.
        interfaces: Vec<String>,
    },
    /// What does this host's kernel lack for this traffic?
    Lacking {
        /// The traffic.
        traffic: load::Traffic,
        /// The version of IP.
        family: load::Family,
    },
    /// Become the receiver of a workload: open its sockets.
    Listen {
        /// The receiver's side of the workload.
        spec: load::Spec,
        /// The interface the traffic arrives on.
        interface: String,
        /// The interface under it, if it is a tunnel.
        underlay: Option<String>,
    },
    /// Become the transmitter of a workload: open its sockets towards the receiver's.
    Connect {
        /// The transmitter's side of the workload.
        spec: load::Spec,
        /// The receiver's sockets, as it answered [`Request::Listen`].
        endpoints: Vec<SocketAddr>,
        /// The interface the traffic leaves by.
        interface: String,
        /// The interface under it, if it is a tunnel.
        underlay: Option<String>,
    },
    /// (Receiver) take exactly these peers, and nobody else.
    Attach {
        /// The transmitter's sockets, as it answered [`Request::Connect`].
        locals: Vec<SocketAddr>,
    },
    /// Start the threads of the workload.
    Start,
    /// End the threads that send here. Those that receive go on.
    Quiet,
    /// Wait `ramp_ns`, then measure for `window_ns`; the threads go on afterwards.
    Measure {
        /// Time from this request to the window's opening, in ns.
        ramp_ns: u64,
        /// Length of the window, in ns.
        window_ns: u64,
        /// Time between two rows of the series that is taken down meanwhile, in ns. Less than 10
        /// ms, more than 1 s and more than 1000 steps a window are not had: [`Series::step_ns`]
        /// tells the step in force.
        step_ns: u64,
    },
    /// Wait `ramp_ns`, then count for `window_ns` what guests cost the host that runs them, and
    /// what crosses an interface of it.
    Watch {
        /// The guests' processes on this host.
        processes: Vec<u32>,
        /// The CPUs of this host that are the guests', by number.
        cpus: Vec<u32>,
        /// The interface under the tunnel between the guests, if there is one.
        underlay: Option<String>,
        /// Time from this request to the window's opening, in ns.
        ramp_ns: u64,
        /// Length of the window, in ns.
        window_ns: u64,
    },
    /// Do fixed work in one thread that holds the sockets of both ends, and count what it takes.
    Exact {
        /// The transmitter's side of the workload.
        spec: load::Spec,
        /// Who receives.
        receiver: ExactReceiver,
    },
    /// Stop the threads, close the sockets and give the final account.
    Finish,
    /// Drop whatever workload there is, without an account.
    Abandon,
    /// Change settings of the machine itself. On disk it is noted first how to undo them; that
    /// happens at [`Request::UndoMachine`] or, of an agent that does not die with its controller,
    /// when its input ends.
    ChangeMachine(MachineRequest),
    /// How do the settings that were changed differ from what they were changed to?
    MachineDifferences,
    /// Undo every change of the machine's settings.
    UndoMachine,
}

/// Who receives the messages of [`Request::Exact`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExactReceiver {
    /// A socket in the network namespace of another process on the same kernel.
    In {
        /// The process.
        process: u32,
        /// The receiver's side of the workload.
        spec: load::Spec,
    },
    /// Nobody: an interface throws away what is sent to this address.
    Nobody(SocketAddr),
}

/// What the agent answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// To [`Request::Hello`].
    Hello {
        /// [`PROTOCOL`] of the agent.
        protocol: u32,
        /// The agent's netassay version.
        version: String,
        /// Its process id, as it sees it.
        pid: u32,
        /// The CPUs of its machine that it could be given, each with its core
        /// ([`host::affinity::usable`]).
        cpus: Vec<(u32, u32)>,
    },
    /// Done; nothing to tell.
    Done,
    /// To [`Request::CreateDiscard`].
    Discards(host::Discard),
    /// To [`Request::Settle`].
    Settled(Settled),
    /// To [`Request::Environment`]: the host's description.
    Environment(Box<host::Environment>),
    /// To [`Request::Lacking`], [`Request::ChangeMachine`] and [`Request::MachineDifferences`].
    Told {
        /// What is lacking, was changed or differs, each in words; empty if nothing.
        what: Vec<String>,
    },
    /// To [`Request::UndoMachine`].
    MachineUndone {
        /// What became of each change, the last first.
        changes: Vec<Undone>,
    },
    /// To [`Request::Listen`] and [`Request::Connect`]: the sockets opened.
    Sockets {
        /// Local addresses, in the order of the flows.
        addresses: Vec<SocketAddr>,
    },
    /// To [`Request::Measure`].
    Measured(Box<Measured>),
    /// To [`Request::FindInterface`].
    Interface {
        /// Its name.
        name: String,
    },
    /// To [`Request::Watch`].
    Watched(Box<Watched>),
    /// To [`Request::Exact`].
    Exact(Box<load::exact::Account>),
    /// To [`Request::Finish`].
    Finished(Box<Finished>),
    /// The request could not be carried out.
    Failed {
        /// Why, in words for the user: the thing, the place and the way out.
        why: String,
        /// Is the host past mending, so that other requests would fail too? An interface that is
        /// gone is such a case.
        #[serde(default)]
        broken: bool,
    },
}

/// What became of a change of the machine's settings, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Undone {
    /// The value before is back.
    Settled(String),
    /// Another program has changed the setting, and it is left.
    Left(String),
    /// The kernel refused, or the journal could not be written.
    Failed(String),
}

impl Undone {
    pub(crate) fn of(undoing: &Undoing) -> Self {
        let sentence = undoing.sentence(false);
        match undoing.outcome {
            Outcome::Undone | Outcome::AlreadySo => Self::Settled(sentence),
            Outcome::ChangedMeanwhile { .. } => Self::Left(sentence),
            Outcome::Failed { .. } => Self::Failed(sentence),
        }
    }

    /// The sentence.
    #[must_use]
    pub fn sentence(&self) -> &String {
        let (Self::Settled(sentence) | Self::Left(sentence) | Self::Failed(sentence)) = self;
        sentence
    }
}

#[cfg(test)]
mod tests;

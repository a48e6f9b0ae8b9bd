//! The messages of the protocol. Each request has one answer, in order, with the request's id; a
//! trace also tells its rounds before. A request that fails ([`Answer::Failed`]) leaves the agent
//! ready.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use host::journal::{Change, ReadBackDifference, UndoOutcome, Undoing};
use host::machine::MachineRequest;
use serde::{Deserialize, Serialize};
use words::{Accelerated, DeviceSetting, Settled, Tuning, Turn};

pub use record::{Finished, InTurns, Late, Measured, Series, Watched};

/// Controller and agent are the same binary: another version means that a stale copy answered.
pub const PROTOCOL: u32 = 23;

/// A request to an agent. Interfaces' addresses have the lengths of their prefixes. `underlay`: the
/// interface under a tunnel, if any. Times begin with the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub enum Request {
    /// Identify yourself. Always the first request.
    Hello { protocol: u32 },
    /// Take the turn to measure on this machine, with the right to change it, and keep it until the
    /// agent's end. `session`: the controller's, of which an earlier agent may be stuck.
    TakeTurn { session: String },
    /// Let other sessions measure on this machine.
    LeaveTurn,
    /// Make a veth pair to the network namespace of the process `peer_pid` on the same kernel.
    CreateVeth { name: String, peer: String, peer_pid: u32 },
    /// Make an interface that discards what is sent through it, add addresses, and set it up.
    CreateDiscard {
        name: String,
        /// The device behind it; `None`: the first that this kernel has.
        device: Option<host::DiscardDevice>,
        addresses: Vec<(IpAddr, u8)>,
        /// Addresses that are routed through it, though nobody has them.
        behind: Vec<IpAddr>,
    },
    /// Make one end of a VXLAN tunnel, add addresses or make it a port of a bridge, and set it up.
    CreateVxlan { name: String, vxlan: host::Vxlan, addresses: Vec<(IpAddr, u8)>, bridge: Option<String> },
    /// Make a bridge and set it up.
    CreateBridge { name: String },
    /// Make a tap for a guest, a port of a bridge, and set it up.
    CreateTap { name: String, bridge: String },
    /// Make an interface a port of a bridge; the machine's own is free again at the end.
    AddPort { bridge: String, interface: String },
    /// Tell the interface for traffic to another machine: the named one, or the routing one.
    Locate {
        interface: Option<String>,
        /// The addresses of the other machine's interface, if it is known.
        beside: Vec<(IpAddr, u8)>,
        /// An address of the other machine.
        towards: Option<IpAddr>,
        /// The addresses of the controller's connection, if any: the controller's, and this
        /// machine's.
        connection: Option<(IpAddr, IpAddr)>,
    },
    /// Tell facts of an interface that may explain lost packets, and these addresses' users.
    PairFacts { interface: String, addresses: Vec<IpAddr> },
    /// Open sockets, bound to an interface, by which packets try the path to another machine.
    /// `ports`: of UDP and of TCP. `listens`: this end waits for the other's connection.
    OpenProbe { interface: String, local: IpAddr, ports: [Option<u16>; 2], listens: bool },
    /// Send a small packet and a full one, of these bytes, of UDP and of TCP to the other end's
    /// sockets, and tell which of its packets arrive within this time.
    ExchangeProbes { to: [SocketAddr; 2], full: [u32; 2], within_ms: u16 },
    /// Find the interface with this link-layer address, as `02:00:5e:00:53:01`.
    FindInterface { address: String },
    /// Add addresses and set the interface up; the machine's own gets only those it does not have.
    Configure { interface: String, addresses: Vec<(IpAddr, u8)> },
    /// Set the MTU of an interface without switches of its own: a port of a bridge.
    SetMtu { interface: String, mtu: u32 },
    /// Wait until an interface forwards packets: just set up, it may drop them.
    AwaitRunning { interface: String },
    /// Run an interface's receive work on these CPUs.
    Steer { interface: String, cpus: Vec<u32> },
    /// Run future interfaces' receive work on these CPUs; empty: the kernel chooses.
    SteerNew { cpus: Vec<u32> },
    /// Set an interface's switches and read them back. Features and settings that are not named
    /// return to what they were when the agent first saw the interface.
    Settle {
        interface: String,
        /// `None` keeps the MTU.
        mtu: Option<u32>,
        /// By kernel name.
        features: BTreeMap<String, bool>,
        device: BTreeMap<DeviceSetting, u32>,
        /// The others return to what they were. `None` leaves the machine as it is.
        tuning: Option<Tuning>,
    },
    /// Describe this host and these interfaces.
    Environment { interfaces: Vec<String> },
    /// List what this host's kernel lacks for this traffic.
    Lacking { traffic: load::Traffic, family: load::Family },
    /// Open one side's sockets: the receiver's, or the transmitter's towards the `endpoints`.
    Open { spec: load::Spec, endpoints: Option<Vec<SocketAddr>>, interface: String, underlay: Option<String> },
    /// (Receiver) accept exactly these peers: the transmitter's sockets.
    Attach { locals: Vec<SocketAddr> },
    /// Start the threads of the workload.
    Start,
    /// Keep the workload open for so long without a window: the other end is traced.
    Stay { for_ms: u32 },
    /// End the threads that send here. Receiving threads continue.
    Quiet,
    /// Wait, then measure; the threads go on. `step_ns`: between two rows of the series; in force
    /// ([`Series::step_ns`]) are 10 ms to 1 s, and at most 1000 steps a window.
    Measure { ramp_ns: u64, window_ns: u64, step_ns: u64 },
    /// Wait, then follow a schedule of turns: at the beginning of each switch to its state, and
    /// count its part after `settle_ns`. The threads go on.
    Alternate { ramp_ns: u64, turn_ns: u64, settle_ns: u64, states: Vec<TurnState>, turns: Vec<Turn> },
    /// Wait, then count what guests cost their host on these CPUs, and what crosses the underlay.
    Watch { processes: Vec<u32>, cpus: Vec<u32>, underlay: Option<String>, ramp_ns: u64, window_ns: u64 },
    /// Do fixed work in one thread that holds the sockets of both ends, and count its cost.
    Exact { spec: load::Spec, receiver: ExactReceiver },
    /// Do fixed work as for [`Request::Exact`], watched by programs in the kernel.
    Trace { spec: load::Spec, receiver: ExactReceiver, wanted: TraceOptions },
    /// Tell what the kernel has for paths, given as texts. `functions`: a function may be probed.
    Survey { paths: Vec<String>, functions: bool },
    /// Stop the threads, close the sockets and give the final account.
    Finish,
    /// Drop the workload, if there is one, without an account.
    Abandon,
    /// Change the machine's settings, journalled first, until [`Request::UndoMachine`] or, for an
    /// agent that outlives its controller, the end of its input.
    ChangeMachine(MachineRequest),
    /// List what [`Request::ChangeMachine`] would change, and change nothing.
    PreviewMachine(MachineRequest),
    /// Set the machine's own interface as [`Request::Settle`] does, until [`Request::Keep`] is
    /// answered.
    Apply { interface: String, mtu: Option<u32>, features: BTreeMap<String, bool> },
    /// Let all changes stay after the agent's end. `why`: the advice or purpose of the changes.
    Keep { why: String },
    /// List the settings that differ from the value that they were changed to.
    MachineDifferences,
    /// Undo every change of the machine, and delete the interfaces that were made.
    UndoMachine,
}

/// The state of the switches in a turn of [`Request::Alternate`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnState {
    /// Every feature of the interface by kernel name; empty: the interface is not switched here.
    pub features: BTreeMap<String, bool>,
    /// The traffic: that of the flow, apart from what sockets can be given meanwhile.
    pub traffic: load::Traffic,
    /// Settings of the machine of this interface; `None` leaves it as it is.
    pub tuning: Option<Tuning>,
}

/// The options of [`Request::Trace`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceOptions {
    /// The text of the path's file.
    pub path: String,
    /// Whether functions may be probed; tracepoints only if not.
    pub functions: bool,
    /// Messages of a batch, from 1.
    pub batch: u32,
    /// Batches of each kind: without probes, with some, with all.
    pub rounds: u32,
    /// Whether each end has a thread of its own, whose reader sleeps until a packet wakes it.
    pub asleep: bool,
    /// One packet in so many is kept with its stamps; 0: none.
    pub every: u32,
    /// Samples a second that find the functions which take the time; 0: none.
    pub profile: u32,
}

/// The receiver of the messages of [`Request::Exact`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub enum ExactReceiver {
    /// A socket in the network namespace of another process on the same kernel.
    In { process: u32, spec: Box<load::Spec> },
    /// None: an interface discards what is sent to this address.
    Nobody(SocketAddr),
    /// (of a trace) Another machine, which answers: the sockets are those of [`Request::Open`].
    Apart,
}

/// An answer of the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub enum Answer {
    /// The process id is in the agent's own namespace. `cpus`: as [`host::affinity::usable`].
    Hello {
        protocol: u32,
        pid: u32,
        cpus: Vec<(u32, u32)>,
    },
    Done,
    /// To [`Request::TakeTurn`]: the session that has the turn; `None`: the agent has it now.
    Turn(Option<String>),
    /// To [`Request::CreateDiscard`]. `lacking`: the kernel's errors for the devices before it.
    Discards {
        device: host::DiscardDevice,
        lacking: Vec<String>,
    },
    Settled(Settled),
    Environment(Box<host::HostEnvironment>),
    /// Each lacking thing, in words.
    Told(Vec<String>),
    /// To [`Request::ChangeMachine`], [`Request::PreviewMachine`] and [`Request::Keep`].
    MachineChanged(Vec<Change>),
    MachineDiffers(Vec<ReadBackDifference>),
    /// To [`Request::UndoMachine`]: the result of each undo, the last change first.
    MachineUndone(Vec<Undone>),
    /// To [`Request::Open`] and [`Request::OpenProbe`]: local addresses, in the order of the flows.
    Sockets(Vec<SocketAddr>),
    Measured(Box<Measured>),
    /// To [`Request::Alternate`]: the account of each state, in the order of the request.
    Alternated(Vec<InTurns>),
    /// To [`Request::Alternate`]: these states cannot take turns here, and need runs of their own.
    NotInTurns(String),
    Located(host::LocatedInterface),
    PairFacts(Box<host::PairFacts>),
    Arrived(load::Arrived),
    #[serde(deserialize_with = "words::names::interfaces")]
    Interface(String),
    Watched(Box<Watched>),
    Exact(Box<load::exact::Account>),
    /// To the order of a guest ([`crate::Relay`]): it runs, and its agent answers from now on.
    Booted(Box<Booted>),
    /// To [`Request::Trace`], before its answer: a finished round.
    TracedRound(Box<trace::TraceAccount>),
    Traced(Box<trace::TraceAccount>),
    Surveyed(Box<trace::Survey>),
    Finished(Box<Finished>),
    /// Problem, cause and remedy, in words for the user. `broken`: other requests would fail too.
    Failed {
        why: String,
        broken: bool,
    },
    /// The undo journal cannot be written: every request with a change would fail.
    NoJournal(String),
}

/// A guest that runs, as its host sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Booted {
    pub process: u32,
    pub acceleration: Accelerated,
    pub stays_root: Option<String>,
    /// The time from its start until its agents were at their ports, in ms.
    pub boot_ms: f64,
    /// The reason why its first boot failed, if it did: one line, and then the console's.
    pub failed_first: Option<String>,
}

/// The result of an undo, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Undone {
    /// The old value is restored.
    Settled(String),
    /// Another program has changed the setting, so it is left; or its interface is gone.
    Left(String),
    /// The kernel refused, or the journal could not be written.
    Failed(String),
}

impl Undone {
    pub(crate) fn from_undoing(undoing: &Undoing) -> Self {
        let sentence = undoing.sentence(false);
        match undoing.outcome {
            UndoOutcome::Undone | UndoOutcome::AlreadySo => Self::Settled(sentence),
            UndoOutcome::ChangedMeanwhile { .. } | UndoOutcome::Gone => Self::Left(sentence),
            UndoOutcome::Failed { .. } => Self::Failed(sentence),
        }
    }

    /// The sentence.
    pub fn sentence(&self) -> &String {
        let (Self::Settled(sentence) | Self::Left(sentence) | Self::Failed(sentence)) = self;
        sentence
    }
}

#[cfg(test)]
mod tests;

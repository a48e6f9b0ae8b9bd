//! The testbed: two hosts and the wire between them, built anew for every boot.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use agent::message::{Answer, Request};
use agent::{CallError, Interrupt, Isolation};
use host::{Discard, DiscardDevice};
use serde_json::{Value, json};
use study::{BootState, Scenario, Side};
use thiserror::Error as ThisError;

use crate::cpus::CpuSplit;
use crate::end::End;

/// How a testbed is to be built.
#[derive(Debug, Clone)]
pub struct Options {
    /// The kind of testbed.
    pub scenario: Scenario,
    /// The netassay binary, which becomes each agent.
    pub program: PathBuf,
    /// The CPUs of each host.
    pub cpus: CpuSplit,
    /// Build it in a user namespace even where privileges would allow more.
    pub rootless: bool,
    /// (discard) what is to throw the packets away; `None`: the first that this kernel has.
    pub discard_device: Option<DiscardDevice>,
    /// What of it only a fresh boot changes: the tunnel's underlay, the virtual machines.
    pub state: BootState,
    /// Build it inside one virtual machine.
    pub inside_guest: bool,
    /// (inside a virtual machine) count instructions in the place of time.
    pub exact: bool,
}

impl Options {
    /// A testbed without anything special.
    #[must_use]
    pub fn new(scenario: Scenario, program: impl Into<PathBuf>, cpus: CpuSplit, rootless: bool) -> Self {
        Self {
            scenario,
            program: program.into(),
            cpus,
            rootless,
            discard_device: None,
            state: BootState::default(),
            inside_guest: false,
            exact: false,
        }
    }
}

/// Why a testbed could not be built or used.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The agent's process could not be made.
    #[error("cannot start the {side}'s agent ({}): {source}", .program.display())]
    Start {
        /// Which host.
        side: Side,
        /// What was started.
        program: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The agent ended by itself.
    #[error("the {side}'s agent (process {pid}) ended unasked: {how}")]
    Died {
        /// Which host.
        side: Side,
        /// Its process id.
        pid: u32,
        /// Its exit status.
        how: String,
    },
    /// The conversation with an agent failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The machine's CPUs could not be found out.
    #[error(transparent)]
    Host(#[from] host::Error),
    /// Somebody has to answer, and the testbed has nobody.
    #[error(
        "{kind} needs a receiver, and scenario \"discard\" has none: only pps sends to nobody; take scenario \"veth\" or \"loopback\""
    )]
    NoReceiver {
        /// The workload in question.
        kind: load::Kind,
    },
    /// This scenario is being built.
    #[error("this scenario cannot be built yet")]
    NotYet,
    /// A receiver's host would answer that nobody listens.
    #[error("pps sends to nobody, who is to be found in scenario \"discard\" only: take that, or udp_stream")]
    NeedsDiscard,
    /// Loopback has one interface for both ends.
    #[error(
        "over loopback both ends are one interface, which cannot have {feature} on and off at once: give both sides the same level, or use scenario = \"veth\""
    )]
    OneInterface {
        /// The feature in question.
        feature: String,
    },
}

impl Error {
    /// Did the user ask to stop?
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Call(CallError::Interrupted))
    }

    /// Can the testbed be used for the next run? If not, it must be built anew.
    #[must_use]
    pub fn testbed_is_well(&self) -> bool {
        match self {
            Self::OneInterface { .. } | Self::NoReceiver { .. } | Self::NeedsDiscard => true,
            Self::Call(error) => error.agent_is_well(),
            _ => false,
        }
    }
}

/// Two hosts with a wire between them, or one that sends to nobody. Dropping it takes everything down.
#[derive(Debug)]
pub struct Testbed {
    /// The host that sends the load.
    pub transmitter: End,
    /// The host that takes it; `None` where everything is thrown away.
    pub receiver: Option<End>,
    scenario: Scenario,
    cpus: CpuSplit,
    rootless: bool,
    pub(crate) discard: Option<Discard>,
    notes: Vec<String>,
}

/// Addresses from the ranges reserved for benchmarking (RFC 2544 appendix C.2.2 and RFC 5180 section 8).
pub(crate) const IPV4: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(198, 18, 0, 1)), IpAddr::V4(Ipv4Addr::new(198, 18, 0, 2))];
pub(crate) const IPV6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 2)),
];
const VETH_NAMES: [&str; 2] = ["transmit0", "receive0"];

impl Testbed {
    /// Builds the testbed: namespaces, agents, wire, addresses, CPU sets, steering.
    ///
    /// # Errors
    /// When a namespace is not allowed, an interface cannot be made, or the user interrupts; what had been built
    /// is gone again.
    pub fn build(options: &Options, interrupt: &Interrupt) -> Result<Self, Error> {
        let mut testbed = match options.scenario {
            Scenario::Discard => Self::discard(options, interrupt)?,
            Scenario::Loopback => Self::loopback(options, interrupt)?,
            Scenario::Veth => Self::veth(options, interrupt)?,
            Scenario::Vxlan | Scenario::Vm | Scenario::VmVxlan => return Err(Error::NotYet),
        };
        testbed.steer();
        Ok(testbed)
    }

    /// Two network namespaces, one veth pair.
    fn veth(options: &Options, interrupt: &Interrupt) -> Result<Self, Error> {
        let start = |side: Side, isolation| {
            let (index, set) = match side {
                Side::Transmitter => (0, &options.cpus.transmitter),
                Side::Receiver => (1, &options.cpus.receiver),
            };
            let wire = (VETH_NAMES[index], IPV4[index], IPV6[index]);
            End::start(&options.program, side, isolation, set, wire, interrupt)
        };
        let (mut transmitter, mut receiver);
        if options.rootless {
            // The second namespace belongs to the first one's user namespace, so that its owner may put the far
            // end of the wire there.
            transmitter = start(Side::Transmitter, Isolation::UserAndNetwork)?;
            transmitter.greet()?;
            receiver = start(Side::Receiver, Isolation::NetworkInUserOf(transmitter.pid()))?;
        } else {
            transmitter = start(Side::Transmitter, Isolation::Network)?;
            receiver = start(Side::Receiver, Isolation::Network)?;
            transmitter.greet()?;
        }
        receiver.greet()?;
        transmitter.order(&Request::CreateVeth {
            name: VETH_NAMES[0].to_owned(),
            peer: VETH_NAMES[1].to_owned(),
            peer_pid: receiver.pid(),
        })?;
        for end in [&mut transmitter, &mut receiver] {
            let addresses = vec![(end.ipv4, 24), (end.ipv6, 64)];
            end.order(&Request::Configure { interface: end.interface.clone(), addresses })?;
        }
        for end in [&mut transmitter, &mut receiver] {
            end.order(&Request::AwaitRunning { interface: end.interface.clone() })?;
        }
        Ok(Self::of(options, transmitter, Some(receiver)))
    }

    /// One network namespace of our own, so that switching features of `lo` does not touch the machine's.
    fn loopback(options: &Options, interrupt: &Interrupt) -> Result<Self, Error> {
        let wire = ("lo", IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST));
        let first = if options.rootless { Isolation::UserAndNetwork } else { Isolation::Network };
        let (program, cpus) = (&options.program, &options.cpus);
        let mut transmitter =
            End::start(program, Side::Transmitter, first, &cpus.transmitter, wire, interrupt)?;
        transmitter.greet()?;
        // Setting the interface up gives it 127.0.0.1 and ::1.
        transmitter.order(&Request::Configure { interface: "lo".to_owned(), addresses: Vec::new() })?;
        let pid = transmitter.pid();
        let join =
            if options.rootless { Isolation::UserAndNetworkOf(pid) } else { Isolation::NetworkOf(pid) };
        let mut receiver = End::start(program, Side::Receiver, join, &cpus.receiver, wire, interrupt)?;
        receiver.greet()?;
        Ok(Self::of(options, transmitter, Some(receiver)))
    }

    pub(crate) fn of(options: &Options, transmitter: End, receiver: Option<End>) -> Self {
        Self {
            transmitter,
            receiver,
            scenario: options.scenario,
            cpus: options.cpus.clone(),
            rootless: options.rootless,
            discard: None,
            notes: Vec::new(),
        }
    }

    /// Asks for receive work on the CPUs of the host that receives. Where that is refused, the work runs on the
    /// CPU that sends, and the CPU figures of the two hosts mix: said in a note, never passed over.
    fn steer(&mut self) {
        if self.receiver.is_none() {
            return;
        }
        if self.cpus.is_shared() {
            self.notes.push(
                "one core only: both hosts share it, and their CPU use cannot be told apart".to_owned(),
            );
            return;
        }
        if self.ends_share_an_interface() {
            self.notes.push(
                "loopback delivers on the CPU that sends: receive softirq work counts as the transmitter's"
                    .to_owned(),
            );
            return;
        }
        let steered = self.ends().try_for_each(|end| {
            end.order(&Request::Steer { interface: end.interface.clone(), cpus: end.cpus.clone() })
        });
        if let Err(error) = steered {
            // What is refused at one end is refused at the other, for the same reason.
            self.notes.push(format!("receive work is not steered to each host's own CPUs: {error}"));
        }
    }

    /// What this testbed cannot give, each with what follows from it.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What throws the packets away, where something does.
    #[must_use]
    pub fn discard_device(&self) -> Option<DiscardDevice> {
        self.discard.as_ref().map(|discard| discard.device)
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Every end that there is, the transmitter first.
    pub(crate) fn ends(&mut self) -> impl Iterator<Item = &mut End> {
        std::iter::once(&mut self.transmitter).chain(&mut self.receiver)
    }

    pub(crate) fn ends_share_an_interface(&self) -> bool {
        self.scenario == Scenario::Loopback
    }

    /// Both hosts as they describe themselves, and the testbed between them.
    ///
    /// # Errors
    /// When an agent is gone.
    pub fn environment(&mut self) -> Result<Value, Error> {
        let mut hosts = Vec::new();
        for end in self.ends() {
            let interfaces = vec![end.interface.clone()];
            match end.call(&Request::Environment { interfaces })? {
                Answer::Environment(value) => hosts.push(value),
                other => return Err(end.client.unexpected(&other).into()),
            }
        }
        let mut hosts = hosts.into_iter();
        let (transmitter, receiver) = (hosts.next(), hosts.next());
        Ok(json!({
            "scenario": self.scenario.to_string(),
            "rootless": self.rootless,
            "discard_device": self.discard_device(),
            "discard_devices_lacking": self.discard.as_ref().map(|discard| &discard.lacking),
            "cpus": self.cpus,
            "notes": self.notes,
            "transmitter": transmitter,
            "receiver": receiver,
        }))
    }
}

//! The names of what limits a run.

use study::Side;

/// What limited a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// The sending program's own code.
    Generator,
    /// The CPUs of the transmitter.
    TransmitterCpu,
    /// The CPUs of the receiver.
    ReceiverCpu,
    /// Others than the run, who had the CPUs: other processes, or the hypervisor.
    Contended,
    /// The CPUs of the host that runs the guests: these have too few for their own threads.
    HostCpu,
    /// The buffer of the socket that received.
    ReceiverSocket,
    /// A queue before the wire, or the one behind it.
    Device,
    /// The configured or negotiated rate of the wire.
    Link,
    /// The way between: TCP's windows, loss, the time of a round trip.
    Path,
    /// The rate that was asked for.
    Pacing,
}

impl Label {
    /// All of them.
    pub const ALL: [Label; 10] = [
        Label::Generator,
        Label::TransmitterCpu,
        Label::ReceiverCpu,
        Label::Contended,
        Label::HostCpu,
        Label::ReceiverSocket,
        Label::Device,
        Label::Link,
        Label::Path,
        Label::Pacing,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Label::Generator => "generator",
            Label::TransmitterCpu => "transmitter CPU",
            Label::ReceiverCpu => "receiver CPU",
            Label::Contended => "contended",
            Label::HostCpu => "host CPU",
            Label::ReceiverSocket => "receiver socket",
            Label::Device => "device",
            Label::Link => "link",
            Label::Path => "path",
            Label::Pacing => "pacing",
        }
    }

    /// The CPUs of a host.
    pub(super) fn cpu(side: Side) -> Self {
        match side {
            Side::Transmitter => Label::TransmitterCpu,
            Side::Receiver => Label::ReceiverCpu,
        }
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// What limited a run, and why that is believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What it was.
    pub label: Label,
    /// Figures, in sentences: first what decided, then what else a reader may want to hold against it.
    pub evidence: Vec<String>,
}

impl From<Limit> for store::Limit {
    fn from(limit: Limit) -> Self {
        Self { label: limit.label.name().to_owned(), evidence: limit.evidence }
    }
}

//! The names of what limits a run.

use serde::{Deserialize, Serialize};

use crate::side::Side;
use crate::word::Word;

/// What limited a run. In the order of the alphabet: of two that limited as many runs, pages name the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Others than the run, who had the CPUs: other processes, or the hypervisor.
    Contended,
    /// A queue before the wire, or the one behind it.
    Device,
    /// The sending program's own code.
    Generator,
    /// The CPUs of the host that runs the guests: these have too few for their own threads.
    #[serde(rename = "host CPU")]
    HostCpu,
    /// The configured or negotiated rate of the wire.
    Link,
    /// The rate that was asked for.
    Pacing,
    /// The way between: TCP's windows, loss, the time of a round trip.
    Path,
    /// The CPUs of the receiver.
    #[serde(rename = "receiver CPU")]
    ReceiverCpu,
    /// The buffer of the socket that received.
    #[serde(rename = "receiver socket")]
    ReceiverSocket,
    /// The CPUs of the transmitter.
    #[serde(rename = "transmitter CPU")]
    TransmitterCpu,
}

impl Label {
    /// The CPUs of a host.
    #[must_use]
    pub fn cpu(side: Side) -> Self {
        match side {
            Side::Transmitter => Self::TransmitterCpu,
            Side::Receiver => Self::ReceiverCpu,
        }
    }

    /// The short form that tables use: `tx CPU`.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            Self::ReceiverCpu => "rx CPU",
            Self::ReceiverSocket => "rx socket",
            Self::TransmitterCpu => "tx CPU",
            other => other.word(),
        }
    }

    /// Whether something outside both hosts set the rate: two conditions that it limits have the same rate, whatever they cost.
    #[must_use]
    pub fn is_outside(self) -> bool {
        matches!(self, Self::Link | Self::Pacing)
    }
}

impl Word for Label {
    const WHAT: &'static str = "a limit";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("contended", Self::Contended),
        ("device", Self::Device),
        ("generator", Self::Generator),
        ("host CPU", Self::HostCpu),
        ("link", Self::Link),
        ("pacing", Self::Pacing),
        ("path", Self::Path),
        ("receiver CPU", Self::ReceiverCpu),
        ("receiver socket", Self::ReceiverSocket),
        ("transmitter CPU", Self::TransmitterCpu),
    ];
}
crate::display_as_word!(Label);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_the_order_of_their_words() {
        let words = Label::ALL.map(Label::word);
        assert!(words.is_sorted() && Label::ALL.is_sorted(), "{words:?}");
    }
}

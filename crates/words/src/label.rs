//! The names of what limits a run.

use crate::side::Side;

crate::vocabulary! {
    /// What limited a run. In the order of the alphabet: of two that limited as many runs, pages
    /// name the first.
    #[derive(PartialOrd, Ord)]
    pub enum Label: "a limit" {
        /// Others than the run, who had the CPUs: other processes, or the hypervisor.
        Contended = "contended";
        /// A queue before the wire, or the one behind it.
        Device = "device";
        /// The sending program's own code.
        Generator = "generator";
        /// The CPUs of the host that runs the guests: these have too few for their own threads.
        HostCpu = "host CPU";
        /// The configured or negotiated rate of the wire.
        Link = "link";
        /// The rate that was asked for.
        Pacing = "pacing";
        /// The way between: TCP's windows, loss, the time of a round trip.
        Path = "path";
        /// The CPUs of the receiver.
        ReceiverCpu = "receiver CPU";
        /// The buffer of the socket that received.
        ReceiverSocket = "receiver socket";
        /// The CPUs of the transmitter.
        TransmitterCpu = "transmitter CPU";
    }
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

    /// Whether something outside both hosts set the rate: two conditions that it limits have the
    /// same rate, whatever they cost.
    #[must_use]
    pub fn is_outside(self) -> bool {
        matches!(self, Self::Link | Self::Pacing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_the_order_of_their_words() {
        let words = Label::ALL.map(Label::word);
        assert!(words.is_sorted() && Label::ALL.is_sorted(), "{words:?}");
    }
}

//! The names of a run's limits.

use crate::side::Side;

crate::vocabulary! {
    /// The limit of a run. In alphabetical order: of two that limited equally many runs, pages name
    /// the first.
    #[derive(PartialOrd, Ord)]
    pub enum Label: "a limit" {
        /// Other processes, the hypervisor or a quota took the CPUs that the run needed.
        Contended = "contended";
        /// A queue or an interface dropped packets.
        Device = "device";
        /// The sending program used its CPU in its own code.
        Generator = "generator";
        /// The guests have more busy threads than the host has CPUs.
        HostCpu = "host CPU";
        /// The configured or negotiated rate of the link was used.
        Link = "link";
        /// The traffic reached the rate that was asked for (`pacing`, `rate`).
        Pacing = "pacing";
        /// No other label fits: TCP windows, uncounted loss, or round-trip time.
        Path = "path";
        /// The CPUs of the receiver were busy with this traffic.
        ReceiverCpu = "receiver CPU";
        /// The buffer of the receiving UDP socket was full and datagrams were dropped.
        ReceiverSocket = "receiver socket";
        /// The CPUs of the transmitter were busy with this traffic.
        TransmitterCpu = "transmitter CPU";
    }
}

impl Label {
    /// The CPUs of a host.
    pub fn cpu(side: Side) -> Self {
        if side == Side::Transmitter { Self::TransmitterCpu } else { Self::ReceiverCpu }
    }

    /// The short form that tables use: `tx CPU`.
    pub fn short(self) -> &'static str {
        match self {
            Self::ReceiverCpu => "rx CPU",
            Self::ReceiverSocket => "rx socket",
            Self::TransmitterCpu => "tx CPU",
            other => other.word(),
        }
    }

    /// Whether something outside both hosts set the rate, whatever a condition costs.
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

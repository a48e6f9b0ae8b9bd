//! The two ends of a workload.

crate::vocabulary! {
    /// One of the two hosts, by its role in a workload.
    #[derive(PartialOrd, Ord)]
    pub enum Side: "a side" {
        /// The host that sends the stream, or the requests.
        Transmitter = "transmitter";
        /// The host that takes the stream, or answers the requests.
        Receiver = "receiver";
    }
}

impl Side {
    /// Both sides, in the order in which tables show them.
    pub const BOTH: [Self; 2] = [Self::Transmitter, Self::Receiver];

    /// The short form that condition names use: `tx-tso-off`.
    pub fn short(self) -> &'static str {
        match self {
            Self::Transmitter => "tx",
            Self::Receiver => "rx",
        }
    }
}

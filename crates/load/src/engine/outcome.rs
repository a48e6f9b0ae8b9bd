//! What one end reports at its end.

use crate::note::Note;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::lane::{Counts, Latency, Zerocopy};
use crate::message::Sequence;
use crate::socket::{Applied, Buffers, TcpInfo};

/// One end's account of its whole life, from the start of its threads to their end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What this end's sending, or asking, threads did.
    pub sent: Counts,
    /// What this end's receiving, or answering, threads did.
    pub received: Counts,
    /// Each flow, in the order of the endpoints.
    pub flows: Vec<FlowOutcome>,
    /// What each thread served, in the order of the flows.
    pub threads: Vec<Share>,
    /// Request-response transmitters: latencies in the window; `None` if no transaction lay in it.
    pub latency: Option<Latency>,
    /// What the connected sockets read back; of `tcp_crr` the first connection of each flow.
    pub applied: Vec<Applied>,
    /// The smallest socket buffers of any flow.
    pub buffers: Buffers,
    /// What became of sends without copying; `None` where none were asked for.
    pub zerocopy: Option<Zerocopy>,
    /// Whether a thread of this end slept though it was asked to poll the device; `notes` say why.
    pub slept: bool,
    /// What was asked for and not applied, and what was done instead.
    pub notes: Vec<Note>,
}

impl Outcome {
    /// Datagrams that this end's sockets dropped.
    #[must_use]
    pub fn socket_drops(&self) -> u64 {
        self.sent.socket_drops.saturating_add(self.received.socket_drops)
    }

    /// Sums neighbouring flows up until there are no more than `most` accounts, so that all sums
    /// stay what they are.
    pub fn sum_up(&mut self, most: usize) {
        let together = self.flows.len().div_ceil(most.max(1)).max(1);
        let same_way = |a: &FlowOutcome, b: &FlowOutcome| a.sends == b.sends;
        let ways = self.flows.chunk_by(same_way).flat_map(|way| way.chunks(together));
        self.flows = ways.filter_map(|flows| flows.iter().cloned().reduce(FlowOutcome::and)).collect();
    }

    /// `udp_rr`: transactions given up.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        self.sent.timeouts
    }

    /// TCP: segments that this end retransmitted; `None` for UDP.
    #[must_use]
    pub fn retransmits(&self) -> Option<u64> {
        self.flows.iter().map(|flow| flow.tcp.as_ref().map(|tcp| tcp.retransmits)).sum()
    }
}

/// What one thread serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Whether it sends, or asks.
    pub sends: bool,
    /// How many flows it serves.
    pub flows: u32,
}

/// One flow's account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOutcome {
    /// Whether this end sends, or asks.
    pub sends: bool,
    /// How many flows this is the account of: one, or neighbours summed up by [`Outcome::sum_up`].
    pub flows: u32,
    /// This end's address.
    pub local: SocketAddr,
    /// The other end's address.
    pub peer: SocketAddr,
    /// What was sent or received.
    pub counts: Counts,
    /// Bytes compared with what was sent and found equal: those received last (where a thread
    /// serves several flows: those received after the window, if any were); with `verify` all that
    /// arrived.
    pub verified_bytes: u64,
    /// UDP streams with `verify` whose messages have room for a number: what the numbers said where
    /// they arrived.
    pub sequence: Option<Sequence>,
    /// Buffer sizes in force at the end; TCP's grow where none were asked for.
    pub buffers: Buffers,
    /// TCP only.
    pub tcp: Option<TcpInfo>,
}

impl FlowOutcome {
    /// The account of both; the addresses are those of the first.
    fn and(self, other: Self) -> Self {
        Self {
            flows: self.flows.saturating_add(other.flows),
            counts: self.counts + other.counts,
            verified_bytes: self.verified_bytes.saturating_add(other.verified_bytes),
            sequence: self.sequence.zip(other.sequence).map(|(a, b)| a.and(b)),
            buffers: self.buffers.smaller(other.buffers),
            tcp: self.tcp.zip(other.tcp).map(|(a, b)| a.and(&b)),
            ..self
        }
    }
}

//! The report of one end.

use crate::note::Note;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::lane::{Counts, Latency, Zerocopy};
use crate::message::Sequence;
use crate::socket::{Applied, Buffers, TcpInfo};

/// The account of one end, from the start of its threads to their end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndOutcome {
    /// The counts of this end's sending, or asking, threads.
    pub sent: Counts,
    /// The counts of this end's receiving, or answering, threads.
    pub received: Counts,
    /// Each flow, in the order of the endpoints.
    pub flows: Vec<FlowOutcome>,
    /// The share of each thread, in the order of the flows.
    pub threads: Vec<Share>,
    /// Request-response transmitters: latencies in the window; `None` without transactions in it.
    pub latency: Option<Latency>,
    /// The options read back from the connected sockets; for `tcp_crr` from each flow's first
    /// connection.
    pub applied: Vec<Applied>,
    /// The smallest socket buffers of any flow.
    pub buffers: Buffers,
    /// The result of zerocopy sends; `None` if none were requested.
    pub zerocopy: Option<Zerocopy>,
    /// Whether a thread slept although it was asked to poll the device; `notes` say why.
    pub slept: bool,
    /// Requests that were not applied, and what was done instead.
    pub notes: Vec<Note>,
}

impl EndOutcome {
    /// Datagrams that this end's sockets dropped.
    #[must_use]
    pub fn socket_drops(&self) -> u64 {
        self.sent.socket_drops.saturating_add(self.received.socket_drops)
    }

    /// Sums neighbouring flows until there are at most `most` accounts; all sums stay the same.
    pub fn sum_up(&mut self, most: usize) {
        let together = self.flows.len().div_ceil(most.max(1)).max(1);
        let same_way = |a: &FlowOutcome, b: &FlowOutcome| a.sends == b.sends;
        let ways = self.flows.chunk_by(same_way).flat_map(|way| way.chunks(together));
        self.flows = ways.filter_map(|flows| flows.iter().cloned().reduce(FlowOutcome::and)).collect();
    }

    /// TCP: segments that this end retransmitted; `None` for UDP.
    #[must_use]
    pub fn retransmits(&self) -> Option<u64> {
        self.flows.iter().map(|flow| flow.tcp.as_ref().map(|tcp| tcp.retransmits)).sum()
    }
}

/// The flows of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Whether it sends, or asks.
    pub sends: bool,
    /// The number of flows.
    pub flows: u32,
}

/// One flow's account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOutcome {
    /// Whether this end sends, or asks.
    pub sends: bool,
    /// The number of flows in this account: one, or neighbours that [`EndOutcome::sum_up`] added.
    pub flows: u32,
    /// This end's address.
    pub local: SocketAddr,
    /// The other end's address.
    pub peer: SocketAddr,
    /// The counts.
    pub counts: Counts,
    /// Bytes that were compared and found equal: those received last (where a thread serves several
    /// flows: those received after the window, if any); with `verify` all.
    pub verified_bytes: u64,
    /// UDP streams with `verify` and room for a number: the evaluation of the numbers.
    pub sequence: Option<Sequence>,
    /// Buffer sizes at the end; TCP's grow where none were requested.
    pub buffers: Buffers,
    /// TCP only.
    pub tcp: Option<TcpInfo>,
}

impl FlowOutcome {
    /// The sum of both; the addresses are those of the first.
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

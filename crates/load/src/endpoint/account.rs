//! The account of one end, made when its threads have ended.

use std::net::SocketAddr;
use std::ops::Range;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use words::Kind;

use super::flows::EndpointFlows;
use crate::error::Result;
use crate::lane::{Counts, LaneResult, Latency, Sample, Zerocopy, latency};
use crate::note::LoadNote;
use crate::socket::{self, Applied, Buffers, TcpInfo};

pub(super) fn draw_up(
    flows: &mut EndpointFlows,
    shares: &[Range<usize>],
    ends: Vec<LaneResult>,
    counts: Sample,
) -> Result<EndOutcome> {
    let kind = flows.traffic.kind;
    let mut all = std::mem::take(&mut flows.begun);
    // A tcp_crr thread checks those sockets that received something.
    let polled = flows.traffic.busy_poll.is_some() && kind != Kind::TcpCrr;
    let mut accounts = Vec::with_capacity(flows.sockets.len());
    for (flow, one) in flows.sockets.iter().enumerate() {
        all.sleeps(polled.then(|| socket::polled_nothing(one)).flatten());
        accounts.push(FlowOutcome {
            sends: flows.sends(flow),
            flows: 1,
            local: socket::local_address(one)?,
            peer: flows.peers[flow],
            counts: counts.flows[flow],
            verified_bytes: ends.get(flow).map_or(0, |end| end.verified),
            sequence: IgnoredAny,
            buffers: Buffers::read(one)?,
            tcp: if kind.is_udp() || kind == Kind::TcpCrr { None } else { TcpInfo::read(one) },
        });
    }
    ends.into_iter().for_each(|end| all.add(end));
    let (unsent, unanswered, connections) = (all.unsent, all.unanswered, all.rejected);
    all.notes.extend((unsent + unanswered > 0).then_some(LoadNote::OpenLoop { unsent, unanswered }));
    all.notes.extend((connections > 0).then_some(LoadNote::Rejected { connections }));
    let share = |share: &Range<usize>| Share { sends: flows.sends(share.start), flows: share.len() as u32 };
    let buffers = accounts.iter().map(|flow| flow.buffers).reduce(Buffers::smaller).unwrap_or_default();
    Ok(EndOutcome {
        sent: counts.sent,
        received: counts.received,
        flows: accounts,
        threads: shares.iter().map(share).collect(),
        latency: latency::merge(all.latencies),
        applied: all.applied,
        buffers,
        zerocopy: all.zerocopy,
        slept: all.slept,
        notes: all.notes,
    })
}

/// The account of one end, from the start of its threads to their end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Read back from connected sockets; for `tcp_crr` from each flow's first connection.
    pub applied: Vec<Applied>,
    /// The smallest socket buffers of any flow.
    pub buffers: Buffers,
    /// The result of zerocopy sends; `None` if none were requested.
    pub zerocopy: Option<Zerocopy>,
    /// Whether a thread slept although it was asked to poll the device; `notes` say why.
    pub slept: bool,
    /// Requests that were not applied, and what was done instead.
    pub notes: Vec<LoadNote>,
}

impl EndOutcome {
    /// Datagrams that this end's sockets dropped.
    pub fn socket_drops(&self) -> u64 {
        self.sent.socket_drops.saturating_add(self.received.socket_drops)
    }

    /// Sums neighbouring flows until there are at most `most` accounts; all sums stay the same.
    pub fn sum_up(&mut self, most: usize) {
        let together = self.flows.len().div_ceil(most.max(1)).max(1);
        // Accounts of both ways count different things.
        let same_way = |a: &FlowOutcome, b: &FlowOutcome| a.sends == b.sends;
        let ways = self.flows.chunk_by(same_way).flat_map(|way| way.chunks(together));
        self.flows = ways.filter_map(|flows| flows.iter().cloned().reduce(FlowOutcome::and)).collect();
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
    /// Of accounts by earlier builds; nothing reads it.
    #[serde(default, skip_serializing)]
    pub sequence: IgnoredAny,
    /// Buffer sizes at the end; TCP's grow where none were requested.
    pub buffers: Buffers,
    /// TCP only.
    pub tcp: Option<TcpInfo>,
}

impl FlowOutcome {
    fn and(self, other: Self) -> Self {
        Self {
            flows: self.flows.saturating_add(other.flows),
            counts: [self.counts, other.counts].into_iter().sum(),
            verified_bytes: self.verified_bytes.saturating_add(other.verified_bytes),
            buffers: self.buffers.smaller(other.buffers),
            tcp: self.tcp.zip(other.tcp).map(|(a, b)| a.and(&b)),
            // The addresses are those of the first.
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_builds_numbers_of_datagrams_are_left_out() {
        let numbers = r#"{"missing":1,"duplicates":0,"reordered":2}"#;
        for sequence in ["null", numbers] {
            let text = format!(
                r#"{{"sends":false,"flows":1,"local":"[::1]:1","peer":"[::1]:2","counts":{},"verified_bytes":0,
                "sequence":{sequence},"buffers":{},"tcp":null}}"#,
                serde_json::to_string(&Counts::default()).unwrap(),
                serde_json::to_string(&Buffers::default()).unwrap(),
            );
            let read: FlowOutcome = serde_json::from_str(&text).unwrap();
            assert!(!serde_json::to_string(&read).unwrap().contains("sequence"));
        }
    }
}

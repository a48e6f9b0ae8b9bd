//! The account of one end, made when its threads have ended.

use crate::note::Note;
use std::ops::Range;

use words::Kind;

use super::flows::{Flows, note};
use super::outcome::{EndOutcome, FlowOutcome, Share};
use crate::error::Result;
use crate::lane::{LaneResult, Sample, Zerocopy, latency};
use crate::socket::{self, Buffers, TcpInfo, options};

/// The account of threads that returned `ends`, each of which served one of the `shares`; `counts`
/// are the final ones.
pub(super) fn draw_up(
    flows: &Flows,
    shares: &[Range<usize>],
    ends: Vec<LaneResult>,
    counts: Sample,
) -> Result<EndOutcome> {
    let kind = flows.traffic.kind;
    let (mut recorders, mut notes) = (Vec::new(), flows.notes.clone());
    let (mut slept, mut zerocopy) = (flows.slept, None::<Zerocopy>);
    // A tcp_crr thread checks those sockets that received something.
    let polled = flows.traffic.busy_poll.is_some() && kind != Kind::TcpCrr;
    let mut accounts = Vec::with_capacity(flows.len());
    for (flow, one) in flows.sockets.iter().enumerate() {
        let nothing = polled.then(|| options::polled_nothing(one)).flatten();
        slept |= nothing.is_some();
        note(&mut notes, nothing);
        accounts.push(FlowOutcome {
            sends: flows.sends(flow),
            flows: 1,
            local: socket::local_address(one)?,
            peer: flows.peers[flow],
            counts: counts.flows[flow],
            verified_bytes: ends.get(flow).map_or(0, |end| end.verified),
            sequence: ends.get(flow).and_then(|end| end.sequence),
            buffers: Buffers::read(one)?,
            tcp: if kind.is_udp() || kind == Kind::TcpCrr { None } else { TcpInfo::read(one) },
        });
    }
    notes.extend(shortfalls(&ends));
    let mut applied = flows.applied.clone();
    for end in ends {
        end.applied.into_iter().for_each(|one| socket::collect(&mut applied, one));
        recorders.extend(end.latencies);
        zerocopy = end.zerocopy.map(|one| one.plus(zerocopy.unwrap_or_default())).or(zerocopy);
        slept |= end.slept;
        end.notes.into_iter().for_each(|one| note(&mut notes, Some(one)));
    }
    let share = |share: &Range<usize>| Share { sends: flows.sends(share.start), flows: share.len() as u32 };
    let buffers = accounts.iter().map(|flow| flow.buffers).reduce(Buffers::smaller).unwrap_or_default();
    Ok(EndOutcome {
        sent: counts.sent,
        received: counts.received,
        flows: accounts,
        threads: shares.iter().map(share).collect(),
        latency: latency::merge(recorders),
        applied,
        buffers,
        zerocopy,
        slept,
        notes,
    })
}

/// The threads' unfulfilled requests, of all threads together.
fn shortfalls(ends: &[LaneResult]) -> Vec<Note> {
    let sum = |of: fn(&LaneResult) -> u64| ends.iter().map(of).sum::<u64>();
    let (unsent, unanswered) = (sum(|end| end.unsent), sum(|end| end.unanswered));
    let rejected = sum(|end| end.rejected);
    let mut notes = Vec::new();
    if unsent + unanswered > 0 {
        notes.push(Note::OpenLoop { unsent, unanswered });
    }
    if rejected > 0 {
        notes.push(Note::Rejected { connections: rejected });
    }
    notes
}

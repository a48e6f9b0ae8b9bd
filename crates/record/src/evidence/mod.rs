//! Evidence for the limit of a run.

mod ends;
mod path;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use words::{Direction, Label, Side};

use crate::figure::{bits, count, percent};

pub use ends::{Wait, WaitedFor};
pub use path::LossPlace;

/// The limit of a run, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub label: Label,
    /// First the evidence that decided, then further figures.
    pub evidence: Vec<Evidence>,
}

/// One piece of evidence. It prints as a sentence without a full stop. Rates are in bits/s and
/// shares are of the window, if not stated otherwise.
// It is no error: thiserror gives each variant its sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Evidence {
    #[error("{way}: limited by {by}")]
    WayLimited { way: Direction, by: Label },
    #[error("{way}: {evidence}")]
    Way { way: Direction, evidence: Box<Evidence> },
    #[error("sent {} of the requested {}", bits(*.rate_bits), bits(*.requested_bits))]
    Sent { rate_bits: f64, requested_bits: f64 },
    #[error("received {} of the requested {}", bits(*.rate_bits), bits(*.requested_bits))]
    Received { rate_bits: f64, requested_bits: f64 },
    #[error("{per_second:.0} of the requested {requested} requests per second were answered")]
    Answered { per_second: f64, requested: u32 },
    #[error("the {side}'s queue rejected {} datagrams", count(*.datagrams))]
    QueueRejected { side: Side, datagrams: u64 },
    #[error("the sender was idle for part of the time, although nothing rejected its data")]
    SenderIdle,
    #[error(
        "neither end was busy all the time and no place dropped much: only the path between them remains"
    )]
    NobodyBusy,
    /// `share`: of the offered datagrams.
    #[error("{} of the datagrams were lost at a place without a counter", percent(*.share))]
    LostUncounted { share: f64 },
    #[error(
        "neither end was busy all the time: {in_flight} in flight, waiting for the round trip{}",
        if *.polls { "; an end that polls is always busy" } else { "" }
    )]
    RoundTrip { in_flight: u64, polls: bool },
    /// An interface carried as much as it can. `sent`: the side sent it; else it received it.
    /// `carried_bits`: with headers. `rate_bits`: the highest possible rate, by the source `from`.
    /// `delayed`, `dropped`: packets of its queue.
    #[error(
        "{side} {} {} with headers, {} of {} ({from}){}",
        if *.sent { "sent" } else { "received" },
        bits(*.carried_bits),
        percent(*.carried_bits / *.rate_bits),
        bits(*.rate_bits),
        path::queued(*.delayed, *.dropped)
    )]
    AtLinkRate {
        side: Side,
        sent: bool,
        carried_bits: f64,
        rate_bits: f64,
        from: String,
        delayed: u64,
        dropped: u64,
    },
    /// Segments were dropped by the queue before the wire, or between one device and the other.
    /// `wire`: its kind.
    #[error(
        "{} packets dropped by the queue before the {side}'s wire and {} by the devices, {} of {} segments retransmitted ({wire})",
        count(*.queue),
        count(*.devices),
        count(*.retransmitted),
        count(*.segments)
    )]
    Dropped { side: Side, queue: u64, devices: u64, retransmitted: u64, segments: u64, wire: String },
    /// Load of an end's threads; shares are means of the threads. `running`: on a CPU. `waiting`:
    /// ready but without one. `user`: the part of their CPU time in user space, if known.
    #[error(
        "{side}'s {}{}{}",
        ends::busy_threads(*.sending, *.threads, *.running),
        .user.map_or_else(String::new, |user| format!(", {} of it in user space", percent(user))),
        ends::without_a_cpu(*.waiting)
    )]
    Threads { side: Side, sending: bool, threads: usize, running: f64, waiting: f64, user: Option<f64> },
    #[error("the {0}'s threads poll, as configured, so their busy time is no evidence")]
    Polls(Side),
    #[error("{side}'s CPU {cpu} {} in interrupts", percent(*.share))]
    Interrupts { side: Side, cpu: u32, share: f64 },
    #[error(
        "{side}'s CPU {cpu} {} busy with this traffic, {} of its time in interrupts",
        percent(*.busy),
        percent(*.interrupts)
    )]
    CpuFull { side: Side, cpu: u32, busy: f64, interrupts: f64 },
    #[error("{side}'s {} {} busy with this traffic", own_cpus(*.cpus), percent(*.busy))]
    CpusFull { side: Side, cpus: usize, busy: f64 },
    /// `share`: of the time with data to send.
    #[error(
        "TCP: the receiver's window was closed for {} of the time with data to send, while the receiver had time: its buffer is \
         small for this round trip, or its program slept",
        percent(*.share)
    )]
    WindowClosed { share: f64 },
    /// `share`: of the time with data to send.
    #[error(
        "TCP: the send buffer was the limit for {} of the time with data to send: it is small for this round trip",
        percent(*.share)
    )]
    BufferFull { share: f64 },
    /// `window`: the congestion window, in segments.
    #[error(
        "TCP: {} of {} segments were lost at a place without a counter; the congestion window is {window} segments",
        count(*.lost),
        count(*.segments)
    )]
    SegmentsLost { lost: u64, segments: u64, window: u32 },
    /// `window`: the congestion window, in segments.
    #[error(
        "TCP: {} of {} segments were retransmitted needlessly: they had arrived, after segments sent later; the congestion window is \
         {window} segments",
        count(*.late),
        count(*.segments)
    )]
    SegmentsLate { late: u64, segments: u64, window: u32 },
    /// Reasons for which TCP waited in the life of the connections; shares are of the time with
    /// data to send. `needless`: retransmitted segments whose first copy had arrived. `window`: the
    /// smallest congestion window at the end, in segments. `rtt_us`: the longest round trip at the
    /// end.
    #[error(
        "TCP: of the time with data to send, receive window closed {}, send buffer too small {}; {} of {} segments retransmitted{}; \
         congestion window {window} segments, round trip {rtt_us} µs",
        percent(*.closed),
        percent(*.full),
        count(*.retransmitted),
        count(*.segments),
        path::needlessly(*.needless, *.retransmitted)
    )]
    Tcp { closed: f64, full: f64, retransmitted: u64, needless: u64, segments: u64, window: u32, rtt_us: u32 },
    /// An end was kept off its CPUs. `stolen`: the share of their time that the hypervisor gave to
    /// others; `None` if that was little, as for a short wait.
    #[error("{}", ends::kept_off(*.side, .waited.as_ref(), *.stolen))]
    Contended { side: Side, waited: Option<Wait>, stolen: Option<f64> },
    #[error(
        "a quota of {} throttled {side} in {} of {} periods: raise it, or measure outside of its cgroup",
        .by.quota,
        .by.throttled,
        .by.periods
    )]
    Throttled { side: Side, by: host::Throttled },
    #[error(
        "a virtual CPU of {side}'s guest was ready but waited for a CPU of the host {} of the time, behind threads of the run's own \
         guests: {vcpus} virtual CPUs and the threads that move their packets share {cpus} CPUs",
        percent(*.share)
    )]
    BehindGuests { side: Side, share: f64, vcpus: usize, cpus: usize },
    /// `share`: of the time of the side's CPUs.
    #[error(
        "receive livelock: interrupts take {} of the time of the {side}'s CPUs, most of it for datagrams that its socket then drops. At \
         a lower rate more arrives (`pacing`)",
        percent(*.share)
    )]
    Livelock { side: Side, share: f64 },
    #[error(
        "{place} dropped {} of {} datagrams ({})",
        count(*.datagrams),
        count(*.offered),
        percent(if *.offered == 0 { 0.0 } else { *.datagrams as f64 / *.offered as f64 })
    )]
    Lost { place: LossPlace, datagrams: u64, offered: u64 },
    /// Drops, errors and pauses by the own counters of an interface's driver (`ethtool -S`), beside
    /// those of the kernel. `losses`: by the driver's names.
    #[error("the driver of {side}'s {interface} counted {}", path::largest_losses(.losses))]
    Driver {
        side: Side,
        #[serde(deserialize_with = "words::names::interfaces")]
        interface: String,
        losses: BTreeMap<String, u64>,
    },
    /// (of earlier versions) CPU time of a virtual machine on its host; shares are of one CPU.
    /// `side`: `None` if both sides are in it.
    #[error(
        "{} took {} of a CPU of its host to run and {} to move its packets; of the time a virtual CPU was ready but without a CPU for {}",
        .side.map_or_else(|| "the virtual machine".to_owned(), |side| format!("{side}'s virtual machine")),
        percent(*.ran),
        percent(*.moved),
        percent(*.waited)
    )]
    OnHost { side: Option<Side>, ran: f64, moved: f64, waited: f64, reported: f64, moving_waited: f64 },
}

fn own_cpus(cpus: usize) -> String {
    if cpus == 1 { "CPU".to_owned() } else { format!("{cpus} CPUs") }
}

//! Evidence for the limit of a run.

mod ends;
mod path;

use std::fmt;

use serde::{Deserialize, Serialize};
use words::{Direction, Label, Side};

use crate::figure::{bits, count, percent};

pub use ends::{Contended, OnHost, Threads, Wait, WaitedFor};
pub use path::{AtLinkRate, Driver, Dropped, LossPlace, Tcp};

/// The limit of a run, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The limit.
    pub label: Label,
    /// First the evidence that decided, then further figures.
    pub evidence: Vec<Evidence>,
}

/// One piece of evidence. It prints as a sentence without a full stop. Rates are in bits/s and
/// shares are of the window, if not stated otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "fields without a unit are explained by their names")]
pub enum Evidence {
    /// The limit of one way of a stream of both ways.
    WayLimited { way: Direction, by: Label },
    /// Evidence for the limit of one way.
    Way { way: Direction, evidence: Box<Evidence> },
    /// The rate sent, where one was requested.
    Sent { rate_bits: f64, requested_bits: f64 },
    /// The rate received, where one was requested.
    Received { rate_bits: f64, requested_bits: f64 },
    /// Requests answered, where a rate was requested.
    Answered { per_second: f64, requested: u32 },
    /// A side's queue rejected datagrams.
    QueueRejected { side: Side, datagrams: u64 },
    /// The sender was idle.
    SenderIdle,
    /// No end was busy, and little was dropped.
    NobodyBusy,
    /// Datagrams were lost where nobody counts.
    LostUncounted {
        /// The share of the offered datagrams.
        share: f64,
    },
    /// Transactions waited for the round trip.
    RoundTrip { in_flight: u64, polls: bool },
    /// An interface carried as much as it can.
    AtLinkRate(AtLinkRate),
    /// Segments were dropped between the devices.
    Dropped(Dropped),
    /// Load of the threads of an end.
    Threads(Threads),
    /// A side's threads poll.
    Polls(Side),
    /// A CPU was in interrupts.
    Interrupts {
        side: Side,
        cpu: u32,
        /// The share of the window in interrupts.
        share: f64,
    },
    /// A CPU was busy.
    CpuFull {
        side: Side,
        cpu: u32,
        /// The share of the window in which it was busy.
        busy: f64,
        /// The share of the window that it spent in interrupts.
        interrupts: f64,
    },
    /// All CPUs of a side were busy.
    CpusFull {
        side: Side,
        cpus: usize,
        /// The share of the window in which they were busy.
        busy: f64,
    },
    /// TCP: the receive window was closed.
    WindowClosed {
        /// The share of the time with data to send.
        share: f64,
    },
    /// TCP: the send buffer was full.
    BufferFull {
        /// The share of the time with data to send.
        share: f64,
    },
    /// TCP: segments were lost.
    SegmentsLost {
        lost: u64,
        segments: u64,
        /// The congestion window, in segments.
        window: u32,
    },
    /// TCP: segments were retransmitted needlessly.
    SegmentsLate {
        late: u64,
        segments: u64,
        /// The congestion window, in segments.
        window: u32,
    },
    /// Reasons for which TCP waited.
    Tcp(Tcp),
    /// An end was kept off its CPUs.
    Contended(Contended),
    /// A quota of CPU time throttled an end.
    Throttled { side: Side, by: host::Throttled },
    /// A side's virtual CPU waited behind threads of the run's own guests.
    BehindGuests {
        side: Side,
        /// The share of the window.
        share: f64,
        vcpus: usize,
        /// The CPUs that they share.
        cpus: usize,
    },
    /// Interrupts take the time of a side's CPUs, for datagrams that it then drops.
    Livelock {
        side: Side,
        /// The share of its CPUs' time.
        share: f64,
    },
    /// Datagrams were lost at one place.
    Lost { place: LossPlace, datagrams: u64, offered: u64 },
    /// Packets that an interface's driver counted as dropped, failed or paused.
    Driver(Driver),
    /// CPU time that a virtual machine used on its host.
    OnHost(OnHost),
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WayLimited { way, by } => write!(f, "{way}: limited by {by}"),
            Self::Way { way, evidence } => write!(f, "{way}: {evidence}"),
            Self::Sent { rate_bits, requested_bits } => {
                write!(f, "sent {} of the requested {}", bits(*rate_bits), bits(*requested_bits))
            }
            Self::Received { rate_bits, requested_bits } => {
                write!(f, "received {} of the requested {}", bits(*rate_bits), bits(*requested_bits))
            }
            Self::Answered { per_second, requested } => {
                write!(f, "{per_second:.0} of the requested {requested} requests per second were answered")
            }
            Self::QueueRejected { side, datagrams } => {
                write!(f, "the {side}'s queue rejected {} datagrams", count(*datagrams))
            }
            Self::SenderIdle => {
                f.write_str("the sender was idle for part of the time, although nothing rejected its data")
            }
            Self::NobodyBusy => f.write_str(
                "neither end was busy all the time and no place dropped much: only the path between them remains",
            ),
            Self::LostUncounted { share } => {
                write!(f, "{} of the datagrams were lost at a place without a counter", percent(*share))
            }
            Self::RoundTrip { in_flight, polls } => {
                let polls = if *polls { "; an end that polls is always busy" } else { "" };
                write!(
                    f,
                    "neither end was busy all the time: {in_flight} in flight, waiting for the round trip{polls}"
                )
            }
            Self::AtLinkRate(at) => at.fmt(f),
            Self::Dropped(dropped) => dropped.fmt(f),
            Self::Threads(threads) => threads.fmt(f),
            Self::Polls(side) => {
                write!(f, "the {side}'s threads poll, as configured, so their busy time is no evidence")
            }
            Self::Interrupts { side, cpu, share } => {
                write!(f, "{side}'s CPU {cpu} {} in interrupts", percent(*share))
            }
            Self::CpuFull { side, cpu, busy, interrupts } => write!(
                f,
                "{side}'s CPU {cpu} {} busy with this traffic, {} of its time in interrupts",
                percent(*busy),
                percent(*interrupts)
            ),
            Self::CpusFull { side, cpus, busy } => {
                let cpus = if *cpus == 1 { "CPU".to_owned() } else { format!("{cpus} CPUs") };
                write!(f, "{side}'s {cpus} {} busy with this traffic", percent(*busy))
            }
            Self::WindowClosed { share } => write!(
                f,
                "TCP: the receiver's window was closed for {} of the time with data to send, while the receiver had time: its buffer is \
                 small for this round trip, or its program slept",
                percent(*share)
            ),
            Self::BufferFull { share } => write!(
                f,
                "TCP: the send buffer was the limit for {} of the time with data to send: it is small for this round trip",
                percent(*share)
            ),
            Self::SegmentsLost { lost, segments, window } => write!(
                f,
                "TCP: {} of {} segments were lost at a place without a counter; the congestion window is {window} segments",
                count(*lost),
                count(*segments)
            ),
            Self::SegmentsLate { late, segments, window } => write!(
                f,
                "TCP: {} of {} segments were retransmitted needlessly: they had arrived, after segments sent later; the congestion window is \
                 {window} segments",
                count(*late),
                count(*segments)
            ),
            Self::Tcp(tcp) => tcp.fmt(f),
            Self::Contended(contended) => contended.fmt(f),
            Self::Throttled { side, by: host::Throttled { quota, periods, throttled } } => write!(
                f,
                "a quota of {quota} throttled {side} in {throttled} of {periods} periods: raise it, or measure outside of its cgroup"
            ),
            Self::BehindGuests { side, share, vcpus, cpus } => write!(
                f,
                "a virtual CPU of {side}'s guest was ready but waited for a CPU of the host {} of the time, behind threads of the run's own \
                 guests: {vcpus} virtual CPUs and the threads that move their packets share {cpus} CPUs",
                percent(*share)
            ),
            Self::Livelock { side, share } => write!(
                f,
                "receive livelock: interrupts take {} of the time of the {side}'s CPUs, most of it for datagrams that its socket then drops. At \
                 a lower rate more arrives (`pacing`)",
                percent(*share)
            ),
            Self::Lost { place, datagrams, offered } => {
                let share = if *offered == 0 { 0.0 } else { *datagrams as f64 / *offered as f64 };
                let (lost, offered) = (count(*datagrams), count(*offered));
                write!(f, "{place} dropped {lost} of {offered} datagrams ({})", percent(share))
            }
            Self::Driver(driver) => driver.fmt(f),
            Self::OnHost(on_host) => on_host.fmt(f),
        }
    }
}

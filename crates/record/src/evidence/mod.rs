//! Figures that tell what limited a run.

mod ends;
mod path;

use std::fmt;

use serde::{Deserialize, Serialize};
use words::{Direction, Label, Side};

use crate::figure::{bits, count, percent};

pub use ends::{Contended, OnHost, Threads, WaitedFor};
pub use path::{AtLinkRate, Dropped, Place, Tcp};

/// One piece of evidence. It prints as a sentence without a full stop. Rates are in bits/s, shares
/// are of the window, if nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// What limited one way of a stream of both ways.
    WayLimited(Direction, Label),
    /// What speaks for the limit of that way.
    Way(Direction, Box<Evidence>),
    /// The rate sent, and the one requested.
    Sent(f64, f64),
    /// The rate received, and the one requested.
    Received(f64, f64),
    /// Requests answered per second, and those requested.
    Answered(f64, u32),
    /// A side's queue rejected so many datagrams.
    QueueRejected(Side, u64),
    /// The sender was idle.
    SenderIdle,
    /// Nobody was busy, and nothing dropped much.
    NobodyBusy,
    /// This share of the datagrams was lost where nobody counts.
    LostUncounted(f64),
    /// So many transactions in flight, and whether an end polls.
    RoundTrip(u64, bool),
    /// An interface carried as much as it can.
    AtLinkRate(AtLinkRate),
    /// Segments were dropped between the devices.
    Dropped(Dropped),
    /// How busy the threads of an end were.
    Threads(Threads),
    /// A side's threads poll.
    Polls(Side),
    /// This share of a CPU's time was in interrupts.
    Interrupts(Side, u32, f64),
    /// A CPU was busy for this share, and in interrupts for that.
    CpuFull(Side, u32, f64, f64),
    /// A side's CPUs, so many, were busy for this share.
    CpusFull(Side, usize, f64),
    /// TCP: the receive window was closed for this share of the time with data to send.
    WindowClosed(f64),
    /// TCP: the send buffer was full for this share of the time with data to send.
    BufferFull(f64),
    /// TCP: so many of so many segments were lost; the congestion window.
    SegmentsLost(u64, u64, u32),
    /// TCP: so many of so many segments were retransmitted needlessly; the congestion window.
    SegmentsLate(u64, u64, u32),
    /// What TCP waited for.
    Tcp(Tcp),
    /// An end was kept off its CPUs.
    Contended(Contended),
    /// A side's virtual CPU waited for this share behind threads of the run's own guests: so many
    /// virtual CPUs share so many CPUs.
    BehindGuests(Side, f64, usize, usize),
    /// Interrupts take this share of the time of a side's CPUs, for datagrams that it then drops.
    Livelock(Side, f64),
    /// Datagrams lost at one place, and those offered.
    Lost(Place, u64, u64),
    /// What a virtual machine took of its host.
    OnHost(OnHost),
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WayLimited(way, label) => write!(f, "{way}: limited by {label}"),
            Self::Way(way, evidence) => write!(f, "{way}: {evidence}"),
            Self::Sent(sent, asked) => write!(f, "sent {} of the requested {}", bits(*sent), bits(*asked)),
            Self::Received(received, asked) => {
                write!(f, "received {} of the requested {}", bits(*received), bits(*asked))
            }
            Self::Answered(done, asked) => {
                write!(f, "{done:.0} of the requested {asked} requests per second were answered")
            }
            Self::QueueRejected(side, refused) => {
                write!(f, "the {side}'s queue rejected {} datagrams", count(*refused))
            }
            Self::SenderIdle => {
                f.write_str("the sender was idle for part of the time, although nothing rejected its data")
            }
            Self::NobodyBusy => f.write_str(
                "neither end was busy all the time and no place dropped much: only the path between them remains",
            ),
            Self::LostUncounted(share) => {
                write!(f, "{} of the datagrams were lost at a place without a counter", percent(*share))
            }
            Self::RoundTrip(flight, polls) => {
                let polls = if *polls { "; an end that polls is always busy" } else { "" };
                write!(
                    f,
                    "neither end was busy all the time: {flight} in flight, waiting for the round trip{polls}"
                )
            }
            Self::AtLinkRate(at) => at.fmt(f),
            Self::Dropped(dropped) => dropped.fmt(f),
            Self::Threads(threads) => threads.fmt(f),
            Self::Polls(side) => {
                write!(f, "the {side}'s threads poll, as configured, so their busy time is no evidence")
            }
            Self::Interrupts(side, cpu, share) => {
                write!(f, "{side}'s CPU {cpu} {} in interrupts", percent(*share))
            }
            Self::CpuFull(side, cpu, busy, inside) => write!(
                f,
                "{side}'s CPU {cpu} {} busy with this traffic, {} of its time in interrupts",
                percent(*busy),
                percent(*inside)
            ),
            Self::CpusFull(side, cpus, busy) => {
                write!(f, "{side}'s {cpus} CPUs {} busy with this traffic", percent(*busy))
            }
            Self::WindowClosed(share) => write!(
                f,
                "TCP: the receiver's window was closed for {} of the time with data to send, while the receiver had time: its buffer is \
                 small for this round trip, or its program slept",
                percent(*share)
            ),
            Self::BufferFull(share) => write!(
                f,
                "TCP: the send buffer was the limit for {} of the time with data to send: it is small for this round trip",
                percent(*share)
            ),
            Self::SegmentsLost(lost, of, window) => write!(
                f,
                "TCP: {} of {} segments were lost at a place without a counter; the congestion window is {window} segments",
                count(*lost),
                count(*of)
            ),
            Self::SegmentsLate(late, of, window) => write!(
                f,
                "TCP: {} of {} segments were retransmitted needlessly: they had arrived, after segments sent later; the congestion window is \
                 {window} segments",
                count(*late),
                count(*of)
            ),
            Self::Tcp(tcp) => tcp.fmt(f),
            Self::Contended(contended) => contended.fmt(f),
            Self::BehindGuests(side, share, vcpus, cpus) => write!(
                f,
                "a virtual CPU of {side}'s guest was ready but waited for a CPU of the host {} of the time, behind threads of the run's own \
                 guests: {vcpus} virtual CPUs and the threads that move their packets share {cpus} CPUs",
                percent(*share)
            ),
            Self::Livelock(side, share) => write!(
                f,
                "receive livelock: interrupts take {} of the time of the {side}'s CPUs, most of it for datagrams that its socket then drops. A \
                 lower rate brings more (`pacing`)",
                percent(*share)
            ),
            Self::Lost(place, lost, offered) => {
                let share = if *offered == 0 { 0.0 } else { *lost as f64 / *offered as f64 };
                let (lost, offered) = (count(*lost), count(*offered));
                write!(f, "{place} dropped {lost} of {offered} datagrams ({})", percent(share))
            }
            Self::OnHost(on_host) => on_host.fmt(f),
        }
    }
}

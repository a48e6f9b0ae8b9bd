//! A program that can do what netassay's traffic does, and what it is asked.

use std::net::IpAddr;

use load::Kind;
use serde::Serialize;

/// What both netassay and a peer are asked to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    pub(crate) kind: Kind,
    pub(crate) ipv6: bool,
    /// Bytes per write, datagram, request and answer.
    pub(crate) message: u32,
    /// Connections, or pairs of sockets, at once.
    pub(crate) flows: u32,
    /// How many CPUs each end has for them.
    pub(crate) cpus: u32,
    /// TCP's congestion control, if it is not the machine's own.
    pub(crate) congestion_control: Option<String>,
    /// Do programs poll instead of sleeping?
    pub(crate) polls: bool,
    /// How long sockets poll their device too (`SO_BUSY_POLL`), in µs.
    pub(crate) busy_poll: Option<u32>,
    /// How long the traffic flows: what peers take are whole seconds.
    pub(crate) seconds: u32,
    pub(crate) client: IpAddr,
    pub(crate) server: IpAddr,
}

/// What a program says of its own traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Said {
    /// Received bits/s, or transactions/s.
    pub(crate) rate: Option<f64>,
    /// Half of the round trips took at most this long, in µs.
    pub(crate) p50_us: Option<f64>,
    /// 99 % of them took at most this long, in µs.
    pub(crate) p99_us: Option<f64>,
}

/// Where a server can be seen to be ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listens {
    Tcp(u16),
    Udp(u16),
}

/// Which end of a job a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Server,
    Client,
}

/// The kinds of traffic that are compared with peers.
pub(crate) const KINDS: [Kind; 4] = [Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr];

/// A program that can do what netassay's traffic does. Arguments are words between blanks.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// Where its source is, if Debian's main archive has no package of its name.
    pub(crate) source: Option<&'static str>,
    /// The program of each end; none if it has the peer's name.
    pub(super) program: fn(End, Kind) -> Option<&'static str>,
    /// The arguments with which it tells its version.
    pub(crate) version: &'static str,
    pub(crate) kinds: &'static [Kind],
    /// Bytes of its smallest datagram, and of its smallest message of any other kind.
    pub(super) smallest: [u32; 2],
    pub(super) has_many_flows: bool,
    /// Has a client only one flow, so that several are several clients?
    pub(super) is_one_flow: bool,
    pub(crate) server: fn(&Job) -> String,
    /// What the server has open once it is ready.
    pub(crate) listens: fn(Kind) -> Listens,
    /// The arguments of a client that sends for the job's seconds; or so many messages, if it can
    /// count.
    pub(crate) client: fn(&Job, Option<u64>) -> String,
    /// What the client says in the end; `None` if that cannot be understood, or if it is always
    /// ended before.
    pub(crate) said: fn(&Job, &str) -> Option<Said>,
    /// How many messages a client has sent that was to send so many, from what it says in the end;
    /// `None` if that has no such number.
    pub(crate) sent: fn(&Job, u64, &str) -> Option<u64>,
    /// Words of a server that has ended which mean that it was never made for the job, and why.
    pub(super) unable: Option<[&'static str; 2]>,
}

impl Peer {
    pub(crate) fn program(&self, end: End, kind: Kind) -> &'static str {
        (self.program)(end, kind).unwrap_or(self.name)
    }

    /// Has it such traffic in messages of that many bytes, and with so many flows?
    pub(crate) fn supports(&self, kind: Kind, message: u32, flows: u32) -> bool {
        let smallest = self.smallest[usize::from(kind != Kind::UdpStream)];
        self.kinds.contains(&kind) && message >= smallest && (flows == 1 || self.has_many_flows)
    }

    /// How many clients have all flows of a job.
    pub(crate) fn clients(&self, job: &Job) -> u32 {
        if self.is_one_flow { job.flows } else { 1 }
    }

    /// Why a server that has ended with these words was never made for its job, if that is so.
    pub(crate) fn declines(&self, words: &str) -> Option<&'static str> {
        let [sign, why] = self.unable?;
        words.contains(sign).then_some(why)
    }
}

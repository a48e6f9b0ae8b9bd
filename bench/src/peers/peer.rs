//! A program that netassay is compared with, and what is asked of it.

use std::fmt::Debug;
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

impl Said {
    /// A rate and nothing else.
    pub(super) fn rate(rate: f64) -> Self {
        Self { rate: Some(rate), ..Self::default() }
    }
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

/// How many bytes netassay's receiver reads at once from a stream. Servers with an option for that
/// read as many.
pub(super) const READ: u32 = 256 << 10;

/// The kinds of traffic that are compared with peers.
pub(crate) const KINDS: [Kind; 4] = [Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr];

/// A program that can do what netassay's traffic does. Arguments are words between blanks.
pub(crate) trait Peer: Debug + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Where its source is, if Debian's main archive has no package of its name.
    fn source(&self) -> Option<&'static str> {
        None
    }

    /// The name of an end's program.
    fn program(&self, _end: End, _kind: Kind) -> &'static str {
        self.name()
    }

    /// The arguments with which it tells its version.
    fn version(&self) -> &'static str {
        "--version"
    }

    /// Has it such traffic?
    fn runs(&self, kind: Kind) -> bool {
        KINDS.contains(&kind)
    }

    /// Bytes of its smallest message.
    fn smallest(&self, _kind: Kind) -> u32 {
        1
    }

    /// Can it have several flows at once?
    fn has_many_flows(&self) -> bool {
        false
    }

    /// Has it such traffic in messages of that many bytes, and with so many flows?
    fn supports(&self, kind: Kind, message: u32, flows: u32) -> bool {
        self.runs(kind) && message >= self.smallest(kind) && (flows == 1 || self.has_many_flows())
    }

    /// How many clients have all flows of a job.
    fn clients(&self, _job: &Job) -> u32 {
        1
    }

    /// The server's arguments.
    fn server(&self, job: &Job) -> String;

    /// What the server has open once it is ready.
    fn listens(&self, job: &Job) -> Listens;

    /// The arguments of a client that sends for the job's seconds; or so many `messages`, if it can
    /// count.
    fn client(&self, job: &Job, messages: Option<u64>) -> String;

    /// What the client says in the end; `None` if that cannot be understood, or if it is always
    /// ended before.
    fn said(&self, _job: &Job, _client: &str) -> Option<Said> {
        None
    }

    /// How many messages a client has sent that was to send `messages`, from what it says in the
    /// end; `None` if that has no such number.
    fn sent(&self, _job: &Job, _messages: u64, _client: &str) -> Option<u64> {
        None
    }

    /// Do these words of a server that has ended mean that it was never made for the job?
    fn declines(&self, _words: &str) -> Option<&'static str> {
        None
    }
}

/// `-4` or `-6`.
pub(super) fn family(job: &Job) -> &'static str {
    if job.ipv6 { "-6" } else { "-4" }
}

/// `words` if they are `wanted`.
pub(super) fn when(wanted: bool, words: &str) -> &str {
    if wanted { words } else { "" }
}

/// The number that follows `key` in a text.
pub(super) fn number_after(text: &str, key: &str) -> Option<f64> {
    let rest = text.split_once(key)?.1.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}

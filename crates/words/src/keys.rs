//! The table of keys: each property of traffic once. It makes studies, factors, `--set`, the JSON
//! schema, the names of conditions, the keys of `netassay load` and the tables in `docs/`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::kind::Kind;
use crate::mode::{CongestionControl, Direction, LONGEST_NAME, Reader, Sender};
use crate::pacing::{Pacing, Percent};
use crate::traffic::{MAX_FLOWS, MAX_IN_FLIGHT, MAX_MESSAGE, MAX_RATE, MAX_THREADS};
use crate::value::Shape;
use crate::word::Word;

const ALL: &[Kind] = &Kind::ALL;
const NONE: &[Kind] = &[];
const RR: &[Kind] = &[Kind::TcpRr, Kind::UdpRr, Kind::TcpCrr];
const STREAMS: &[Kind] = &[Kind::TcpStream, Kind::UdpStream];
const ONE_WAY: &[Kind] = &[Kind::TcpStream, Kind::UdpStream, Kind::Pps];
const TCP: &[Kind] = &[Kind::TcpStream, Kind::TcpRr, Kind::TcpCrr];
const UDP: &[Kind] = &[Kind::UdpStream, Kind::UdpRr, Kind::Pps];
/// Kinds of traffic with lasting connections; `tcp_crr` opens and closes its connections.
const LASTING: &[Kind] = &[Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr, Kind::Pps];
const LASTING_TCP: &[Kind] = &[Kind::TcpStream, Kind::TcpRr];
const RECEIVED: &[Kind] = &[Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr, Kind::TcpCrr];

const NANOSECOND: Duration = Duration::from_nanos(1);
const MICROSECOND: Duration = Duration::from_micros(1);

const PLAIN: Key = Key {
    name: "",
    shape: Shape::Switch,
    fits: |_, _, _| true,
    unit: "",
    kinds: ALL,
    exact: ALL,
    alone: NONE,
    in_turns: NONE,
    is_doubted: |_| false,
    is_factor: true,
    slug: "",
    default: "",
    help: "",
    field: (|w| &w.traffic.verify, |w| &mut w.traffic.verify),
};

/// A row of the table. `$field` is its field of a workload.
macro_rules! row {
    ($key:ident, ($($field:ident).+), $help:literal, { $($property:ident: $value:expr,)+ }) => {
        Key {
            name: stringify!($key),
            help: $help,
            $($property: $value,)+
            field: (|w| &w.$($field).+, |w| &mut w.$($field).+),
            ..PLAIN
        }
    };
}

/// Declares the keys: of those of the traffic the field with its default, of each its help, and the
/// properties in which it differs from [`PLAIN`].
macro_rules! keys {
    (
        traffic { $($first:ident: $first_type:ty = $first_default:expr, $first_help:literal $first_row:tt)+ }
        workload { $($own:ident, $own_help:literal $own_row:tt)+ }
        traffic {
            $($(#[$attribute:meta])* $key:ident: $type:ty = $default:expr, $help:literal $row:tt)+
        }
    ) => {
        /// A description of traffic. [`Traffic::new`] gives the defaults of a kind.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Traffic {
            /// Its kind.
            pub kind: Kind,
            $(#[doc = $first_help] pub $first: $first_type,)+
            $(#[doc = $help] $(#[$attribute])* pub $key: $type,)+
        }

        impl Traffic {
            pub(crate) fn plain(kind: Kind) -> Self {
                Self { kind, $($first: $first_default,)+ $($key: $default,)+ }
            }
        }

        /// Every key of `[[workload]]` except `name` and `kind`, in display order.
        pub const KEYS: &[Key] = &[
            $(row!($first, (traffic.$first), $first_help, $first_row),)+
            $(row!($own, ($own), $own_help, $own_row),)+
            $(row!($key, (traffic.$key), $help, $row),)+
        ];
    };
}

keys! {
    traffic {
        message: u32 = 0,
            "Bytes per write, datagram or request; a UDP datagram carries at most 65507 over IPv4" {
            shape: Shape::Number(1, MAX_MESSAGE as u64),
            unit: "bytes",
            slug: "message",
            default: "16384 for `tcp_stream`, 1452 for `udp_stream`, 18 for `pps`, 1 for the others",
        }
        // 0 without answers.
        response: u32 = 0, "Bytes per response" {
            shape: Shape::Number(1, MAX_MESSAGE as u64),
            unit: "bytes",
            kinds: RR,
            is_factor: false,
            default: "the size of the message",
        }
    }
    workload {
        duration, "The window that is measured" {
            // From a tick of the kernel's CPU accounting to a day.
            shape: Shape::Time(Duration::from_millis(10), Duration::from_secs(86_400), NANOSECOND),
            is_factor: false,
            default: "10s",
        }
        ramp, "How long traffic flows before the window opens" {
            shape: Shape::Time(Duration::ZERO, Duration::from_secs(600), NANOSECOND),
            is_factor: false,
            default: "500ms",
        }
    }
    traffic {
        // With [`Direction::Both`], for each way.
        flows: u32 = 1, "Connections or sockets on each side at once" {
            shape: Shape::Number(1, MAX_FLOWS as u64),
            exact: NONE,
            slug: "flows",
            default: "1",
        }
        // The kernel doubles it and may limit it.
        socket_buffer: Option<u32> = None,
            "Send and receive buffer of each socket (`SO_SNDBUF`, `SO_RCVBUF`)" {
            // Doubled by the kernel, in an `int`; a quarter of that is more than needed.
            shape: Shape::Number(1_024, 1 << 29),
            unit: "bytes",
            slug: "socket-buffer",
            default: "the kernel sizes it; 1 MiB to receive a stream of datagrams",
        }
        port: Option<u16> = None, "The receiver's port; UDP flows use this one and those after it" {
            shape: Shape::Number(1, 65_535),
            is_factor: false,
            default: "the kernel chooses",
        }
        sender: Sender = Sender::Send,
            "How the sending program hands data to the kernel; UDP and TCP have different senders" {
            shape: Shape::Word(Sender::VOCABULARY),
            fits: |kind, exact, word| {
                let fits = |one: Sender| one.sends(kind) && (one.is_countable() || !exact);
                Sender::from_word(word).is_some_and(fits)
            },
            alone: ALL,
            in_turns: ONE_WAY,
            // A UDP sender may flood the receiver, and so disturb the turns of the others. Over TCP
            // turns agreed with runs from 16 KiB on; a stream of small messages reaches its full
            // rate only late in a turn.
            is_doubted: |traffic| traffic.kind != Kind::TcpStream || traffic.message < 16 << 10,
            default: "send",
        }
        reader: Reader = Reader::Recv, "How the receiving program reads data from the kernel" {
            shape: Shape::Word(Reader::VOCABULARY),
            fits: |kind, _, word| Reader::from_word(word).is_some_and(|one| one.takes(kind)),
            kinds: RECEIVED,
            alone: ALL,
            slug: "reader-",
            in_turns: STREAMS,
            is_doubted: |traffic| {
                traffic.kind != Kind::UdpStream || !matches!(traffic.reader, Reader::Recv | Reader::Gro)
            },
            default: "recv",
        }
        // Each for neighbouring flows; with [`Direction::Both`], for each way. At most one for each
        // flow.
        threads: Option<u32> = None, "Threads on each side, among which the flows are divided" {
            shape: Shape::Number(1, MAX_THREADS as u64),
            slug: "threads",
            default: "chosen by the program",
        }
        direction: Direction = Direction::Forward, "Which way a stream flows" {
            shape: Shape::Word(Direction::VOCABULARY),
            kinds: STREAMS,
            exact: NONE,
            default: "forward, from the transmitter to the receiver",
        }
        in_flight: u32 = 1, "Transactions in flight per flow" {
            shape: Shape::Number(1, MAX_IN_FLIGHT as u64),
            kinds: &[Kind::TcpRr, Kind::UdpRr],
            exact: NONE,
            alone: ALL,
            slug: "in-flight",
            default: "1",
        }
        // The latency of a request counts from its intended time. At most [`MAX_IN_FLIGHT`] per
        // flow are under way (one with `tcp_crr`, 128 with `udp_rr` messages of one byte); more
        // wait.
        rate: Option<u32> = None,
            "Requests per second over all flows, each sent at its intended time whether earlier ones are answered or not" {
            shape: Shape::Number(1, MAX_RATE as u64),
            unit: "1/s",
            kinds: RR,
            exact: NONE,
            alone: ALL,
            slug: "rate",
            default: "each request follows the response to the one before",
        }
        // The kernel paces TCP (`SO_MAX_PACING_RATE`), in bursts of two segments or more. The
        // sender paces datagrams call by call, with or without the `fq` qdisc, and makes up for at
        // most 10 ms after a delay.
        pacing: Option<Pacing> = None, "Bits of payload per second and flow: `500Mbit`" {
            shape: Shape::Pace,
            unit: "bits/s",
            kinds: ONE_WAY,
            exact: NONE,
            // The kernel keeps TCP's pace.
            alone: UDP,
            in_turns: ONE_WAY,
            // A sender may sleep, and a queue may empty, at the pace of the turn before.
            is_doubted: |_| true,
            slug: "pacing",
            default: "no limit",
        }
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        find_rate: bool = false,
            "Whether a run searches for the highest rate that keeps loss within `loss`, by trials of `duration` each; it tries at most `pacing`" {
            kinds: &[Kind::UdpStream],
            exact: NONE,
            // Each of its trials is paced.
            alone: UDP,
            is_factor: false,
            default: "off",
        }
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<Percent> = None,
            "The share of datagrams that may be lost at the rate that `find_rate` searches for: `0.1%`" {
            shape: Shape::Share,
            kinds: &[Kind::UdpStream],
            exact: NONE,
            slug: "loss-",
            default: "none: no datagram at all",
        }
        // Also `SO_PREFER_BUSY_POLL` and `SO_BUSY_POLL_BUDGET`.
        #[serde(default, with = "crate::duration::maybe_text")]
        busy_poll: Option<Duration> = None,
            "How long a receive polls the device's queue instead of sleeping: `50us` (`SO_BUSY_POLL`)" {
            // The kernel counts whole microseconds; after a tenth of a second without packets,
            // polling has no use.
            shape: Shape::Time(MICROSECOND, Duration::from_millis(100), MICROSECOND),
            kinds: RECEIVED,
            exact: NONE,
            alone: ALL,
            in_turns: &[Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr],
            // A receive goes on to poll, or to sleep, as in the turn before.
            is_doubted: |_| true,
            slug: "busy-poll",
            default: "off",
        }
        #[serde(default, with = "crate::duration::maybe_text")]
        path_delay: Option<Duration> = None,
            "How long each packet is held before it leaves an end's interface; a round trip has it twice (`netem`)" {
            // `netem` counts nanoseconds, its watchdog microseconds.
            shape: Shape::Time(MICROSECOND, Duration::from_secs(10), MICROSECOND),
            exact: NONE,
            slug: "path-delay-",
            default: "none",
        }
        // An offload's large packet is lost as one.
        path_loss: Option<Percent> = None,
            "The share of packets that is lost at random where they leave an end's interface: `0.1%` (`netem`)" {
            shape: Shape::Share,
            exact: NONE,
            slug: "path-loss-",
            default: "none",
        }
        path_rate: Option<Pacing> = None,
            "The most bits per second that leave an end's interface, headers included: `1Gbit` (`tbf`)" {
            shape: Shape::Pace,
            unit: "bits/s",
            exact: NONE,
            slug: "path-rate-",
            default: "no limit",
        }
        congestion_control: CongestionControl = CongestionControl::Unpaced,
            "TCP's congestion control by its kernel name, or `system` for each host's own" {
            shape: Shape::Name(LONGEST_NAME),
            kinds: TCP,
            slug: "cc-",
            default: "cubic, or reno where cubic is not available: neither paces by a timer",
        }
        // Over IPv4 the kernel also derives the priority for qdiscs from it.
        dscp: Option<u8> = None, "The differentiated services code point of all packets" {
            // Six bits (RFC 2474, section 3).
            shape: Shape::Number(0, 63),
            in_turns: LASTING,
            is_doubted: |traffic| traffic.kind == Kind::Pps,
            slug: "dscp",
            default: "0, the kernel's",
        }
        nodelay: Option<bool> = None, "Whether TCP sends small segments at once (`TCP_NODELAY`)" {
            kinds: TCP,
            in_turns: LASTING_TCP,
            slug: "nodelay-",
            default: "on for `tcp_rr` and `tcp_crr`, off for `tcp_stream`",
        }
        notsent_lowat: Option<u32> = None,
            "Bytes that may wait unsent in a socket before it accepts no more (`TCP_NOTSENT_LOWAT`)" {
            // The kernel keeps it in an `int`.
            shape: Shape::Number(1, i32::MAX as u64),
            unit: "bytes",
            kinds: TCP,
            // Data that do not leave at once would wait for a receiver on the same thread.
            exact: NONE,
            in_turns: LASTING_TCP,
            // Data that wait in a socket in one turn leave it in the next one.
            is_doubted: |_| true,
            slug: "notsent-lowat",
            default: "the kernel's (sysctl net.ipv4.tcp_notsent_lowat)",
        }
        // If not, the kernel looks up the route of each datagram.
        connected: bool = true,
            "Whether the sending UDP sockets are connected; off: each datagram names its destination" {
            kinds: UDP,
            exact: ONE_WAY,
            alone: ALL,
            slug: "connected-",
            default: "on",
        }
        checksum: bool = true, "Whether UDP datagrams over IPv4 carry a checksum (off: `SO_NO_CHECK`)" {
            kinds: UDP,
            in_turns: UDP,
            is_doubted: |traffic| traffic.kind == Kind::Pps,
            slug: "checksum-",
            default: "on",
        }
        // If not, only the last message of each flow is.
        verify: bool = false, "Whether every byte is checked where it arrives, which costs time" {
            kinds: RECEIVED,
            exact: NONE,
            is_factor: false,
            default: "off",
        }
    }
}

//! The table of keys: each property of traffic once. It makes studies, factors, `--set`, the JSON
//! schema, the names of conditions, the keys of `netassay load` and the tables in `docs/`.

use std::time::Duration;

use crate::key::Key;
use crate::kind::Kind;
use crate::mode::{Direction, LONGEST_NAME, Reader, Sender};
use crate::traffic::{MAX_FLOWS, MAX_IN_FLIGHT, MAX_MESSAGE, MAX_RATE, MAX_THREADS, Traffic};
use crate::turn::NOT_COMPARED;
use crate::value::{Shape, WordSet};
use crate::word::Word;

const ALL: &[Kind] = &Kind::ALL;
const NONE: &[Kind] = &[];
const RR: &[Kind] = &[Kind::TcpRr, Kind::UdpRr, Kind::TcpCrr];
const STREAMS: &[Kind] = &[Kind::TcpStream, Kind::UdpStream];
/// Kinds of traffic that send without waiting for an answer.
const ONE_WAY: &[Kind] = &[Kind::TcpStream, Kind::UdpStream, Kind::Pps];
const TCP: &[Kind] = &[Kind::TcpStream, Kind::TcpRr, Kind::TcpCrr];
const UDP: &[Kind] = &[Kind::UdpStream, Kind::UdpRr, Kind::Pps];
/// Kinds of traffic with lasting connections; `tcp_crr` opens and closes its connections.
const LASTING: &[Kind] = &[Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr, Kind::Pps];
const LASTING_TCP: &[Kind] = &[Kind::TcpStream, Kind::TcpRr];
const RECEIVED: &[Kind] = &[Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr, Kind::TcpCrr];

const NANOSECOND: Duration = Duration::from_nanos(1);

fn pps_not_compared(traffic: &Traffic) -> Option<&'static str> {
    (traffic.kind == Kind::Pps).then_some(NOT_COMPARED)
}
const MICROSECOND: Duration = Duration::from_micros(1);

/// The defaults of a row.
const PLAIN: Key = Key {
    name: "",
    shape: Shape::Switch,
    unit: "",
    kinds: ALL,
    exact: ALL,
    alone: NONE,
    in_turns: NONE,
    doubt: |_| None,
    is_factor: true,
    slug: "",
    default: "",
    help: "",
    field: (|w| &w.traffic.verify, |w| &mut w.traffic.verify),
};

/// Every key of `[[workload]]` except `name` and `kind`, in display order.
pub const KEYS: &[Key] = &[
    Key {
        name: "message",
        shape: Shape::Number(1, MAX_MESSAGE as u64),
        unit: "bytes",
        slug: "message",
        default: "16384 for `tcp_stream`, 1452 for `udp_stream`, 18 for `pps`, 1 for the others",
        help: "Bytes per write, datagram or request; a UDP datagram carries at most 65507 over IPv4",
        field: (|w| &w.traffic.message, |w| &mut w.traffic.message),
        ..PLAIN
    },
    Key {
        name: "response",
        shape: Shape::Number(1, MAX_MESSAGE as u64),
        unit: "bytes",
        kinds: RR,
        is_factor: false,
        default: "the size of the message",
        help: "Bytes per response",
        field: (|w| &w.traffic.response, |w| &mut w.traffic.response),
        ..PLAIN
    },
    Key {
        name: "duration",
        // From a tick of the kernel's CPU accounting to a day.
        shape: Shape::Time(Duration::from_millis(10), Duration::from_secs(86_400), NANOSECOND),
        is_factor: false,
        default: "10s",
        help: "The window that is measured",
        field: (|w| &w.duration, |w| &mut w.duration),
        ..PLAIN
    },
    Key {
        name: "ramp",
        shape: Shape::Time(Duration::ZERO, Duration::from_secs(600), NANOSECOND),
        is_factor: false,
        default: "500ms",
        help: "How long traffic flows before the window opens",
        field: (|w| &w.ramp, |w| &mut w.ramp),
        ..PLAIN
    },
    Key {
        name: "flows",
        shape: Shape::Number(1, MAX_FLOWS as u64),
        exact: NONE,
        slug: "flows",
        default: "1",
        help: "Connections or sockets on each side at once",
        field: (|w| &w.traffic.flows, |w| &mut w.traffic.flows),
        ..PLAIN
    },
    Key {
        name: "socket_buffer",
        // The kernel doubles it and keeps it in an `int`; a quarter of that is far more than
        // needed.
        shape: Shape::Number(1_024, 1 << 29),
        unit: "bytes",
        slug: "socket-buffer",
        default: "the kernel sizes it; 1 MiB to receive a stream of datagrams",
        help: "Send and receive buffer of each socket (`SO_SNDBUF`, `SO_RCVBUF`)",
        field: (|w| &w.traffic.socket_buffer, |w| &mut w.traffic.socket_buffer),
        ..PLAIN
    },
    Key {
        name: "port",
        shape: Shape::Number(1, 65_535),
        is_factor: false,
        default: "the kernel chooses",
        help: "The receiver's port; UDP flows use this one and those after it",
        field: (|w| &w.traffic.port, |w| &mut w.traffic.port),
        ..PLAIN
    },
    Key {
        name: "sender",
        shape: Shape::Word(WordSet {
            vocabulary: Sender::VOCABULARY,
            of: |kind, exact| {
                let fits = |one: &Sender| one.sends(kind) && (one.is_countable() || !exact);
                Sender::ALL.into_iter().filter(fits).map(Sender::word).collect()
            },
        }),
        alone: ALL,
        in_turns: ONE_WAY,
        doubt: |traffic| match (traffic.kind, traffic.sender) {
            (Kind::UdpStream, _) => {
                Some("a UDP sender may flood the receiver, and so disturb the turns of the others")
            }
            (Kind::Pps, _) => Some(NOT_COMPARED),
            // With 16 KiB and more turns agreed with runs, with 64 bytes they did not.
            _ if traffic.message < 16 << 10 => {
                Some("a stream of small messages reaches its full rate only late in a turn")
            }
            _ => None,
        },
        default: "send",
        help: "How the sending program hands data to the kernel; UDP and TCP have different senders",
        field: (|w| &w.traffic.sender, |w| &mut w.traffic.sender),
        ..PLAIN
    },
    Key {
        name: "reader",
        shape: Shape::Word(WordSet {
            vocabulary: Reader::VOCABULARY,
            of: |kind, _| Reader::ALL.into_iter().filter(|one| one.takes(kind)).map(Reader::word).collect(),
        }),
        kinds: RECEIVED,
        alone: ALL,
        slug: "reader-",
        in_turns: STREAMS,
        doubt: |traffic| match (traffic.kind, traffic.reader) {
            (Kind::UdpStream, Reader::Recv | Reader::Gro) => None,
            _ => Some(NOT_COMPARED),
        },
        default: "recv",
        help: "How the receiving program reads data from the kernel",
        field: (|w| &w.traffic.reader, |w| &mut w.traffic.reader),
        ..PLAIN
    },
    Key {
        name: "threads",
        shape: Shape::Number(1, MAX_THREADS as u64),
        slug: "threads",
        default: "chosen by the program",
        help: "Threads on each side, among which the flows are divided",
        field: (|w| &w.traffic.threads, |w| &mut w.traffic.threads),
        ..PLAIN
    },
    Key {
        name: "direction",
        shape: Shape::Word(WordSet {
            vocabulary: Direction::VOCABULARY,
            of: |_, _| Direction::ALL.map(Direction::word).to_vec(),
        }),
        kinds: STREAMS,
        exact: NONE,
        default: "forward, from the transmitter to the receiver",
        help: "Which way a stream flows",
        field: (|w| &w.traffic.direction, |w| &mut w.traffic.direction),
        ..PLAIN
    },
    Key {
        name: "in_flight",
        shape: Shape::Number(1, MAX_IN_FLIGHT as u64),
        kinds: &[Kind::TcpRr, Kind::UdpRr],
        exact: NONE,
        alone: ALL,
        slug: "in-flight",
        default: "1",
        help: "Transactions in flight per flow",
        field: (|w| &w.traffic.in_flight, |w| &mut w.traffic.in_flight),
        ..PLAIN
    },
    Key {
        name: "rate",
        shape: Shape::Number(1, MAX_RATE as u64),
        unit: "1/s",
        kinds: RR,
        exact: NONE,
        alone: ALL,
        slug: "rate",
        default: "each request follows the response to the one before",
        help: "Requests per second over all flows, each sent at its intended time whether earlier ones are answered or not",
        field: (|w| &w.traffic.rate, |w| &mut w.traffic.rate),
        ..PLAIN
    },
    Key {
        name: "pacing",
        shape: Shape::Pace,
        unit: "bits/s",
        kinds: ONE_WAY,
        exact: NONE,
        // The kernel keeps TCP's pace.
        alone: UDP,
        in_turns: ONE_WAY,
        doubt: |_| Some("a sender may sleep, and a queue may empty, at the pace of the turn before"),
        slug: "pacing",
        default: "no limit",
        help: "Bits of payload per second and flow: `500Mbit`",
        field: (|w| &w.traffic.pacing, |w| &mut w.traffic.pacing),
        ..PLAIN
    },
    Key {
        name: "find_rate",
        kinds: &[Kind::UdpStream],
        exact: NONE,
        // Each of its trials is paced.
        alone: UDP,
        is_factor: false,
        default: "off",
        help: "Whether a run searches for the highest rate that keeps loss within `loss`, by trials of `duration` each; it tries at most `pacing`",
        field: (|w| &w.traffic.find_rate, |w| &mut w.traffic.find_rate),
        ..PLAIN
    },
    Key {
        name: "loss",
        shape: Shape::Share,
        kinds: &[Kind::UdpStream],
        exact: NONE,
        slug: "loss-",
        default: "none: no datagram at all",
        help: "The share of datagrams that may be lost at the rate that `find_rate` searches for: `0.1%`",
        field: (|w| &w.traffic.loss, |w| &mut w.traffic.loss),
        ..PLAIN
    },
    Key {
        name: "busy_poll",
        // The kernel counts whole microseconds; after a tenth of a second without packets, polling
        // has no use.
        shape: Shape::Time(MICROSECOND, Duration::from_millis(100), MICROSECOND),
        kinds: RECEIVED,
        exact: NONE,
        alone: ALL,
        in_turns: &[Kind::TcpStream, Kind::UdpStream, Kind::TcpRr, Kind::UdpRr],
        doubt: |_| Some("a receive goes on to poll, or to sleep, as in the turn before"),
        slug: "busy-poll",
        default: "off",
        help: "How long a receive polls the device's queue instead of sleeping: `50us` (`SO_BUSY_POLL`)",
        field: (|w| &w.traffic.busy_poll, |w| &mut w.traffic.busy_poll),
        ..PLAIN
    },
    Key {
        name: "path_delay",
        // `netem` counts nanoseconds, its watchdog microseconds.
        shape: Shape::Time(MICROSECOND, Duration::from_secs(10), MICROSECOND),
        exact: NONE,
        slug: "path-delay-",
        default: "none",
        help: "How long each packet is held before it leaves an end's interface; a round trip has it twice (`netem`)",
        field: (|w| &w.traffic.path_delay, |w| &mut w.traffic.path_delay),
        ..PLAIN
    },
    Key {
        name: "path_loss",
        shape: Shape::Share,
        exact: NONE,
        slug: "path-loss-",
        default: "none",
        help: "The share of packets that is lost at random where they leave an end's interface: `0.1%` (`netem`)",
        field: (|w| &w.traffic.path_loss, |w| &mut w.traffic.path_loss),
        ..PLAIN
    },
    Key {
        name: "path_rate",
        shape: Shape::Pace,
        unit: "bits/s",
        exact: NONE,
        slug: "path-rate-",
        default: "no limit",
        help: "The most bits per second that leave an end's interface, headers included: `1Gbit` (`tbf`)",
        field: (|w| &w.traffic.path_rate, |w| &mut w.traffic.path_rate),
        ..PLAIN
    },
    Key {
        name: "congestion_control",
        shape: Shape::Name(LONGEST_NAME),
        kinds: TCP,
        slug: "cc-",
        default: "cubic, or reno where cubic is not available: neither paces by a timer",
        help: "TCP's congestion control by its kernel name, or `system` for each host's own",
        field: (|w| &w.traffic.congestion_control, |w| &mut w.traffic.congestion_control),
        ..PLAIN
    },
    Key {
        name: "dscp",
        // Six bits (RFC 2474, section 3).
        shape: Shape::Number(0, 63),
        in_turns: LASTING,
        doubt: pps_not_compared,
        slug: "dscp",
        default: "0, the kernel's",
        help: "The differentiated services code point of all packets",
        field: (|w| &w.traffic.dscp, |w| &mut w.traffic.dscp),
        ..PLAIN
    },
    Key {
        name: "nodelay",
        kinds: TCP,
        in_turns: LASTING_TCP,
        slug: "nodelay-",
        default: "on for `tcp_rr` and `tcp_crr`, off for `tcp_stream`",
        help: "Whether TCP sends small segments at once (`TCP_NODELAY`)",
        field: (|w| &w.traffic.nodelay, |w| &mut w.traffic.nodelay),
        ..PLAIN
    },
    Key {
        name: "notsent_lowat",
        // The kernel keeps it in an `int`.
        shape: Shape::Number(1, i32::MAX as u64),
        unit: "bytes",
        kinds: TCP,
        // Data that do not leave at once would wait for a receiver on the same thread.
        exact: NONE,
        in_turns: LASTING_TCP,
        doubt: |_| Some("what may wait in a socket in one turn leaves it in the next one"),
        slug: "notsent-lowat",
        default: "the kernel's (sysctl net.ipv4.tcp_notsent_lowat)",
        help: "Bytes that may wait unsent in a socket before it accepts no more (`TCP_NOTSENT_LOWAT`)",
        field: (|w| &w.traffic.notsent_lowat, |w| &mut w.traffic.notsent_lowat),
        ..PLAIN
    },
    Key {
        name: "connected",
        kinds: UDP,
        exact: ONE_WAY,
        alone: ALL,
        slug: "connected-",
        default: "on",
        help: "Whether the sending UDP sockets are connected; off: each datagram names its destination",
        field: (|w| &w.traffic.connected, |w| &mut w.traffic.connected),
        ..PLAIN
    },
    Key {
        name: "checksum",
        kinds: UDP,
        in_turns: UDP,
        doubt: pps_not_compared,
        slug: "checksum-",
        default: "on",
        help: "Whether UDP datagrams over IPv4 carry a checksum (off: `SO_NO_CHECK`)",
        field: (|w| &w.traffic.checksum, |w| &mut w.traffic.checksum),
        ..PLAIN
    },
    Key {
        name: "verify",
        kinds: RECEIVED,
        exact: NONE,
        is_factor: false,
        default: "off",
        help: "Whether every byte is checked where it arrives, which costs time",
        field: (|w| &w.traffic.verify, |w| &mut w.traffic.verify),
        ..PLAIN
    },
];

impl Key {
    /// The key of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
}

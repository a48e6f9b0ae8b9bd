//! The command line of `netassay load`.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use load::{Direction, Kind, Reader, Sender};

use super::{Formatted, TurnFlags};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netassay load tcp_stream\n  netassay load udp_stream --scenario veth --message 1472 --sender gso --reader gro --seconds 5\n  netassay load tcp_rr --flows 4 --rate 20000 --format json\n  netassay load pps --flows 2 --no-checksum\n\nTraffic flows only between namespaces that this command makes, and they end with it."
)]
pub(crate) struct Load {
    /// The traffic
    #[arg(value_parser = kind())]
    pub(crate) workload: Kind,
    /// The kind of testbed [default: veth; of pps: discard]
    #[arg(long, value_enum)]
    pub(crate) scenario: Option<ScenarioWord>,
    /// The version of IP
    #[arg(long, value_enum, default_value_t = FamilyWord::Ipv4)]
    pub(crate) family: FamilyWord,
    /// Bytes per write, datagram or request [default: 16384 for tcp_stream, 1452 for udp_stream, 18 for pps, 1 for others]
    #[arg(long, value_name = "BYTES")]
    pub(crate) message: Option<u32>,
    /// Bytes per answer [default: as many as per request]
    #[arg(long, value_name = "BYTES")]
    pub(crate) response: Option<u32>,
    /// Connections or sockets
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) flows: u32,
    /// Threads on each side that share the flows out [default: chosen by the program, and shown]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// How long to measure, in seconds or as 500ms
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = window)]
    pub(crate) seconds: Duration,
    /// How long the traffic flows before that
    #[arg(long, value_name = "TIME", default_value = "0.5", value_parser = time)]
    pub(crate) ramp: Duration,
    /// How the sending program hands data to the kernel
    #[arg(long, default_value = "send", value_parser = sender())]
    pub(crate) sender: Sender,
    /// How the receiving program takes them
    #[arg(long, alias = "receiver", default_value = "recv", value_parser = reader())]
    pub(crate) reader: Reader,
    /// (streams) Which way
    #[arg(long, default_value = "forward", value_parser = direction())]
    pub(crate) direction: Direction,
    /// (tcp_rr, udp_rr) Transactions in flight, per flow
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) in_flight: u32,
    /// (*_rr, tcp_crr) Requests per second over all flows, each at its own intended time, whether earlier ones are answered or not
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    /// (streams, pps) Payload of each flow per second, such as 500Mbit
    #[arg(long, value_name = "RATE", value_parser = study::Pacing::parse)]
    pub(crate) pacing: Option<study::Pacing>,
    /// Poll the device's queue for so long, in microseconds, instead of sleeping
    #[arg(long, value_name = "US")]
    pub(crate) busy_poll: Option<u32>,
    /// (TCP) The congestion control, by its kernel name, or system for the host's own [default: cubic, or reno where
    /// cubic cannot be had]
    #[arg(long, value_name = "NAME", default_value_t, hide_default_value = true)]
    pub(crate) congestion_control: study::CongestionControl,
    /// Differentiated services code point of all packets, 0 to 63
    #[arg(long, value_name = "N")]
    pub(crate) dscp: Option<u8>,
    /// (TCP) Send small segments at once [default: on where requests are answered]
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub(crate) nodelay: Option<SwitchWord>,
    /// Send and receive buffer of each socket [default: the kernel's; 1 MiB to receive datagrams]
    #[arg(long, value_name = "BYTES")]
    pub(crate) socket_buffer: Option<u32>,
    /// (UDP) Name the destination with each datagram
    #[arg(long)]
    pub(crate) unconnected: bool,
    /// (UDP over IPv4) Send datagrams without a checksum
    #[arg(long)]
    pub(crate) no_checksum: bool,
    /// Check every byte and every sequence number where it arrives, which takes time
    #[arg(long)]
    pub(crate) verify: bool,
    /// MTU of the interfaces [default: as they are made]
    #[arg(long, value_name = "BYTES")]
    pub(crate) mtu: Option<u32>,
    /// Offloads of the interfaces: as they are made, or all off
    #[arg(long, value_enum, default_value_t = OffloadsWord::Default)]
    pub(crate) offloads: OffloadsWord,
    /// (discard) What throws the packets away [default: the first of them that this kernel has]
    #[arg(long, value_name = "DEVICE", value_parser = device())]
    pub(crate) discard_device: Option<host::DiscardDevice>,
    /// Use a user namespace even when privileges would allow more
    #[arg(long)]
    pub(crate) rootless: bool,
    /// The receiver's first port [default: the kernel chooses]
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Take down counters so often, 10ms to 1s [default: a hundred times]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) step: Option<Duration>,
    /// (text) Also print a line for each such part of the run, such as 1
    #[arg(long, value_name = "TIME", value_parser = window)]
    pub(crate) interval: Option<Duration>,
    #[command(flatten)]
    pub(crate) turn: TurnFlags,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScenarioWord {
    /// Two network namespaces and a pair of virtual Ethernet interfaces
    Veth,
    /// One network namespace that talks to itself
    Loopback,
    /// One network namespace with an interface that throws everything away
    Discard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FamilyWord {
    Ipv4,
    Ipv6,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SwitchWord {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OffloadsWord {
    Default,
    None,
}

fn kind() -> impl TypedValueParser<Value = Kind> {
    words(Kind::ALL.into_iter().map(Kind::word))
}

fn sender() -> impl TypedValueParser<Value = Sender> {
    words(Sender::ALL.iter().map(|sender| sender.word()))
}

fn reader() -> impl TypedValueParser<Value = Reader> {
    words(Reader::ALL.iter().map(|reader| reader.word()))
}

fn direction() -> impl TypedValueParser<Value = Direction> {
    words(Direction::ALL.iter().map(|direction| direction.word()))
}

fn device() -> impl TypedValueParser<Value = host::DiscardDevice> {
    words(host::DiscardDevice::ALL.into_iter().map(host::DiscardDevice::word))
}

fn words<T>(words: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word: String| word.parse())
}

/// The longest run, so that a slip of the finger does not become a week.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The shortest part of a run that means something: less than this the counters' own grain hides.
const SHORTEST: Duration = Duration::from_millis(10);

/// Seconds (`5`, `0.5`), or a number with its unit (`500ms`).
fn time(text: &str) -> Result<Duration, String> {
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| "it is no time span".to_owned())?,
        Err(_) => study::parse_duration(text).map_err(|error| error.to_string())?,
    };
    if time > LONGEST { Err("at most 24 hours".to_owned()) } else { Ok(time) }
}

fn window(text: &str) -> Result<Duration, String> {
    match time(text)? {
        time if time < SHORTEST => Err("at least 10 ms".to_owned()),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_have_a_unit() {
        assert_eq!(time("5"), Ok(Duration::from_secs(5)));
        assert_eq!(time("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(time("0"), Ok(Duration::ZERO));
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["-1", "inf", "NaN", "1e300", "soon", "", "90000"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert!(window("0.001").is_err() && window("0.01").is_ok());
    }
}

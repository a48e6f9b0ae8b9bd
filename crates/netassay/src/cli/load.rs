//! The command line of `netassay load`: the traffic and the testbed of a study, as options.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use study::Assignment;
use words::{KEYS, Key, Kind, Mistake, Shape, Side, feature};

use super::common::{Formatted, Tables, TurnFlags};
use super::hosts::HostFlags;

#[derive(Debug, Args)]
#[command(
    after_help = "Any feature of `ethtool -k` is an option, too, on both sides or on one: --tso off, --rx-gro-hw on, --receiver.gro off.\n\nExamples:\n  netassay load tcp_stream\n  netassay load udp_stream --message 1472 --sender gso --reader gro --duration 5s\n  netassay load tcp_rr --flows 4 --rate 20000 --format json\n  netassay load udp_stream --find-rate --loss 0.1% --duration 2s\n  netassay load udp_rr --latency-curve --duration 1s\n  netassay load pps --flows 2 --checksum off\n  netassay load tcp_stream --scenario vm --tso off\n  netassay load udp_stream --transmitter root@a:ens1f0 --receiver root@b:ens1f0\n\nTraffic flows only between namespaces and virtual machines that this command makes, and they end with it, or between machines that you name."
)]
pub(crate) struct Load {
    /// The kind of traffic
    #[arg(value_parser = words::<Kind>(Kind::ALL.into_iter().map(Kind::word)))]
    pub(crate) workload: Kind,
    #[command(flatten)]
    pub(crate) said: Said,
    /// (discard) The device that discards the packets [default: the first of them that this kernel
    /// has]
    #[arg(long, value_name = "DEVICE", value_parser = device())]
    pub(crate) discard_device: Option<host::DiscardDevice>,
    /// (tcp_rr, udp_rr, tcp_crr) Measure latency at ten loads up to the most that is answered, or
    /// up to `--rate`, and tell the knee of the curve; makes 61 runs
    #[arg(long)]
    pub(crate) latency_curve: bool,
    /// Use a user namespace even if privileges allow more
    #[arg(long)]
    pub(crate) rootless: bool,
    /// Read the counters at least this often, such as 1s; as text, also print a line for each part
    /// of the run of this length
    #[arg(long, value_name = "TIME", value_parser = study::parse_duration)]
    pub(crate) interval: Option<Duration>,
    #[command(flatten)]
    pub(crate) hosts: HostFlags,
    #[command(flatten)]
    pub(crate) turn: TurnFlags,
    #[command(flatten)]
    pub(crate) tables: Tables,
    #[command(flatten)]
    pub(crate) output: Formatted,
}

/// The options for the traffic and its testbed: keys of a study with their values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said(pub(crate) Vec<Assignment>);

/// Keys of a study, other than those of the traffic.
const OTHERS: &[(&str, &str, &str)] = &[
    ("scenario", "SCENARIO", "The kind of testbed [default: veth; of pps: discard; between machines: ssh]"),
    ("family", "FAMILY", "The version of IP: ipv4, ipv6 [default: ipv4]"),
    ("mtu", "BYTES", "MTU of the interfaces [default: as they are made]"),
    ("offloads", "WHICH", "Offloads of the interfaces: default, none [default: default]"),
    ("inside", "PLACE", "`guest`: the whole testbed is inside one virtual machine"),
    ("kernel", "KERNEL", "(virtual machines) The kernel: a path, a package, `running` [default: running]"),
    ("command_line", "TEXT", "(virtual machines) Options to add to the command line of the kernel"),
    ("vcpus", "N", "(virtual machines) The CPUs of each [default: 1]"),
    ("underlay.family", "FAMILY", "(tunnels) The version of IP that carries the tunnel [default: ipv4]"),
    ("underlay.mtu", "BYTES", "(tunnels) MTU of the interfaces under the tunnel"),
];

impl Args for Said {
    fn augment_args(command: Command) -> Command {
        // Only for the command that is called: there are many options.
        command.defer(|command| {
            let command = command.next_help_heading("Options of the traffic and its testbed");
            command.args(KEYS.iter().map(of_key)).args(of_testbed()).args(of_features())
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Said {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut said = Vec::new();
        for key in names() {
            let Some(value) = matches.get_one::<String>(&key) else { continue };
            let assignment = format!("{key}={value}").parse();
            said.push(assignment.map_err(|error| {
                clap::Error::raw(ErrorKind::InvalidValue, format!("{}: {error}\n", option(&key)))
            })?);
        }
        Ok(Self(said))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(crate) fn option(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

/// Every key that has an option.
fn names() -> impl Iterator<Item = String> {
    let others = OTHERS.iter().map(|(name, ..)| (*name).to_owned());
    KEYS.iter().map(|key| key.name.to_owned()).chain(others).chain(features())
}

/// Every feature, on both sides and on one.
fn features() -> impl Iterator<Item = String> {
    let of_sides = || feature::names().chain(["offloads"]);
    let sided =
        Side::ALL.into_iter().flat_map(move |side| of_sides().map(move |name| format!("{side}.{name}")));
    feature::names().map(str::to_owned).chain(sided)
}

fn of_key(key: &'static Key) -> Arg {
    let kinds: Vec<&str> = key.kinds.iter().map(|kind| kind.word()).collect();
    let of = if kinds.len() == Kind::ALL.len() { String::new() } else { format!("({}) ", kinds.join(", ")) };
    let arg = Arg::new(key.name)
        .long(key.name.replace('_', "-"))
        .value_name(placeholder(key))
        .help(format!("{of}{} [default: {}]", key.help, key.default));
    // A switch is an option without a value, too: `--find-rate`.
    let arg = match key.shape {
        Shape::Switch => arg.num_args(0..=1).default_missing_value("on"),
        _ => arg,
    };
    match key.shape {
        Shape::Word(words) => arg.value_parser(PossibleValuesParser::new(words.vocabulary.spellings())),
        _ => arg.value_parser(move |text: &str| match key.parse(text) {
            Ok(value) => Ok(value.to_string()),
            Err(Mistake { message, help: Some(help), .. }) => Err(format!("{message}; {help}")),
            Err(Mistake { message, .. }) => Err(message),
        }),
    }
}

fn placeholder(key: &Key) -> &'static str {
    match key.shape {
        Shape::Number(..) if key.unit == "bytes" => "BYTES",
        Shape::Number(..) => "N",
        Shape::Switch => "on|off",
        Shape::Pace => "RATE",
        Shape::Share => "SHARE",
        Shape::Time(..) => "TIME",
        Shape::Word(_) => "WORD",
        Shape::Name(_) => "NAME",
    }
}

fn of_testbed() -> impl Iterator<Item = Arg> {
    OTHERS.iter().map(|(name, value, help)| {
        Arg::new(*name).long(name.replace('_', "-")).value_name(*value).help(*help)
    })
}

fn of_features() -> impl Iterator<Item = Arg> {
    features().map(|name| Arg::new(name.clone()).long(name).value_name("on|off").hide(true))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_a_key_that_a_study_understands() {
        let mut names: Vec<String> = names().collect();
        let all = names.len();
        assert!(KEYS.iter().all(|key| names.iter().any(|name| name == key.name)));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for name in names {
            let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"vm-vxlan\"\n[[workload]]\nkind = \"tcp_stream\"\n";
            let said = format!("{name}=no such value").parse().unwrap();
            let told = study::Study::parse_with("x", text, &[said])
                .map_or_else(|why| why.to_string(), |_| String::new());
            assert!(!told.contains("`--set` cannot change"), "{name}: {told}");
        }
    }

    #[test]
    fn what_the_options_say_is_what_a_study_reads() {
        let command = Said::augment_args(Command::new("load"));
        let arguments = [
            "load",
            "--in-flight",
            "4",
            "--find-rate",
            "--busy-poll",
            "0.05ms",
            "--verify",
            "off",
            "--receiver.gro",
            "off",
        ];
        let matches = command.try_get_matches_from(arguments).unwrap();
        let said: Vec<String> =
            Said::from_arg_matches(&matches).unwrap().0.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["in_flight=4", "find_rate=on", "busy_poll=50us", "verify=off", "receiver.gro=off"]);
    }
}

//! The command line, and what it sets going.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use agent::Interrupt;
use clap::{Args, Parser, Subcommand, ValueEnum};
use study::{Family, Scenario};

use crate::failure::{Failure, NOT_RUN};
use crate::netassay::Netassay;
use crate::report::Report;
use crate::{
    controller, exact, guest_boot, in_place, interrupt, observer, place, startup, statistics, teardown,
    traffic, verdict,
};

const AFTER: &str = "\
Without a command all are run. Exit codes: 0 everything was run, whether or not its goals were met,
1 a failure, 2 wrong usage, 3 something could not be run (the report says what and why), 130 interrupted.";

/// Measures netassay against its goals and beside its peers
#[derive(Debug, Parser)]
#[command(name = "netassay-bench", version, after_help = AFTER, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    common: Common,
}

#[cfg(test)]
impl Cli {
    /// The options of `load`, for tests of what they mean.
    pub(crate) fn load(&self) -> Option<&Load> {
        match &self.command {
            Some(Command::Load(load)) => Some(load),
            _ => None,
        }
    }
}

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Print JSON, one document for each bench
    #[arg(long, global = true)]
    json: bool,
    /// Tiny counts: shows that the bench works, and nothing else
    #[arg(long, global = true)]
    pub(crate) smoke: bool,
    /// The netassay binary; left out: the one beside this program
    #[arg(long, global = true, value_name = "PATH")]
    netassay: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// How long the veth testbed, or another, takes to be built and to be gone
    Testbed(Testbed),
    /// How long a guest takes until its agent serves, beside QEMU to a busybox prompt
    GuestBoot(GuestBoot),
    /// Whether exact mode counts the same at each boot, on an idle machine and on a busy one
    Exact(Exact),
    /// How much CPU the controller takes while a run is under way
    Controller(Controller),
    /// How long `netassay --help` takes, beside /bin/true
    Startup(Startup),
    /// `netassay ministat` beside ministat, and inference on a million runs
    Stats(Stats),
    /// Time until a verdict, and wrong ones: published protocols and netassay's
    Verdict(Verdict),
    /// How much boots and runs differ on this machine
    Components(Components),
    /// netassay's traffic beside iperf3, nuttcp, iperf and sockperf
    Load(Load),
    /// (Internal) run a program in the namespaces of a testbed
    #[command(hide = true)]
    Inside(place::Inside),
    /// (Internal) talk to the shell in a guest of a testbed
    #[command(hide = true)]
    Relay(place::Relay),
    /// (Internal) the shell in a guest
    #[command(hide = true)]
    Shell,
    /// (Internal) an agent of a testbed
    #[command(hide = true)]
    Agent(in_place::Agent),
    /// (Internal) set up a namespace of a testbed
    #[command(hide = true)]
    Prepare(traffic::prepare::Prepare),
    /// (Internal) send a stream to `sink`
    #[command(hide = true)]
    Sends(traffic::sending::Sends),
    /// (Internal) take what `sends` sends
    #[command(hide = true)]
    Sink(traffic::sending::Sink),
    /// (Internal) tell when the interfaces of namespaces are gone
    #[command(hide = true)]
    Observe(observer::Observe),
}

/// Options of `testbed`.
#[derive(Debug, Args)]
pub(crate) struct Testbed {
    /// Which
    #[arg(long, value_enum, default_value_t = Wire::Veth)]
    pub(crate) scenario: Wire,
    /// As whom
    #[arg(long, value_enum, default_value_t = Mode::Both)]
    pub(crate) mode: Mode,
    /// How often each is built
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) count: u32,
}

/// The testbeds that are built and taken down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Wire {
    /// Two namespaces and a veth pair
    Veth,
    /// The same with a tunnel over it
    Vxlan,
}

/// Options of `guest-boot`.
#[derive(Debug, Args)]
pub(crate) struct GuestBoot {
    /// What both guests boot: an image, a directory with one, or a package that `netassay kernel fetch` brought
    #[arg(long, default_value = "linux-image-cloud-amd64")]
    pub(crate) kernel: String,
    /// A static busybox; left out: the machine's
    #[arg(long, value_name = "PATH")]
    pub(crate) busybox: Option<PathBuf>,
    /// How often each boots
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
}

/// Options of `exact`.
#[derive(Debug, Args)]
pub(crate) struct Exact {
    /// What is booted: an image, a directory with one, or a package that `netassay kernel fetch` brought; may be given several times
    #[arg(long = "kernel", value_name = "KERNEL", default_value = "linux-image-cloud-amd64")]
    pub(crate) kernels: Vec<String>,
    /// How often each is booted on an idle machine, and as often on a busy one
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) boots: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// With root's privileges and in a user namespace
    Both,
    /// With root's privileges
    Root,
    /// In a user namespace
    Rootless,
}

/// Options of `controller`.
#[derive(Debug, Args)]
pub(crate) struct Controller {
    /// How long each observed run is, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
    pub(crate) seconds: u64,
    /// How often each way of showing progress is observed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
}

/// Options of `startup`.
#[derive(Debug, Args)]
pub(crate) struct Startup {
    /// How often each program is started
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) count: u32,
}

/// Options of `stats`.
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Only this part; may be given several times
    #[arg(long = "part", value_name = "NAME", value_parser = statistics::part)]
    pub(crate) parts: Vec<String>,
    /// Lines of a large file
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(3..=1_000_000_000))]
    pub(crate) lines: u64,
    /// Pairs of runs on large files, and times that inference is made
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) pairs: u32,
    /// Pairs of runs on a file of three lines
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: u32,
    /// Do not install ministat if it is missing, even as root
    #[arg(long)]
    pub(crate) no_install: bool,
}

/// Options of `verdict`. Spreads are standard deviations in % of the mean; those and the costs are by default what `components` saw
/// of `udp_stream` on the machine of `README.md`, which others were using.
#[derive(Debug, Args)]
pub(crate) struct Verdict {
    /// Instead of protocols: whether the intervals of 2 to 20 conditions hold together where these spread unequally, simulated
    #[arg(long, conflicts_with = "traffic")]
    pub(crate) families: bool,
    /// Simulated experiments of each protocol and difference
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) experiments: u32,
    /// Spread between boots, common to both conditions
    #[arg(long, default_value_t = 6.4, value_parser = verdict::spread)]
    pub(crate) boot_sd: f64,
    /// Spread of what a boot does to one condition only
    #[arg(long, default_value_t = 1.1, value_parser = verdict::spread)]
    pub(crate) interaction: f64,
    /// Spread between runs, however long they are
    #[arg(long, default_value_t = 6.3, value_parser = verdict::spread)]
    pub(crate) floor: f64,
    /// Spread between runs of 1 s beyond that; it falls with the root of their length
    #[arg(long, default_value_t = 4.6, value_parser = verdict::spread)]
    pub(crate) white: f64,
    /// Seconds that building a boot takes
    #[arg(long, default_value_t = 0.02, value_parser = verdict::seconds)]
    pub(crate) boot_cost: f64,
    /// Seconds that a run takes beyond ramp and window
    #[arg(long, default_value_t = 0.035, value_parser = verdict::seconds)]
    pub(crate) run_cost: f64,
    /// (c): the most boots; left out: planned for the difference
    #[arg(long, requires = "runs", value_parser = clap::value_parser!(u32).range(6..=1000))]
    pub(crate) boots: Option<u32>,
    /// (c): recorded runs of each condition in each boot; left out: planned
    #[arg(long, requires = "boots", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: Option<u32>,
    /// (c): the probability, as planned, that the difference is proven
    #[arg(long, default_value_t = 0.9, value_parser = verdict::power)]
    pub(crate) power: f64,
    /// (c): from the threads' start to the window, in seconds
    #[arg(long, default_value_t = 0.1, value_parser = verdict::seconds)]
    pub(crate) ramp: f64,
    /// (c): the window of each run, in seconds
    #[arg(long, default_value_t = 0.2, value_parser = verdict::length)]
    pub(crate) window: f64,
    /// Instead: how often looks err without a difference, and how far off the differences are that they choose. Simulated, 50 times as
    /// many experiments where a single comparison is judged
    #[arg(long, conflicts_with = "traffic")]
    pub(crate) looks: bool,
    /// Instead: what pilots of a few boots know of the spread, and what power the sizes have that are planned from them
    #[arg(long, conflicts_with_all = ["traffic", "looks"])]
    pub(crate) pilots: bool,
    /// Measure real traffic too
    #[arg(long)]
    pub(crate) traffic: bool,
    /// Minutes of real traffic
    #[arg(long, default_value_t = 10.0, value_parser = verdict::minutes)]
    pub(crate) minutes: f64,
    /// The windows of R1's protocol on real traffic, in seconds; the original's are 10
    #[arg(long, default_value_t = 0.5, value_parser = verdict::length)]
    pub(crate) r1_window: f64,
}

/// Options of `components`.
#[derive(Debug, Args)]
pub(crate) struct Components {
    /// Only this workload (tcp_stream, udp_stream, udp_rr); may be given several times
    #[arg(long = "workload", value_name = "KIND", value_parser = traffic::kind)]
    pub(crate) kinds: Vec<load::Kind>,
    /// No runs longer than this, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10))]
    pub(crate) longest: u64,
}

/// Options of `load`. Options that name things may be given several times. Without them everything
/// runs, over IPv4.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// Instead of the parts: writes and datagrams of every size, 1 to 64 flows, TCP with and
    /// without pacing, each beside the best of iperf3, netperf and neper, if installed
    #[arg(long, conflicts_with = "parts")]
    pub(crate) grid: bool,
    /// (--grid) Only this cell, such as tcp:64 or udp_rr:16, or this row of cells, such as tcp
    #[arg(long = "cell", value_name = "NAME", requires = "grid", value_parser = traffic::grid::cell)]
    pub(crate) cells: Vec<String>,
    /// (--grid) TCP only under this congestion control; by default cubic (reno where namespaces may
    /// not have cubic) and bbr
    #[arg(long = "congestion-control", value_name = "NAME", requires = "grid")]
    pub(crate) congestion_controls: Vec<String>,
    /// Only this part
    #[arg(long = "part", value_name = "NAME", value_enum)]
    pub(crate) parts: Vec<traffic::Part>,
    /// Only this scenario: veth, loopback, and with --grid vm, between two virtual machines, which
    /// runs only when it is asked for
    #[arg(long = "scenario", value_name = "NAME", value_parser = traffic::scenario)]
    pub(crate) scenarios: Vec<Scenario>,
    /// This family
    #[arg(long = "family", value_name = "NAME", value_parser = traffic::family, default_value = "ipv4")]
    pub(crate) families: Vec<Family>,
    /// Only this peer
    #[arg(long = "peer", value_name = "NAME", value_parser = crate::peers::named)]
    pub(crate) peers: Vec<&'static dyn crate::peers::Peer>,
    /// Pairs of runs with each peer; fewer than 6 give no interval; by default 7, with --grid 6
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) pairs: Option<u32>,
    /// The window of each run, in seconds; by default 0.5, with --grid 0.3, and between
    /// virtual machines 1
    #[arg(long, value_parser = traffic::window)]
    pub(crate) window: Option<f64>,
    /// (--scenario vm) What the virtual machines boot: an image, a directory with one, or a package
    /// that `netassay kernel fetch` brought
    #[arg(long, requires = "grid", default_value = "linux-image-cloud-amd64")]
    pub(crate) kernel: String,
    /// Only messages of this size, in bytes
    #[arg(long = "message", value_name = "BYTES")]
    pub(crate) messages: Vec<u32>,
    /// Do not install peers, and valgrind, that are missing, even as root
    #[arg(long)]
    pub(crate) no_install: bool,
}

/// Does what the command line asks.
pub(crate) fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    match &cli.command {
        Some(Command::Inside(inside)) => return place::serve(inside),
        Some(Command::Relay(relay)) => return place::relay(relay),
        Some(Command::Shell) => return place::shell(),
        Some(Command::Agent(agent)) => return in_place::serve(agent),
        Some(Command::Prepare(prepare)) => return traffic::prepare::serve(prepare),
        Some(Command::Sends(sends)) => return traffic::sending::sends(sends),
        Some(Command::Sink(sink)) => return traffic::sending::sink(sink),
        Some(Command::Observe(observe)) => return observer::serve(observe).map(|()| ExitCode::SUCCESS),
        _ => {}
    }
    let interrupt = interrupt::watch()?;
    let bench =
        Bench { common: &cli.common, netassay: Netassay::find(cli.common.netassay.as_deref())?, interrupt };
    let mut complete = true;
    match &cli.command {
        Some(command) => complete &= bench.one(command)?,
        None => {
            for command in everything()? {
                complete &= bench.one(&command)?;
            }
        }
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(NOT_RUN) })
}

/// Every bench with its defaults.
fn everything() -> Result<Vec<Command>, Failure> {
    let commands =
        ["testbed", "guest-boot", "exact", "controller", "startup", "stats", "verdict", "components", "load"]
            .map(|name| Cli::try_parse_from(["", name]));
    let parsed: Result<Vec<Cli>, _> = commands.into_iter().collect();
    let parsed = parsed.map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(parsed.into_iter().filter_map(|cli| cli.command).collect())
}

/// What every bench has at hand.
pub(crate) struct Bench<'a> {
    pub(crate) common: &'a Common,
    pub(crate) netassay: Netassay,
    pub(crate) interrupt: Interrupt,
}

impl Bench<'_> {
    /// Runs one bench and prints its report; false if something could not be run.
    fn one(&self, command: &Command) -> Result<bool, Failure> {
        let report = match command {
            Command::Testbed(options) => teardown::run(self, options)?,
            Command::GuestBoot(options) => guest_boot::run(self, options)?,
            Command::Exact(options) => exact::run(self, options)?,
            Command::Controller(options) => controller::run(self, options)?,
            Command::Startup(options) => startup::run(self, options)?,
            Command::Stats(options) => statistics::run(self, options)?,
            Command::Verdict(options) => verdict::run(self, options)?,
            Command::Components(options) => verdict::components::run(self, options)?,
            Command::Load(options) => traffic::run(self, options)?,
            Command::Inside(_)
            | Command::Relay(_)
            | Command::Shell
            | Command::Agent(_)
            | Command::Prepare(_)
            | Command::Sends(_)
            | Command::Sink(_)
            | Command::Observe(_) => {
                return Ok(true);
            }
        };
        self.print(&report)?;
        Ok(report.is_complete())
    }

    fn print(&self, report: &Report) -> Result<(), Failure> {
        let text = if self.common.json { report.json()? } else { report.to_string() };
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Nobody reads any more: nothing is left to do.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(Failure::io("cannot write to standard output")),
        }
    }

    /// What is being done, on standard error: a bench takes minutes.
    pub(crate) fn say(&self, what: &str) {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "{what}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn everything_is_all() {
        assert_eq!(everything().unwrap().len(), 9);
    }
}

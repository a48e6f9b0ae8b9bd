//! The command line, and which bench it runs.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::bench::{Bench, Common};
use crate::failure::{Failure, NOT_RUN};
use crate::report::Report;
use crate::{
    compare, connect, controller, exact, fleet, guest_boot, observer, pages, place, startup, statistics,
    teardown, trace, traffic, verdict,
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

#[derive(Debug, Subcommand)]
enum Command {
    /// How long the veth testbed, or another, takes to be built and to be gone
    Testbed(teardown::Options),
    /// How long a guest takes until its agent serves, beside QEMU to a busybox prompt
    GuestBoot(guest_boot::Options),
    /// Whether exact mode counts the same at each boot, on an idle machine and on a busy one
    Exact(exact::Options),
    /// What a traced packet costs, beside bpftrace at the same places
    Trace(trace::Options),
    /// How much CPU the controller takes while a run is under way
    Controller(controller::Options),
    /// How long `netassay --help` takes, beside /bin/true
    Startup,
    /// How long `netassay compare` and `gate` take for two stored studies of 1,000 runs
    Compare,
    /// How long two machines over ssh take to be ready, beside ssh alone
    Connect,
    /// How long `netassay report` takes for 10,000 runs, and its memory
    Report,
    /// How the cost of a fleet grows with its pairs: to import it, to report it, and memory
    Fleet(fleet::Options),
    /// `netassay ministat` beside ministat, and inference on a million runs
    Stats(statistics::Options),
    /// Time until a verdict, and wrong ones: published protocols and netassay's
    Verdict(verdict::Options),
    /// netassay's traffic beside iperf3, nuttcp, iperf and sockperf
    Load(traffic::Options),
    #[command(flatten)]
    Internal(Internal),
}

/// Parts of the bench that run as processes of their own.
#[derive(Debug, Subcommand)]
#[command(hide = true)]
enum Internal {
    /// Run a program in the namespaces of a testbed
    #[command(hide = true)]
    Inside(place::Inside),
    /// Have the shell in a guest of a testbed start this program
    #[command(hide = true)]
    Remote(place::Remote),
    /// The shell in a guest
    #[command(hide = true)]
    Shell,
    /// An agent of a testbed
    #[command(hide = true)]
    Agent,
    /// Write standard input to a file
    #[command(hide = true)]
    Put { path: std::path::PathBuf },
    /// Set up a namespace of a testbed
    #[command(hide = true)]
    Prepare(place::Prepare),
    /// Send a stream to `sink`
    #[command(hide = true)]
    Sends(traffic::Sends),
    /// Receive what `sends` sends
    #[command(hide = true)]
    Sink(traffic::Sink),
    /// Tell when the interfaces of namespaces are gone
    #[command(hide = true)]
    Observe(observer::Observe),
}

pub(crate) fn run(cli: Cli) -> Result<ExitCode, Failure> {
    if let Some(Command::Internal(internal)) = &cli.command {
        return internal.serve();
    }
    let bench = Bench::new(&cli.common)?;
    let mut complete = true;
    for command in cli.command.map_or_else(everything, |one| vec![one]) {
        let report = command.run(&bench)?;
        bench.print(&report)?;
        complete &= report.is_complete();
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(NOT_RUN) })
}

/// Every bench with its defaults.
fn everything() -> Vec<Command> {
    let names = [
        "testbed",
        "guest-boot",
        "exact",
        "trace",
        "controller",
        "startup",
        "compare",
        "connect",
        "report",
        "fleet",
        "stats",
        "verdict",
        "load",
    ];
    names.into_iter().filter_map(|name| Cli::parse_from(["", name]).command).collect()
}

impl Cli {
    /// The options of `load`, for tests of what they mean.
    #[cfg(test)]
    pub(crate) fn load(self) -> Option<traffic::Options> {
        match self.command {
            Some(Command::Load(load)) => Some(load),
            _ => None,
        }
    }
}

impl Command {
    fn run(&self, bench: &Bench) -> Result<Report, Failure> {
        match self {
            Self::Testbed(options) => teardown::run(bench, options),
            Self::GuestBoot(options) => guest_boot::run(bench, options),
            Self::Exact(options) => exact::run(bench, options),
            Self::Trace(options) => trace::run(bench, options),
            Self::Controller(options) => controller::run(bench, options),
            Self::Startup => startup::run(bench),
            Self::Compare => compare::run(bench),
            Self::Connect => connect::run(bench),
            Self::Report => pages::run(bench),
            Self::Fleet(options) => fleet::run(bench, options),
            Self::Stats(options) => statistics::run(bench, options),
            Self::Verdict(options) => verdict::run(bench, options),
            Self::Load(options) => traffic::run(bench, options),
            Self::Internal(_) => Err(Failure::failed("this is no bench")),
        }
    }
}

impl Internal {
    fn serve(&self) -> Result<ExitCode, Failure> {
        match self {
            Self::Inside(inside) => return inside.serve(),
            Self::Remote(remote) => return remote.serve(),
            Self::Shell => place::shell()?,
            Self::Agent => place::agent()?,
            Self::Put { path } => place::put(path, std::io::stdin())?,
            Self::Prepare(prepare) => prepare.serve()?,
            Self::Sends(sends) => sends.serve()?,
            Self::Sink(sink) => sink.serve()?,
            Self::Observe(observe) => observer::serve(observe)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound_and_everything_is_all() {
        Cli::command().debug_assert();
        assert_eq!(everything().len(), 13);
    }
}

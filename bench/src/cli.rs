//! The command line, and what it sets going.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::bench::{Bench, Common};
use crate::failure::{Failure, NOT_RUN};
use crate::netassay::Netassay;
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
    pub(crate) fn load(&self) -> Option<&traffic::Options> {
        match &self.command {
            Some(Command::Load(load)) => Some(load),
            _ => None,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// How long the veth testbed, or another, takes to be built and to be gone
    Testbed(teardown::Options),
    /// How long a guest takes until its agent serves, beside QEMU to a busybox prompt
    GuestBoot(guest_boot::Options),
    /// Whether exact mode counts the same at each boot, on an idle machine and on a busy one
    Exact(exact::Options),
    /// How much CPU the controller takes while a run is under way
    Controller(controller::Options),
    /// How long `netassay --help` takes, beside /bin/true
    Startup(startup::Options),
    /// `netassay ministat` beside ministat, and inference on a million runs
    Stats(statistics::Options),
    /// Time until a verdict, and wrong ones: published protocols and netassay's
    Verdict(verdict::Options),
    /// How much boots and runs differ on this machine
    Components(verdict::components::Options),
    /// netassay's traffic beside iperf3, nuttcp, iperf and sockperf
    Load(traffic::Options),
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
    Agent,
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

/// Does what the command line asks.
pub(crate) fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    match &cli.command {
        Some(Command::Inside(inside)) => return place::serve(inside),
        Some(Command::Relay(relay)) => return place::relay(relay),
        Some(Command::Shell) => return place::shell(),
        Some(Command::Agent) => return in_place::serve(),
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
        Some(command) => complete &= one(&bench, command)?,
        None => {
            for command in everything()? {
                complete &= one(&bench, &command)?;
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

/// Runs one bench and prints its report; false if something could not be run.
fn one(bench: &Bench<'_>, command: &Command) -> Result<bool, Failure> {
    let report = match command {
        Command::Testbed(options) => teardown::run(bench, options)?,
        Command::GuestBoot(options) => guest_boot::run(bench, options)?,
        Command::Exact(options) => exact::run(bench, options)?,
        Command::Controller(options) => controller::run(bench, options)?,
        Command::Startup(options) => startup::run(bench, options)?,
        Command::Stats(options) => statistics::run(bench, options)?,
        Command::Verdict(options) => verdict::run(bench, options)?,
        Command::Components(options) => verdict::components::run(bench, options)?,
        Command::Load(options) => traffic::run(bench, options)?,
        Command::Inside(_)
        | Command::Relay(_)
        | Command::Shell
        | Command::Agent
        | Command::Prepare(_)
        | Command::Sends(_)
        | Command::Sink(_)
        | Command::Observe(_) => {
            return Ok(true);
        }
    };
    bench.print(&report)?;
    Ok(report.is_complete())
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

//! How long the veth testbed, or the one with a tunnel over it, takes to be built and to be gone.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;
use study::Scenario;

use crate::bench::{Bench, receiver};
use crate::failure::Failure;
use crate::figures::{cells, summary};
use crate::observer::{Observer, monotonic};
use crate::report::{Goal, Report};

/// Options of `testbed`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Which
    #[arg(long, value_enum, default_value_t = Testbed::Veth)]
    scenario: Testbed,
    /// As whom
    #[arg(long, value_enum, default_value_t = Mode::Both)]
    mode: Mode,
    /// How often each is built
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
}

/// The testbeds that are built and taken down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Testbed {
    /// Two namespaces and a veth pair
    Veth,
    /// The same with a tunnel over it
    Vxlan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// With root's privileges and in a user namespace
    Both,
    /// With root's privileges
    Root,
    /// In a user namespace
    Rootless,
}

/// Between two testbeds: what the kernel still has to tidy up of the watcher's own namespace must
/// not slow the next.
const PAUSE: Duration = Duration::from_millis(150);

/// One testbed's life, in ms.
#[derive(Debug, Clone, Copy, Serialize)]
struct Life {
    build_ms: f64,
    /// Until the agents were reaped.
    reaped_ms: f64,
    /// Until the interfaces were gone.
    gone_ms: Option<f64>,
}

/// `netassay-bench testbed`
pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    // Building and taking down together, in ms.
    let (scenario, goal) = match options.scenario {
        Testbed::Veth => (Scenario::Veth, 50.0),
        Testbed::Vxlan => (Scenario::Vxlan, 80.0),
    };
    let name = format!("testbed {scenario}");
    let mut report = Report::begin("testbed", &[name.as_str(), "median ms", "min ms", "max ms", "count"]);
    report.note("built: from nothing until both ends have their agents, addresses and steering");
    report.note("gone: the kernel has announced that the interfaces of both namespaces are unregistered (see README.md)");
    let rounds = (1, bench.or_smoke(options.count, 2));
    let mut results = json!({});
    for (mode, name) in [(Mode::Root, "root"), (Mode::Rootless, "rootless")] {
        if options.mode != Mode::Both && options.mode != mode {
            continue;
        }
        let rootless = mode == Mode::Rootless;
        if bench.rootless && !rootless {
            report.not_run("as root: it needs CAP_NET_ADMIN and CAP_SYS_ADMIN: run it as root");
            continue;
        }
        let lives = bench.in_turn(name, rounds, |_| life(bench, &mut report, (scenario, rootless)));
        if let Some([lives]) = report.or_not_run(name, lives)? {
            tell(&mut report, (name, goal), &lives);
            results[name] = json!(lives);
        }
    }
    Ok(report.finish(results))
}

fn life(bench: &Bench, report: &mut Report, (scenario, rootless): (Scenario, bool)) -> Result<Life, Failure> {
    bench.sleep(PAUSE)?;
    let start = Instant::now();
    let testbed = bench.testbed(scenario, rootless)?;
    let build = start.elapsed();
    for note in testbed.notes() {
        report.note(format!("{}: {note}", if rootless { "rootless" } else { "root" }));
    }

    let observer = Observer::start([testbed.transmitter.pid(), receiver(&testbed)?.pid()], rootless);
    let end = monotonic();
    drop(testbed);
    let reaped = monotonic().saturating_sub(end);
    let gone = observer.and_then(Observer::gone).map(|when| when.saturating_sub(end));
    bench.check()?;
    let gone = report.or_not_run("the end of the interfaces", gone)?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok(Life { build_ms: ms(build), reaped_ms: ms(reaped), gone_ms: gone.map(ms) })
}

fn tell(report: &mut Report, (name, goal): (&str, f64), lives: &[Life]) {
    /// A part of a life, if it was seen.
    type Part = (&'static str, fn(&Life) -> Option<f64>);
    const JUDGED: &str = "built and gone";
    const PARTS: [Part; 5] = [
        ("built", |life| Some(life.build_ms)),
        ("agents reaped", |life| Some(life.reaped_ms)),
        ("interfaces gone", |life| life.gone_ms),
        ("built and reaped", |life| Some(life.build_ms + life.reaped_ms)),
        (JUDGED, |life| Some(life.build_ms + life.gone_ms?)),
    ];
    for (part, of) in PARTS {
        // Left out as soon as one end was not seen: a summary of the others would look like one of
        // all.
        let Some(times) = lives.iter().map(of).collect::<Option<Vec<f64>>>().and_then(summary) else {
            continue;
        };
        report.row([format!("{name}: {part}")].into_iter().chain(cells(&times, 1)));
        if part == JUDGED {
            report.goals.push(Goal::under(format!("{name}: {part}, median"), times.median, goal, "ms"));
        }
    }
}

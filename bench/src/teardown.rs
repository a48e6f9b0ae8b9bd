//! How long the veth testbed, or the one with a tunnel over it, takes to be built and to be gone.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use study::Scenario;

use crate::bench::{Bench, by_name, receiver};
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::observer::{Observer, monotonic};
use crate::report::{Report, heading};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Which: veth, two namespaces and a veth pair; vxlan, the same with a tunnel over it
    #[arg(long, default_value = "veth", value_parser = scenario)]
    scenario: Scenario,
    /// As whom
    #[arg(long, value_enum, default_value_t = Mode::Both)]
    mode: Mode,
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
#[derive(Debug, Clone, Copy)]
struct Life {
    build: f64,
    /// Until the agents were reaped.
    reaped: f64,
    /// Until the interfaces were gone.
    gone: f64,
}

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let scenario = options.scenario;
    let mut report = Report::begin("testbed", &heading(&format!("testbed {scenario}"), "ms"));
    report.note("built: from nothing until both ends have their agents, addresses and steering");
    report.note("gone: the kernel has announced that the interfaces of both namespaces are unregistered (see README.md)");
    let rounds = (1, bench.rounds(20, 2));
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
            tell(&mut report, scenario, name, &lives);
        }
    }
    Ok(report.finish())
}

fn scenario(name: &str) -> Result<Scenario, String> {
    by_name(name, &[Scenario::Veth, Scenario::Vxlan])
}

fn life(bench: &Bench, report: &mut Report, (scenario, rootless): (Scenario, bool)) -> Result<Life, Failure> {
    bench.sleep(PAUSE)?;
    let start = Instant::now();
    let testbed = bench.testbed(scenario, rootless)?;
    let build = start.elapsed();
    for note in &testbed.notes {
        report.note(format!("{}: {note}", if rootless { "rootless" } else { "root" }));
    }
    let observer = Observer::start([testbed.transmitter.pid(), receiver(&testbed)?.pid()], rootless)?;
    let end = monotonic();
    drop(testbed);
    let reaped = monotonic().saturating_sub(end);
    let gone = observer.gone();
    bench.check()?;
    let gone = gone?.saturating_sub(end);
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok(Life { build: ms(build), reaped: ms(reaped), gone: ms(gone) })
}

fn tell(report: &mut Report, scenario: Scenario, name: &str, lives: &[Life]) {
    type Part = (&'static str, fn(&Life) -> f64);
    const JUDGED: &str = "built and gone";
    const PARTS: [Part; 5] = [
        ("built", |life| life.build),
        ("agents reaped", |life| life.reaped),
        ("interfaces gone", |life| life.gone),
        ("built and reaped", |life| life.build + life.reaped),
        (JUDGED, |life| life.build + life.gone),
    ];
    // Building and taking down together, in ms.
    let goal = if scenario == Scenario::Vxlan { 80.0 } else { 50.0 };
    for (part, of) in PARTS {
        let times: Vec<f64> = lives.iter().map(of).collect();
        let Some(all) = report.figures(&format!("{name}: {part}"), &times, 1) else { continue };
        if part == JUDGED {
            let what = format!("{name}: {part}, median");
            report.goals.push(Goal::new(what, all.median, Bound::Under(goal), "ms"));
        }
    }
}

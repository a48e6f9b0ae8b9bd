//! How long the veth testbed, or the one with a tunnel over it, takes to be built and to be gone.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::json;
use study::Scenario;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::netassay::{no_root, receiver};
use crate::observer::Observer;
use crate::report::{Goal, Report};
use crate::spread::Spread;
use crate::table::Table;
use crate::{clock, interrupt};

/// Options of `testbed`.
#[derive(Debug, Args)]
pub(crate) struct Options {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
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

impl Wire {
    fn scenario(self) -> Scenario {
        match self {
            Self::Veth => Scenario::Veth,
            Self::Vxlan => Scenario::Vxlan,
        }
    }

    /// Building and taking down together, in ms.
    fn goal(self) -> f64 {
        match self {
            Self::Veth => 50.0,
            Self::Vxlan => 80.0,
        }
    }
}

/// One testbed's life, in ms.
#[derive(Debug, Clone, Copy)]
struct Life {
    build: f64,
    /// Until the agents were reaped.
    reaped: f64,
    /// Until the interfaces were gone.
    gone: Option<f64>,
}

/// `netassay-bench testbed`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    let table = Table::new(
        1,
        [
            format!("testbed {}", options.scenario.scenario()).as_str(),
            "median ms",
            "min ms",
            "max ms",
            "count",
        ],
    );
    let mut report = Report::begin("testbed", table);
    report.note("built: from nothing until both ends have their agents, addresses and steering");
    report.note("gone: the kernel has announced that the interfaces of both namespaces are unregistered (see README.md)");
    let count = if bench.common.smoke { 2 } else { options.count };
    let mut results = serde_json::Map::new();
    for (mode, name) in [(Mode::Root, "root"), (Mode::Rootless, "rootless")] {
        if options.mode != Mode::Both && options.mode != mode {
            continue;
        }
        if let (Mode::Root, Some(why)) = (mode, no_root()) {
            report.not_run.push(format!("as root: {why}"));
            continue;
        }
        match lives(bench, &mut report, (options.scenario, mode == Mode::Rootless), count) {
            Ok(lives) => {
                let every: Vec<_> = lives
                    .iter()
                    .map(|life| json!({"build_ms": life.build, "reaped_ms": life.reaped, "gone_ms": life.gone}))
                    .collect();
                results.insert(name.to_owned(), every.into());
                tell(&mut report, (name, options.scenario.goal()), &lives);
            }
            Err(error) if error.is_interrupt() => return Err(error),
            Err(error) => report.not_run.push(format!("{name}: {error}")),
        }
    }
    report.results = results.into();
    Ok(report.finish())
}

fn lives(
    bench: &Bench<'_>,
    report: &mut Report,
    what: (Wire, bool),
    count: u32,
) -> Result<Vec<Life>, Failure> {
    // The first is not counted: it loads what later ones find in memory.
    life(bench, report, what)?;
    (0..count).map(|_| life(bench, report, what)).collect()
}

fn life(bench: &Bench<'_>, report: &mut Report, (wire, rootless): (Wire, bool)) -> Result<Life, Failure> {
    interrupt::sleep(PAUSE, &bench.interrupt)?;
    let cpus = testbed::split(&host::affinity::usable());
    let start = Instant::now();
    let testbed = bench.netassay.testbed(wire.scenario(), &cpus, rootless, &bench.interrupt)?;
    let build = start.elapsed();
    for note in testbed.notes() {
        report.note(format!("{}: {note}", if rootless { "rootless" } else { "root" }));
    }

    let observer = Observer::start([testbed.transmitter.pid(), receiver(&testbed)?.pid()], rootless);
    let end = clock::monotonic()?;
    drop(testbed);
    let reaped = clock::monotonic()?.saturating_sub(end);
    let gone = match observer.and_then(Observer::gone) {
        Ok(when) => Some(when.saturating_sub(end)),
        Err(_) if bench.interrupt.is_tripped() => return Err(Failure::Interrupted),
        Err(error) => {
            let missing = format!("the end of the interfaces: {error}");
            if !report.not_run.contains(&missing) {
                report.not_run.push(missing);
            }
            None
        }
    };
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok(Life { build: ms(build), reaped: ms(reaped), gone: gone.map(ms) })
}

fn tell(report: &mut Report, (name, goal): (&str, f64), lives: &[Life]) {
    // `None` as soon as one end was not seen: a spread of the others would look like one of all.
    let over = |of: &dyn Fn(&Life) -> Option<f64>| {
        lives.iter().map(of).collect::<Option<Vec<f64>>>().and_then(Spread::of)
    };
    let parts: [(&str, Option<Spread>); 5] = [
        ("built", over(&|life| Some(life.build))),
        ("agents reaped", over(&|life| Some(life.reaped))),
        ("interfaces gone", over(&|life| life.gone)),
        ("built and reaped", over(&|life| Some(life.build + life.reaped))),
        ("built and gone", over(&|life| life.gone.map(|gone| life.build + gone))),
    ];
    for (part, spread) in parts {
        let Some(spread) = spread else { continue };
        let [median, min, max] = spread.cells(1);
        report.table.row([format!("{name}: {part}"), median, min, max, spread.count.to_string()]);
    }
    if let (_, Some(spread)) = parts[4] {
        report.goals.push(Goal::under(format!("{name}: built and gone, median"), spread.median, goal, "ms"));
    }
}

//! How long `netassay --help` takes, beside a program that does nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use serde_json::json;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::{Goal, Report};
use crate::spread::Spread;
use crate::table::Table;

/// Options of `startup`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often each program is started
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) count: u32,
}

/// `netassay --help`, in ms.
const GOAL: f64 = 5.0;
/// The program that does nothing.
const NOTHING: &str = "/bin/true";

/// `netassay-bench startup`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    let table = Table::new(1, ["program", "median ms", "min ms", "max ms", "count", "ratio of medians"]);
    let mut report = Report::begin("startup", table);
    report.note(
        "from before the fork until the process is reaped, its output going nowhere; the programs take turns",
    );
    let count = if bench.common.smoke { 3 } else { options.count };
    let program = bench.netassay.program.as_path();
    let commands: [(&str, &Path, &[&str]); 3] = [
        (NOTHING, Path::new(NOTHING), &[]),
        ("netassay --help", program, &["--help"]),
        ("netassay studies", program, &["studies"]),
    ];
    let mut times: [Vec<f64>; 3] = Default::default();
    // The first round is not counted: it brings the programs into memory.
    for round in 0..=count {
        for ((name, program, arguments), times) in commands.iter().zip(&mut times) {
            let time = once(name, program, arguments)?;
            if round > 0 {
                times.push(time);
            }
        }
        if bench.interrupt.is_tripped() {
            return Err(Failure::Interrupted);
        }
    }
    let spreads = times.each_ref().map(|times| Spread::of(times.iter().copied()));
    let [Some(nothing), ..] = spreads else {
        return Err(Failure::Internal("nothing was started".to_owned()));
    };
    for ((name, ..), spread) in commands.iter().zip(spreads) {
        let Some(spread) = spread else { continue };
        let [median, min, max] = spread.cells(2);
        let ratio = format!("{:.2}", spread.median / nothing.median);
        report.table.row([(*name).to_owned(), median, min, max, spread.count.to_string(), ratio]);
        if name.ends_with("--help") {
            report.goals.push(Goal::under(format!("{name}, median"), spread.median, GOAL, "ms"));
        }
    }
    let results: serde_json::Map<_, _> = commands
        .iter()
        .zip(&times)
        .map(|((name, ..), times)| ((*name).to_owned(), json!({"ms": times})))
        .collect();
    report.results = results.into();
    Ok(report.finish())
}

/// Starts a program that must succeed, and returns how long it took in ms.
fn once(name: &str, program: &Path, arguments: &[&str]) -> Result<f64, Failure> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(Failure::io(format!("cannot start {name}")))?;
    let time = start.elapsed();
    if !status.success() {
        return Err(Failure::Environment(format!("{name} failed ({status})")));
    }
    Ok(time.as_secs_f64() * 1e3)
}

//! How long `netassay --help` takes, beside a program that does nothing.

use std::path::Path;

use clap::Args;
use serde_json::json;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::figures::{cells, summary};
use crate::report::{Goal, Report};
use crate::timed;

/// Options of `startup`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How often each program is started
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
}

/// `netassay --help`, in ms.
const GOAL: f64 = 5.0;

/// `netassay-bench startup`
pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let heading = ["program", "median ms", "min ms", "max ms", "count", "ratio of medians"];
    let mut report = Report::begin("startup", &heading);
    report.note(
        "from before the fork until the process is reaped, its output going nowhere; the programs take turns",
    );
    let netassay = bench.netassay.as_path();
    let commands: [(&str, &Path, &[&str]); 3] = [
        ("/bin/true", Path::new("/bin/true"), &[]),
        ("netassay --help", netassay, &["--help"]),
        ("netassay studies", netassay, &["studies"]),
    ];
    let times: [Vec<f64>; 3] = bench.in_turn("startup", (1, bench.or_smoke(options.count, 3)), |which| {
        let (_, program, arguments) = commands[which];
        Ok(timed::run(program, arguments, Path::new("/"))?.wall_ms)
    })?;
    let mut results = json!({});
    let nothing = summary(times[0].iter().copied()).map_or(f64::NAN, |times| times.median);
    for ((name, ..), times) in commands.iter().zip(&times) {
        results[name] = json!({"ms": times});
        let Some(times) = summary(times.iter().copied()) else { continue };
        let ratio = format!("{:.2}", times.median / nothing);
        report.row([(*name).to_owned()].into_iter().chain(cells(&times, 2)).chain([ratio]));
        if name.ends_with("--help") {
            report.goals.push(Goal::under(format!("{name}, median"), times.median, GOAL, "ms"));
        }
    }
    Ok(report.finish(results))
}

//! How fast numbers become verdicts: the drop-in beside Debian's ministat, and all inference on a
//! million runs.

mod contest;
mod inference;

use clap::Args;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::installed;
use crate::report::Report;
use contest::{TASKS, Task};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only this part; may be given several times
    #[arg(long = "part", value_name = "NAME", value_parser = part)]
    parts: Vec<String>,
    /// Lines of a large file
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(3..=1_000_000_000))]
    lines: u64,
    /// Pairs of runs on large files, and times that inference is made
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// Pairs of runs on a file of three lines
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
}

/// The part without files.
const INFERENCE: &str = "inference";

/// A part of the bench by its name, for the command line.
fn part(name: &str) -> Result<String, String> {
    let names: Vec<&str> = TASKS.iter().map(|task| task.name).chain([INFERENCE]).collect();
    if names.contains(&name) { Ok(name.to_owned()) } else { Err(format!("use one of {}", names.join(", "))) }
}

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let heading = [
        "ministat …",
        "netassay ms",
        "ministat ms",
        "ratio",
        "min",
        "max",
        "pairs",
        "netassay MiB",
        "ministat MiB",
    ];
    let mut report = Report::begin("stats", &heading);
    let Options { lines, pairs, repeats, .. } = *options;
    let (lines, pairs, repeats) = bench.or_smoke((lines, pairs, repeats), (2000, 1, 3));
    report.note(format!(
        "files of {lines} lines from a fixed seed, in the page cache; netassay is a copy of the built one, as an installed one \
         is; the programs take turns, and say the same to the byte; ratio = ministat / netassay, of each pair; medians, and the smallest and largest ratio"
    ));
    let is_wanted = |name: &str| options.parts.is_empty() || options.parts.iter().any(|part| part == name);
    let tasks: Vec<Task> = TASKS.into_iter().filter(|task| is_wanted(task.name)).collect();
    if !tasks.is_empty()
        && let Some(ministat) = installed::program_of_package("ministat", &mut report)
    {
        contest::run(bench, &tasks, ministat, (lines, pairs, repeats), &mut report)?;
    }
    // Last: what this process has needed by now would count for the programs that it starts.
    if is_wanted(INFERENCE) {
        inference::run(bench, pairs, &mut report)?;
    }
    Ok(report.finish())
}

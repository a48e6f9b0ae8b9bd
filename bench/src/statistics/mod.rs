//! How fast numbers become verdicts: the drop-in beside Debian's ministat, and all inference on a
//! million runs.

mod comparison;
mod contest;
mod inference;
mod material;

use clap::Args;
use serde_json::json;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::installed;
use crate::report::Report;
use crate::table::Table;
use crate::timed;
use contest::{Contest, Sides, TASKS, Task};
use material::Material;

/// Options of `stats`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only this part; may be given several times
    #[arg(long = "part", value_name = "NAME", value_parser = part)]
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

/// The program that netassay is measured against, and its Debian package.
const MINISTAT: &str = "ministat";

/// `netassay compare` on files: not a contest, for the peer has no such thing.
const COMPARE: &str = "compare";
/// Inference without files, and its size: boots, and runs of each of 200 conditions in each.
const INFERENCE: &str = "inference";
const BOOTS: u32 = 25;
const RUNS: usize = 200;

/// A part of the bench by its name, for the command line.
pub(crate) fn part(name: &str) -> Result<String, String> {
    let names = || TASKS.iter().map(|task| task.name).chain([COMPARE, INFERENCE]);
    if names().any(|one| one == name) {
        return Ok(name.to_owned());
    }
    Err(format!("use one of {}", names().collect::<Vec<_>>().join(", ")))
}

/// `netassay-bench stats`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
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
    let mut report = Report::begin("stats", Table::new(1, heading));
    let (lines, pairs, repeats) =
        if bench.common.smoke { (2000, 1, 3) } else { (options.lines, options.pairs, options.repeats) };
    report.note(format!(
        "files of {lines} lines from a fixed seed, in the page cache; netassay is a copy of the built one, as an installed one \
         is; the programs take turns, and say the same to the byte; ratio = ministat / netassay, of each pair; medians, and the smallest and largest ratio"
    ));
    let wanted = |name: &str| options.parts.is_empty() || options.parts.iter().any(|part| part == name);
    let tasks: Vec<&Task> = TASKS.iter().filter(|task| wanted(task.name)).collect();
    let mut contests = Vec::new();
    let material = Material::new(lines)?;
    let floor = timed::own_peak_mib();
    if !tasks.is_empty()
        && let Some(ministat) =
            installed::program_of_package(bench, MINISTAT, !options.no_install, &mut report)
    {
        let sides = Sides { netassay: &material.installed(&bench.netassay.program)?, ministat: &ministat };
        for task in tasks {
            let pairs = if task.is_small { repeats } else { pairs };
            let contest = Contest::hold(bench, &sides, task, &material, pairs)?;
            contest.tell(floor, &mut report);
            contests.push(contest);
        }
    }
    let compared = match wanted(COMPARE) {
        true => comparison::tell(bench, &material, lines, pairs, floor, &mut report)?,
        false => serde_json::Value::Null,
    };
    material.clear()?;
    // Last: what this process has needed by now would count for the programs that it starts.
    let inference = match wanted(INFERENCE) {
        true if bench.common.smoke => inference::tell(bench, 3, 2, 1, &mut report)?,
        true => inference::tell(bench, BOOTS, RUNS, options.pairs, &mut report)?,
        false => serde_json::Value::Null,
    };
    report.results = json!({"lines": lines, "floor_mib": floor, "ministat": contests, "compare": compared, "inference": inference});
    Ok(report.finish())
}

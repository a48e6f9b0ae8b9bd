//! netassay ministat and ministat, in turn, on the same files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::bench::{Bench, temporary_directory};
use crate::failure::Failure;
use crate::figures::{Ratios, cells, summary};
use crate::goal::Goal;
use crate::normal::normal;
use crate::process::{Timed, own_peak_mib, timed};
use crate::report::Report;

/// How many times as fast netassay must be.
const FASTER: f64 = 5.0;
/// How long a program must run for its time to say more of its work than of its start, in ms.
const WORK: f64 = 20.0;
/// Standard deviation of the numbers, around the throughput of a TCP stream in Mbit/s, to the
/// kilobit.
const SD: f64 = 120.0;

/// What both are told to do, with files of which names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) name: &'static str,
    options: &'static [&'static str],
    files: &'static [Content],
}

/// A file: its name, and the mean of its numbers. The same on every machine, drawn from a fixed
/// seed into a directory that goes with the bench.
#[derive(Debug)]
struct Content {
    name: &'static str,
    seed: u64,
    mean: f64,
    /// Are there words around the number, which is in the second column?
    is_text: bool,
    /// Are there three numbers, whatever is asked for? Then it is over so soon that it is repeated
    /// often, and judged by "no slower".
    is_small: bool,
}

const NUMBERS: Content =
    Content { name: "numbers.stat", seed: 1, mean: 9400.0, is_text: false, is_small: false };
const OTHERS: Content = Content { name: "others.stat", seed: 2, mean: 9353.0, ..NUMBERS };
const THREE: Content = Content { name: "three.stat", seed: 0, is_small: true, ..NUMBERS };
const TEXT: Content = Content { name: "text.stat", seed: 3, is_text: true, ..NUMBERS };

pub(super) const TASKS: [Task; 5] = [
    Task { name: "three", options: &[], files: &[THREE] },
    Task { name: "numbers", options: &["-n"], files: &[NUMBERS] },
    Task { name: "plot", options: &[], files: &[NUMBERS] },
    Task { name: "two", options: &["-A"], files: &[NUMBERS, OTHERS] },
    Task { name: "column", options: &["-n", "-C", "2"], files: &[TEXT] },
];

impl Content {
    /// Writes the file, if it is not there.
    fn write(&self, directory: &Path, lines: u64) -> io::Result<()> {
        let path = directory.join(self.name);
        if path.exists() {
            return Ok(());
        }
        let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        for line in 0..if self.is_small { 3 } else { lines } {
            let number = self.mean + SD * normal(&mut random);
            match self.is_text {
                true => writeln!(out, "run-{line:08} {number:.3} tcp_stream ipv4 offloads=default")?,
                false => writeln!(out, "{number:.3}")?,
            }
        }
        // On the disk before anything is timed: writing it out later would be in somebody's time.
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

/// Lets netassay and `ministat` do the tasks in turn, after once that is not counted: `pairs`
/// times, and `repeats` times what is small. What they say must be equal.
pub(super) fn run(
    bench: &Bench,
    tasks: &[Task],
    ministat: PathBuf,
    (lines, pairs, repeats): (u64, u32, u32),
    report: &mut Report,
) -> Result<(), Failure> {
    let floor = own_peak_mib();
    let directory = temporary_directory()?;
    let here = directory.path();
    // A program, installed: copied. A linker leaves its output in the page cache in pieces of a
    // page each, which costs it a fifth of its start (16 page faults more, 0.2 ms on the machine
    // where this was seen) for as long as they stay there.
    let copy = here.join("netassay");
    std::fs::copy(&bench.netassay, &copy).map_err(Failure::io("cannot copy netassay"))?;
    let sides = [copy, ministat];
    for task in tasks {
        let write = |content: &Content| content.write(here, lines);
        task.files.iter().try_for_each(write).map_err(Failure::io("cannot write a file"))?;
        let names = task.files.iter().map(|content| content.name);
        let words: Vec<&str> = task.options.iter().copied().chain(names).collect();
        let own_words = [&["ministat"], words.as_slice()].concat();
        let words_of = [own_words.as_slice(), &words];
        let is_small = task.files[0].is_small;
        let rounds = (1, if is_small { repeats } else { pairs });
        let mut said = None;
        let both = bench.in_turn(task.name, rounds, |side| {
            let (took, output) = timed(&sides[side], words_of[side], here)?;
            if *said.get_or_insert_with(|| output.clone()) == output {
                return Ok(took);
            }
            let words = words.join(" ");
            Err(Failure::Environment(format!(
                "netassay ministat {words} and ministat {words} say different things"
            )))
        })?;
        tell(report, &words.join(" "), is_small, floor, &both);
        let [netassay, ministat] = both;
        report.result(task.name, json!({"netassay": netassay, "ministat": ministat}));
    }
    Ok(())
}

/// Puts a task into the report.
fn tell(report: &mut Report, words: &str, is_small: bool, floor: f64, both: &[Vec<Timed>; 2]) {
    let of =
        |figure: fn(&Timed) -> f64| both.each_ref().map(|side| side.iter().map(figure).collect::<Vec<f64>>());
    let (times, sizes) = (of(|took| took.wall_ms), of(|took| took.peak_mib));
    let median = |figures: &Vec<f64>| summary(figures.iter().copied()).map_or(f64::NAN, |all| all.median);
    let (ms, mib) = (times.each_ref().map(median), sizes.each_ref().map(median));
    let (Some(faster), Some(smaller)) = (Ratios::of(&times[1], &times[0]), Ratios::of(&sizes[1], &sizes[0]))
    else {
        return;
    };
    let decimals = if ms[1] < WORK { 3 } else { 1 };
    // What is not above the floor was not seen.
    let is_seen = mib.iter().all(|mib| *mib > floor);
    let shown = mib.map(|mib| if is_seen { format!("{mib:.1}") } else { "-".to_owned() });
    let times = ms.map(|ms| format!("{ms:.decimals$}"));
    report.row([words.to_owned()].into_iter().chain(times).chain(cells(&faster.all, 2)).chain(shown));
    if let (true, Some((low, high))) = (is_small, faster.interval) {
        report.note(format!(
            "{words}: the median ratio's 95 % interval is {low:.3} to {high:.3} (order statistics of the pairs); slower means that all \
             of it lies below 1"
        ));
        let what = format!("{words}, upper end of the median ratio's interval");
        report.goals.push(Goal::ratio(what, high, 1.0));
    }
    if !is_small {
        report.goals.push(Goal::ratio(format!("{words}, time"), faster.all.median, FASTER));
        let memory = Goal::ratio(format!("{words}, memory"), smaller.all.median, 1.0);
        report.goals.extend(is_seen.then_some(memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let read = |content: &Content| {
            content.write(directory.path(), 5).unwrap();
            std::fs::read_to_string(directory.path().join(content.name)).unwrap()
        };
        assert_ne!(read(&NUMBERS), read(&OTHERS));
        for (content, column, lines) in [(THREE, 0, 3), (NUMBERS, 0, 5), (OTHERS, 0, 5), (TEXT, 1, 5)] {
            let text = read(&content);
            let number =
                |line: &str| line.split(' ').nth(column).is_some_and(|word| word.parse::<f64>().is_ok());
            assert!(text.lines().all(number) && text.lines().count() == lines, "{text}");
        }
    }
}

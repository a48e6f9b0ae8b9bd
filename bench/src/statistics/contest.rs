//! netassay ministat and ministat, in turn, on the same files.

use std::path::Path;

use serde::Serialize;

use super::material::{Content, Material};
use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::{Goal, Report};
use crate::spread::{Spread, median_interval};
use crate::timed::{self, Timed};

/// How many times as fast netassay must be.
const FASTER: f64 = 5.0;
/// How long a program must run for its time to say more of its work than of its start, in ms.
const WORK: f64 = 20.0;

/// What both are told to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) name: &'static str,
    pub(super) options: &'static [&'static str],
    pub(super) files: &'static [Content],
    /// Is it over so soon that it is repeated often, and judged by "no slower"?
    pub(super) is_small: bool,
}

/// The tasks of the goals.
pub(super) const TASKS: [Task; 5] = [
    Task { name: "three", options: &[], files: &[Content::Three], is_small: true },
    Task { name: "numbers", options: &["-n"], files: &[Content::Numbers], is_small: false },
    Task { name: "plot", options: &[], files: &[Content::Numbers], is_small: false },
    Task {
        name: "two",
        options: &["-A"],
        files: &[Content::Numbers, Content::OtherNumbers],
        is_small: false,
    },
    Task { name: "column", options: &["-n", "-C", "2"], files: &[Content::Text], is_small: false },
];

/// The two programs.
#[derive(Debug)]
pub(super) struct Sides<'a> {
    pub(super) netassay: &'a Path,
    pub(super) ministat: &'a Path,
}

/// One pair of runs.
#[derive(Debug, Clone, Copy, Serialize)]
struct Pair {
    netassay: Timed,
    ministat: Timed,
}

/// All pairs of a task.
#[derive(Debug, Serialize)]
pub(super) struct Contest {
    task: &'static str,
    words: String,
    pairs: Vec<Pair>,
    #[serde(skip)]
    is_small: bool,
}

impl Contest {
    /// Lets both do the task `pairs` times in turn, after once that is not counted. What they say
    /// must be equal.
    pub(super) fn hold(
        bench: &Bench<'_>,
        sides: &Sides<'_>,
        task: &Task,
        material: &Material,
        pairs: u32,
    ) -> Result<Self, Failure> {
        let files = task.files.iter().map(|content| material.file(*content));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let words: Vec<&str> = task.options.iter().chain(&files).copied().collect();
        let own_words = [&["ministat"], words.as_slice()].concat();
        let mut contest =
            Self { task: task.name, words: words.join(" "), pairs: Vec::new(), is_small: task.is_small };
        for number in 0..=pairs {
            let (netassay, said) = timed::run(sides.netassay, &own_words, material.path())?;
            let (peers, peer_said) = timed::run(sides.ministat, &words, material.path())?;
            if said != peer_said {
                return Err(Failure::Environment(format!(
                    "netassay ministat {0} and ministat {0} say different things",
                    contest.words
                )));
            }
            if bench.interrupt.is_tripped() {
                return Err(Failure::Interrupted);
            }
            if number > 0 {
                contest.pairs.push(Pair { netassay, ministat: peers });
            }
            if number > 0 && !task.is_small {
                let ratio = peers.wall_ms / netassay.wall_ms;
                bench.say(&format!("stats, {} {number}/{pairs}: {ratio:.1}", task.name));
            }
        }
        Ok(contest)
    }

    /// Puts it into the report.
    pub(super) fn tell(&self, floor_mib: f64, report: &mut Report) {
        let over = |of: &dyn Fn(&Pair) -> f64| Spread::of(self.pairs.iter().map(of));
        let (Some(ratio), Some(own), Some(peers), Some(own_mib), Some(peers_mib)) = (
            over(&|pair| pair.ministat.wall_ms / pair.netassay.wall_ms),
            over(&|pair| pair.netassay.wall_ms),
            over(&|pair| pair.ministat.wall_ms),
            over(&|pair| pair.netassay.peak_mib),
            over(&|pair| pair.ministat.peak_mib),
        ) else {
            return;
        };
        let decimals = if peers.median < WORK { 3 } else { 1 };
        let ms = |spread: Spread| format!("{:.decimals$}", spread.median);
        // What is not above the floor was not seen.
        let seen = own_mib.median > floor_mib && peers_mib.median > floor_mib;
        let mib = |spread: Spread| if seen { format!("{:.1}", spread.median) } else { "-".to_owned() };
        let mut row = vec![self.words.clone(), ms(own), ms(peers)];
        row.extend(ratio.cells(2));
        row.extend([ratio.count.to_string(), mib(own_mib), mib(peers_mib)]);
        report.table.row(row);

        if self.is_small {
            let ratios: Vec<f64> =
                self.pairs.iter().map(|pair| pair.ministat.wall_ms / pair.netassay.wall_ms).collect();
            let Some((low, high)) = median_interval(&ratios) else { return };
            report.note(format!(
                "{}: the median ratio's 95 % interval is {low:.3} to {high:.3} (order statistics of the pairs); \
                 slower means that all of it lies below 1",
                self.words
            ));
            let what = format!("{}, upper end of the median ratio's interval", self.words);
            report.goals.push(Goal::ratio(what, high, 1.0));
            return;
        }
        report.goals.push(Goal::ratio(format!("{}, time", self.words), ratio.median, FASTER));
        if seen {
            let memory = over(&|pair| pair.ministat.peak_mib / pair.netassay.peak_mib);
            let memory = memory.map_or(0.0, |memory| memory.median);
            report.goals.push(Goal::ratio(format!("{}, memory", self.words), memory, 1.0));
        }
    }
}

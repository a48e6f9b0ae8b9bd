//! netassay ministat and ministat, in turn, on the same files.

use std::path::PathBuf;

use serde::Serialize;
use stats::Summary;

use super::files::{Content, Files};
use crate::bench::Bench;
use crate::failure::Failure;
use crate::figures::{cells, median_interval, summary};
use crate::report::{Goal, Report};
use crate::timed::{self, Timed};

/// How many times as fast netassay must be.
const FASTER: f64 = 5.0;
/// How long a program must run for its time to say more of its work than of its start, in ms.
const WORK: f64 = 20.0;

/// What both are told to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) name: &'static str,
    options: &'static [&'static str],
    files: &'static [Content],
    /// Is it over so soon that it is repeated often, and judged by "no slower"?
    pub(super) is_small: bool,
}

impl Task {
    const fn large(name: &'static str, options: &'static [&'static str], files: &'static [Content]) -> Self {
        Self { name, options, files, is_small: false }
    }
}

/// The tasks of the goals.
pub(super) const TASKS: [Task; 5] = [
    Task { is_small: true, ..Task::large("three", &[], &[Content::Three]) },
    Task::large("numbers", &["-n"], &[Content::Numbers]),
    Task::large("plot", &[], &[Content::Numbers]),
    Task::large("two", &["-A"], &[Content::Numbers, Content::OtherNumbers]),
    Task::large("column", &["-n", "-C", "2"], &[Content::Text]),
];

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
    /// Lets netassay and ministat do the task `pairs` times in turn, after once that is not
    /// counted. What they say must be equal.
    pub(super) fn hold(
        bench: &Bench,
        sides: &[PathBuf; 2],
        task: &Task,
        files: &Files,
        pairs: u32,
    ) -> Result<Self, Failure> {
        let names = task.files.iter().map(|content| files.file(*content)).collect::<Result<Vec<_>, _>>()?;
        let words: Vec<&str> = task.options.iter().chain(&names).copied().collect();
        let own_words = [&["ministat"], words.as_slice()].concat();
        let words_of = [own_words.as_slice(), &words];
        let mut said = None;
        let [netassay, ministat] = bench.in_turn(task.name, (1, pairs), |side| {
            let (timed, output) = timed::read(&sides[side], words_of[side], files.path())?;
            if *said.get_or_insert_with(|| output.clone()) == output {
                return Ok(timed);
            }
            let words = words.join(" ");
            Err(Failure::Environment(format!(
                "netassay ministat {words} and ministat {words} say different things"
            )))
        })?;
        let pair = |(netassay, ministat)| Pair { netassay, ministat };
        let pairs = netassay.into_iter().zip(ministat).map(pair).collect();
        Ok(Self { task: task.name, words: words.join(" "), pairs, is_small: task.is_small })
    }

    fn over(&self, of: impl Fn(&Pair) -> f64) -> Vec<f64> {
        self.pairs.iter().map(of).collect()
    }

    /// Puts it into the report.
    pub(super) fn tell(&self, floor_mib: f64, report: &mut Report) {
        let ratios = self.over(|pair| pair.ministat.wall_ms / pair.netassay.wall_ms);
        let (Some(ratio), Some(own), Some(peers), Some(own_mib), Some(peers_mib)) = (
            summary(ratios.iter().copied()),
            summary(self.over(|pair| pair.netassay.wall_ms)),
            summary(self.over(|pair| pair.ministat.wall_ms)),
            summary(self.over(|pair| pair.netassay.peak_mib)),
            summary(self.over(|pair| pair.ministat.peak_mib)),
        ) else {
            return;
        };
        let decimals = if peers.median < WORK { 3 } else { 1 };
        let ms = |times: Summary| format!("{:.decimals$}", times.median);
        // What is not above the floor was not seen.
        let is_seen = own_mib.median > floor_mib && peers_mib.median > floor_mib;
        let mib = |size: Summary| if is_seen { format!("{:.1}", size.median) } else { "-".to_owned() };
        let times = [self.words.clone(), ms(own), ms(peers)];
        report.row(times.into_iter().chain(cells(&ratio, 2)).chain([mib(own_mib), mib(peers_mib)]));

        let words = &self.words;
        if self.is_small {
            let Some((low, high)) = median_interval(&ratios) else { return };
            report.note(format!(
                "{words}: the median ratio's 95 % interval is {low:.3} to {high:.3} (order statistics of the pairs); slower means that \
                 all of it lies below 1"
            ));
            let what = format!("{words}, upper end of the median ratio's interval");
            report.goals.push(Goal::ratio(what, high, 1.0));
            return;
        }
        report.goals.push(Goal::ratio(format!("{words}, time"), ratio.median, FASTER));
        let memory = summary(self.over(|pair| pair.ministat.peak_mib / pair.netassay.peak_mib));
        if let Some(memory) = memory.filter(|_| is_seen) {
            report.goals.push(Goal::ratio(format!("{words}, memory"), memory.median, 1.0));
        }
    }
}

//! The findings of a diagnosis, in figures and in words.

use serde::Serialize;

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// Values rise or fall from boot to boot.
    Drift,
    /// Values rise or fall inside boots.
    DriftInBoots,
    /// A boot stands out from the others.
    OutlyingBoot,
    /// A run stands out from the others of its boot.
    OutlyingRun,
    /// Runs fall into two or more clusters.
    SeveralModes,
    /// The first run of a boot is unlike those after it.
    FirstRun,
    /// All runs of a condition gave the same value.
    Constant,
}

/// The names of conditions and boots, and the known order of the runs.
#[derive(Clone, Copy)]
pub struct FlagNames<'a> {
    /// A condition by its number.
    pub condition: &'a dyn Fn(usize) -> String,
    /// A boot by its number, with its noun: `boot 3`.
    pub boot: &'a dyn Fn(u32) -> String,
    /// Whether boots are known; if not, each run counts as one and is called a value.
    pub knows_boots: bool,
    /// Whether the runs are in the order of measurement; otherwise it is that of the files.
    pub knows_order: bool,
}

/// A finding that a person should examine. No result leaves anything out because of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// The kind of suspicion.
    pub kind: FlagKind,
    /// The condition; `None` if it concerns all.
    pub condition: Option<usize>,
    /// The outlying boot, or that of the outlying run.
    pub boot: Option<u32>,
    /// Which recorded run of the condition in that boot, from 1; `None` for the whole boot.
    pub run: Option<usize>,
    /// The test's statistic: Student's t (drift, first run), a normal z (drift in boots), a
    /// studentised residual (outliers), the dip (modes), the number of runs (constant).
    pub statistic: f64,
    /// The chance of such a statistic or a more extreme one anywhere in a clean campaign, adjusted
    /// for all tests of this kind.
    pub p: f64,
    /// Its size. Drift: the change from the first boot to the last, in standard deviations between
    /// runs. Drift in boots: Kendall's tau. Outliers and first run: the distance from the rest, in
    /// standard deviations between runs. Modes: the dip. Constant: 0.
    pub size: f64,
}

impl Flag {
    pub(super) fn new(kind: FlagKind, statistic: f64, p: f64, size: f64) -> Flag {
        Flag { kind, condition: None, boot: None, run: None, statistic, p, size }
    }

    pub(super) fn in_condition(self, condition: usize) -> Flag {
        Flag { condition: Some(condition), ..self }
    }

    /// Finding, place, certainty and remedy: two sentences without the last full stop.
    pub fn sentence(&self, names: FlagNames<'_>) -> String {
        let how_sure = self.how_sure().map_or_else(String::new, |sure| format!(" ({sure})"));
        format!("{}{how_sure}. {}{}", self.finding(names), self.order(names), self.advice(names))
    }

    fn finding(&self, names: FlagNames<'_>) -> String {
        let (size, far) = (self.size, self.size.abs());
        let run = self.run.map_or_else(String::new, |run| format!("run {run} of "));
        let place = run + &self.boot.map_or_else(String::new, names.boot);
        let at = self.condition.map_or_else(String::new, |number| format!("{}: ", (names.condition)(number)));
        let directions = [("rise", "fall"), ("above", "below"), ("higher", "lower")];
        let [change, side, comparative] = directions.map(|(up, down)| if size < 0.0 { down } else { up });
        let noun = if names.knows_boots { "boot" } else { "value" };
        match self.kind {
            FlagKind::Drift => format!(
                "drift: values {change} by {far:.1} sd of a run from a condition's first {noun} to its last, on the mean of the conditions"
            ),
            FlagKind::DriftInBoots => format!(
                "drift in boots: values tend to {change} from run to run inside boots, Kendall's tau {size:.2}"
            ),
            FlagKind::OutlyingBoot => format!(
                "{at}outlying {noun}: {place} lies {far:.1} sd of a run {side} the mean of the {noun}s"
            ),
            FlagKind::OutlyingRun => {
                format!("{at}outlying run: {place} lies {far:.1} sd {side} the mean of its boot")
            }
            FlagKind::SeveralModes => {
                format!("{at}several modes: this looks like two or more clusters of runs, dip {size:.3}")
            }
            FlagKind::FirstRun => format!(
                "first run: the first recorded run of a boot is on average {far:.1} sd of a run {comparative} than those after it"
            ),
            FlagKind::Constant => format!("{at}constant: no run differs from another of its condition"),
        }
    }

    fn how_sure(&self) -> Option<String> {
        let test = match self.kind {
            FlagKind::Drift => "trend over boots",
            FlagKind::DriftInBoots => "Mann-Kendall",
            FlagKind::OutlyingBoot | FlagKind::OutlyingRun => "Grubbs",
            FlagKind::SeveralModes => "dip test",
            FlagKind::FirstRun => "paired t",
            FlagKind::Constant => return None,
        };
        Some(if self.p < 0.0001 { format!("{test}, p < 0.0001") } else { format!("{test}, p {:.4}", self.p) })
    }

    fn order(&self, names: FlagNames<'_>) -> &'static str {
        let rests_on_order =
            matches!(self.kind, FlagKind::Drift | FlagKind::DriftInBoots | FlagKind::FirstRun);
        if names.knows_order || !rests_on_order {
            return "";
        }
        "The order is that of the files, which do not say whether it is that of the measurement. "
    }

    fn advice(&self, names: FlagNames<'_>) -> &'static str {
        match self.kind {
            FlagKind::Drift => {
                "Look for what changes with time: heat, a disk or a log that fills, a neighbour. Conditions that are not \
                 interleaved differ by it"
            }
            FlagKind::DriftInBoots => {
                "Lengthen the warm-up until it is gone, and interleave the conditions inside each boot"
            }
            FlagKind::OutlyingBoot if !names.knows_boots => "Look at what else ran then; it is counted",
            FlagKind::OutlyingBoot => {
                "Compare its environment with the others' before you trust either; it is counted, repeat it if \
                 something was wrong"
            }
            FlagKind::OutlyingRun => {
                "Look at what else ran then; it is counted, and its boot's mean carries it"
            }
            FlagKind::SeveralModes => {
                "Look at the single runs, and fix what chooses between them: a CPU, a queue, a frequency"
            }
            FlagKind::FirstRun => "Add a warm-up run, or lengthen the one there is",
            FlagKind::Constant => {
                "Check that each run measured it anew, and that it is not capped, rounded or copied; a count that stays 0 \
                 may be right"
            }
        }
    }
}

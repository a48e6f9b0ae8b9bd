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
    /// Neighbouring runs are more alike, or less, than chance makes them.
    SerialCorrelation,
    /// A boot stands out from the others.
    OutlyingBoot,
    /// A run stands out from the others of its boot.
    OutlyingRun,
    /// Runs fall into two or more clusters.
    SeveralModes,
    /// The first run of a boot is unlike those after it.
    FirstRun,
    /// Values are piled at a ceiling.
    Saturation,
    /// A boot treated one of its conditions unlike the others.
    OutlyingCell,
    /// All runs of a condition gave the same value.
    Constant,
}

impl FlagKind {
    /// All of them, in the order of flags.
    pub const ALL: [FlagKind; 10] = [
        FlagKind::Drift,
        FlagKind::DriftInBoots,
        FlagKind::SerialCorrelation,
        FlagKind::OutlyingBoot,
        FlagKind::OutlyingRun,
        FlagKind::SeveralModes,
        FlagKind::FirstRun,
        FlagKind::Saturation,
        FlagKind::OutlyingCell,
        FlagKind::Constant,
    ];
}

/// The names of conditions and boots, and the known order of the runs.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// A condition by its number.
    pub condition: &'a dyn Fn(usize) -> String,
    /// A boot by its number, with its noun: `boot 3`.
    pub boot: &'a dyn Fn(u32) -> String,
    /// Whether boots are known; if not, each run counts as one and is called a value.
    pub knows_boots: bool,
    /// Whether the runs are in the order of measurement; otherwise it is that of the files.
    pub knows_order: bool,
}

/// The place of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunPlace {
    /// The boot's number.
    pub boot: u32,
    /// Which recorded run of the flag's condition in that boot, from 1; `None` for the whole boot.
    pub run: Option<usize>,
}

/// A finding that a person should examine. No result leaves anything out because of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flag {
    /// The kind of suspicion.
    pub kind: FlagKind,
    /// The condition; `None` if it concerns all.
    pub condition: Option<usize>,
    /// The outlying boot or run; empty without one.
    pub places: Vec<RunPlace>,
    /// The test's statistic: Student's t (drift, first run), a normal z (drift in boots, serial
    /// correlation), a studentised residual (outliers), the dip (modes), the number of values at
    /// the ceiling (saturation), the number of runs (constant).
    pub statistic: f64,
    /// The chance of such a statistic or a more extreme one anywhere in a clean campaign, adjusted
    /// for all tests of this kind.
    pub p: f64,
    /// Its size. Drift: the change from the first boot to the last, in standard deviations between
    /// runs. Drift in boots: Kendall's tau. Serial correlation: that of neighbours. Outliers and
    /// first run: the distance from the rest, in standard deviations between runs. Modes: the dip.
    /// Saturation: the % of the runs at the ceiling. Constant: 0.
    pub size: f64,
}

impl Flag {
    pub(super) fn new(kind: FlagKind, statistic: f64, p: f64, size: f64) -> Flag {
        Flag { kind, condition: None, places: Vec::new(), statistic, p, size }
    }

    pub(super) fn in_condition(self, condition: usize) -> Flag {
        Flag { condition: Some(condition), ..self }
    }

    pub(super) fn with_place(self, boot: u32, run: Option<usize>) -> Flag {
        Flag { places: vec![RunPlace { boot, run }], ..self }
    }

    /// The finding, its place, its certainty and the remedy, in two sentences without the last full
    /// stop.
    pub fn sentence(&self, names: Names<'_>) -> String {
        let how_sure = self.how_sure().map_or_else(String::new, |sure| format!(" ({sure})"));
        format!("{}{how_sure}. {}{}", self.finding(names), self.order(names), self.advice(names))
    }

    fn finding(&self, names: Names<'_>) -> String {
        let size = self.size;
        let at = self.condition.map_or_else(String::new, |number| format!("{}: ", (names.condition)(number)));
        let direction = |up: &'static str, down: &'static str| if size < 0.0 { down } else { up };
        let noun = if names.knows_boots { "boot" } else { "value" };
        match self.kind {
            FlagKind::Drift => format!(
                "drift: values {} by {:.1} sd of a run from a condition's first {noun} to its last, on the mean of the conditions",
                direction("rise", "fall"),
                size.abs()
            ),
            FlagKind::DriftInBoots => format!(
                "drift in boots: values tend to {} from run to run inside boots, Kendall's tau {size:.2}",
                direction("rise", "fall")
            ),
            FlagKind::SerialCorrelation => format!(
                "{at}serial correlation: neighbouring runs are {} than independent ones, correlation {size:.2}",
                direction("more alike", "less alike")
            ),
            FlagKind::OutlyingBoot => format!(
                "{at}outlying {noun}: {} lies {:.1} sd of a run {} the mean of {}",
                self.place(names),
                size.abs(),
                direction("above", "below"),
                if names.knows_boots { "the boots" } else { "the values" }
            ),
            FlagKind::OutlyingCell => format!(
                "{at}outlying boot: {} treats this condition unlike the others, {:.1} sd of a run {} what they predict",
                self.place(names),
                size.abs(),
                direction("above", "below")
            ),
            FlagKind::OutlyingRun => format!(
                "{at}outlying run: {} lies {:.1} sd {} the mean of its boot",
                self.place(names),
                size.abs(),
                direction("above", "below")
            ),
            FlagKind::SeveralModes => {
                format!("{at}several modes: this looks like two or more clusters of runs, dip {size:.3}")
            }
            FlagKind::FirstRun => format!(
                "first run: the first recorded run of a boot is on average {:.1} sd of a run {} than those after it",
                size.abs(),
                direction("higher", "lower")
            ),
            FlagKind::Saturation => {
                format!("{at}saturation: {size:.0} % of the runs are piled at the largest value")
            }
            FlagKind::Constant => format!("{at}constant: no run differs from another of its condition"),
        }
    }

    fn place(&self, names: Names<'_>) -> String {
        let place = |place: &RunPlace| match place.run {
            Some(run) => format!("run {run} of {}", (names.boot)(place.boot)),
            None => (names.boot)(place.boot),
        };
        self.places.iter().map(place).collect::<Vec<_>>().join(", ")
    }

    fn how_sure(&self) -> Option<String> {
        let test = match self.kind {
            FlagKind::Drift => "trend over boots",
            FlagKind::DriftInBoots => "Mann-Kendall",
            FlagKind::SerialCorrelation => "von Neumann",
            FlagKind::OutlyingBoot | FlagKind::OutlyingCell | FlagKind::OutlyingRun => "Grubbs",
            FlagKind::SeveralModes => "dip test",
            FlagKind::FirstRun => "paired t",
            FlagKind::Saturation => "binomial",
            FlagKind::Constant => return None,
        };
        Some(if self.p < 0.0001 { format!("{test}, p < 0.0001") } else { format!("{test}, p {:.4}", self.p) })
    }

    /// The reservation if the order of the runs is unknown.
    fn order(&self, names: Names<'_>) -> &'static str {
        let rests_on_order = matches!(
            self.kind,
            FlagKind::Drift | FlagKind::DriftInBoots | FlagKind::SerialCorrelation | FlagKind::FirstRun
        );
        if names.knows_order || !rests_on_order {
            return "";
        }
        "The order is that of the files, which do not say whether it is that of the measurement. "
    }

    fn advice(&self, names: Names<'_>) -> &'static str {
        match self.kind {
            FlagKind::Drift => {
                "Look for what changes with time: heat, a disk or a log that fills, a neighbour. Conditions that are not \
                 interleaved differ by it"
            }
            FlagKind::DriftInBoots => {
                "Lengthen the warm-up until it is gone, and interleave the conditions inside each boot"
            }
            FlagKind::SerialCorrelation if self.size < 0.0 => {
                "Look for what alternates from run to run, such as a CPU or a queue. High and low runs cancel, so the \
                 mean of a boot is more precise than that of as many independent runs"
            }
            FlagKind::SerialCorrelation => {
                "More runs per boot bring less than they seem to; space them out, or spend the time on boots"
            }
            FlagKind::OutlyingBoot if !names.knows_boots => "Look at what else ran then; it is counted",
            FlagKind::OutlyingBoot | FlagKind::OutlyingCell => {
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
            FlagKind::Saturation => {
                "If a limit holds them there, differences beyond it do not show; lift the limit, or measure what the work \
                 costs (CPU per packet) instead"
            }
            FlagKind::Constant => {
                "Check that each run measured it anew, and that it is not capped, rounded or copied; a count that stays 0 \
                 may be right"
            }
        }
    }
}

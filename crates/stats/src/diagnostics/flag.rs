//! What a diagnosis says, in figures and in words.

use serde::Serialize;

/// What looks wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Values rise or fall from boot to boot.
    Drift,
    /// Values rise or fall inside boots.
    DriftInBoots,
    /// Neighbouring runs are more alike, or less, than chance makes them.
    SerialCorrelation,
    /// A boot stands out from the others; with a condition: in that condition only.
    OutlyingBoot,
    /// A run stands out from the others of its boot.
    OutlyingRun,
    /// Runs fall into two or more clusters.
    SeveralModes,
    /// The first run of a boot is unlike those after it.
    FirstRun,
    /// Values are piled at a ceiling.
    Saturation,
}

/// Where something was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The boot's number.
    pub boot: u32,
    /// Which recorded run of the flag's condition in that boot, from 1; none if the whole boot is meant.
    pub run: Option<usize>,
}

/// Something that a person should look at. Nothing is left out of any result because of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flag {
    /// What looks wrong.
    pub kind: Kind,
    /// The condition in which; none if all were looked at together.
    pub condition: Option<usize>,
    /// The boot or the run that stands out; empty where none does.
    pub places: Vec<Place>,
    /// The test's statistic: Student's t (drift, first run), a normal z (drift in boots, serial correlation), a studentised
    /// residual (outliers), the dip (modes), the number of values at the ceiling (saturation).
    pub statistic: f64,
    /// The chance of such a statistic or a more extreme one anywhere in a clean campaign, adjusted for everything that was tested for
    /// flags of this kind.
    pub p: f64,
    /// How large it is. Drift: the change from the first boot to the last, in standard deviations between runs. Drift in
    /// boots: Kendall's tau. Serial correlation: that of neighbours. Outliers and first run: the distance from the rest, in
    /// standard deviations between runs. Modes: the dip. Saturation: the % of the runs that lie at the ceiling.
    pub size: f64,
}

impl Flag {
    /// What, where, how sure, and what to do, in two sentences. `label` names a condition.
    pub fn sentence(&self, label: impl Fn(usize) -> String) -> String {
        format!("{} ({}). {}", self.finding(label), self.how_sure(), self.advice())
    }

    fn finding(&self, label: impl Fn(usize) -> String) -> String {
        let size = self.size;
        let condition = self.condition.map(label);
        let at = condition.as_ref().map_or_else(String::new, |label| format!("{label}: "));
        let of = condition.as_ref().map_or_else(|| "all conditions".to_owned(), Clone::clone);
        let direction = |up: &'static str, down: &'static str| if size < 0.0 { down } else { up };
        match self.kind {
            Kind::Drift => format!(
                "drift: {of} {} by {:.1} sd of a run from the first boot to the last",
                direction("rose", "fell"),
                size.abs()
            ),
            Kind::DriftInBoots => format!(
                "drift in boots: values {} from run to run inside boots, Kendall's tau {size:.2}",
                direction("rise", "fall")
            ),
            Kind::SerialCorrelation => format!(
                "{at}serial correlation: neighbouring runs are {} than independent ones, correlation {size:.2}",
                direction("more alike", "less alike")
            ),
            Kind::OutlyingBoot => format!(
                "{at}outlying boot: {} lies {:.1} sd of a run {} the others",
                self.place(),
                size.abs(),
                direction("above", "below")
            ),
            Kind::OutlyingRun => format!(
                "{at}outlying run: {} lies {:.1} sd {} the others of that boot",
                self.place(),
                size.abs(),
                direction("above", "below")
            ),
            Kind::SeveralModes => {
                format!("{at}several modes: this looks like two or more clusters of runs, dip {size:.3}")
            }
            Kind::FirstRun => format!(
                "first run: the first recorded run of a boot is {:.1} sd of a run {} than those after it",
                size.abs(),
                direction("higher", "lower")
            ),
            Kind::Saturation => {
                format!("{at}saturation: {size:.0} % of the runs are piled at the largest value")
            }
        }
    }

    fn place(&self) -> String {
        let place = |place: &Place| match place.run {
            Some(run) => format!("run {run} of boot {}", place.boot),
            None => format!("boot {}", place.boot),
        };
        self.places.iter().map(place).collect::<Vec<_>>().join(", ")
    }

    fn how_sure(&self) -> String {
        let kind = match self.kind {
            Kind::Drift => "trend over boots",
            Kind::DriftInBoots => "Mann-Kendall",
            Kind::SerialCorrelation => "von Neumann",
            Kind::OutlyingBoot | Kind::OutlyingRun => "Grubbs",
            Kind::SeveralModes => "dip test",
            Kind::FirstRun => "paired t",
            Kind::Saturation => "binomial",
        };
        if self.p < 0.0001 { format!("{kind}, p < 0.0001") } else { format!("{kind}, p {:.4}", self.p) }
    }

    fn advice(&self) -> &'static str {
        match self.kind {
            Kind::Drift => {
                "Interleave the conditions so that it meets all alike, and look for what changes with time: heat, \
                 a disk or a log that fills, a neighbour"
            }
            Kind::DriftInBoots => {
                "Lengthen the warm-up until it is gone, and interleave the conditions inside each boot"
            }
            Kind::SerialCorrelation => {
                "More runs per boot bring less than they seem to; space them out, or spend the time on boots"
            }
            Kind::OutlyingBoot => {
                "Compare its environment with the others' before you trust either; it is counted, repeat it if \
                 something was wrong"
            }
            Kind::OutlyingRun => "Look at what else ran then; it is counted, and its boot's mean carries it",
            Kind::SeveralModes => {
                "Look at the single runs, and fix what chooses between them: a CPU, a queue, a frequency"
            }
            Kind::FirstRun => "Add a warm-up run, or lengthen the one there is",
            Kind::Saturation => {
                "Something else limits these runs, and differences do not show; lift the limit or measure what \
                 the work costs (CPU per packet) instead"
            }
        }
    }
}

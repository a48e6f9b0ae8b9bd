//! A study: the parsed, valid file.

use words::{Scenario, Value, Workload};

use crate::model::{
    BootState, ComparisonSpec, Factor, LevelIndexes, Machines, OffloadDesign, Protocol, Selection, Tracing,
    Varied, combinations,
};

/// A study: the parsed, valid file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Study {
    /// Its name, of letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// The question it asks.
    pub question: String,
    /// Its workloads, before factors change them (a response that follows the factor `message` is 0
    /// here). Never empty.
    pub workloads: Vec<Workload>,
    /// Its factors in file order. Several workloads come first, as the factor `workload`.
    pub factors: Vec<Factor>,
    /// The combinations that are not measured, each with the reason.
    pub(crate) exclusions: Vec<(Selection, String)>,
    /// The number and the order of measurements.
    pub protocol: Protocol,
    pub(crate) requests: Vec<ComparisonSpec>,
    /// Whether the whole testbed stands inside one virtual machine.
    pub inside_guest: bool,
    /// Whether it counts instructions, in one emulated virtual machine, instead of time.
    pub exact: bool,
    /// The state for which its testbeds are built, before factors change it.
    pub(crate) boot: BootState,
    pub(crate) underlay_mtu: Option<u32>,
    /// The design, if it has one.
    pub design: Option<OffloadDesign>,
    /// The combinations of the design's factors, which are the last of `factors`; without a design,
    /// one empty combination.
    pub(crate) rows: Vec<Vec<bool>>,
    /// The changes of the machines on which it runs, if they are allowed.
    pub machine: Machines,
    /// The traces behind each recorded run, if there are any.
    pub tracing: Option<Tracing>,
    /// Why no conditions take turns under `alternate = "auto"`, with the remedy.
    pub turns_dropped: Option<String>,
    /// The text it was read from, to the byte.
    pub text: String,
}

impl Study {
    /// The kinds of testbed it runs on: one, unless `scenario` is a factor. Never empty.
    pub fn scenarios(&self) -> Vec<Scenario> {
        let factor = self.factors.iter().find(|factor| factor.subject == Varied::Scenario);
        factor.map_or_else(|| vec![self.boot.scenario], Factor::scenarios)
    }

    /// Their names, for people: `veth, vxlan`.
    pub fn scenario_names(&self) -> String {
        self.scenarios().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = LevelIndexes> {
        combinations::cells(&self.factors, &self.rows)
    }

    pub(crate) fn levels(&self, cell: &LevelIndexes) -> impl Iterator<Item = (&Factor, &Value)> {
        let levels = self.factors.iter().zip(cell).map(|(factor, &level)| (factor, &factor.values[level]));
        levels.take(self.undesigned())
    }

    pub(crate) fn designed(&self, cell: &LevelIndexes) -> Option<(&OffloadDesign, Vec<bool>)> {
        let design = self.design.as_ref()?;
        Some((design, combinations::row(&cell[self.undesigned()..])))
    }

    /// The number of factors outside of the design: they come first.
    pub(crate) fn undesigned(&self) -> usize {
        self.factors.len() - self.design.as_ref().map_or(0, |design| design.factors.len())
    }

    /// The factors that are settings of the machines themselves.
    pub fn machine_factors(&self) -> impl Iterator<Item = &str> {
        let of_machine = |factor: &&Factor| matches!(factor.subject, Varied::Tuning(..));
        self.factors.iter().filter(of_machine).map(|factor| factor.name.as_str())
    }
}

//! A study: the parsed, valid file.

use words::{Scenario, Value, Workload};

use crate::model::{combinations, BootState, Cell, ComparisonRequest, Design, Exclusion, Factor, LooksDropped, Machines, Protocol, Subject, Tracing};

/// A study: the parsed, valid file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Study {
    pub(crate) name: String,
    pub(crate) question: String,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) factors: Vec<Factor>,
    pub(crate) exclusions: Vec<Exclusion>,
    pub(crate) protocol: Protocol,
    pub(crate) requests: Vec<ComparisonRequest>,
    pub(crate) inside_guest: bool,
    pub(crate) exact: bool,
    /// The state for which its testbeds are built, before factors change it.
    pub(crate) boot: BootState,
    pub(crate) underlay_mtu: Option<u32>,
    pub(crate) design: Option<Design>,
    /// The combinations of the design's factors, which are the last of `factors`; without a design,
    /// one empty combination.
    pub(crate) rows: Vec<Vec<bool>>,
    pub(crate) machine: Machines,
    pub(crate) tracing: Option<Tracing>,
    pub(crate) looks_dropped: Option<LooksDropped>,
    /// Why conditions that could be switched in flight take no turns, if `alternate` is `auto`.
    pub(crate) turns_dropped: Option<String>,
    pub(crate) text: String,
}

impl Study {
    /// Its name, of letters, digits, `-`, `_` and `.`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The question it asks.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The kinds of testbed it runs on: one, unless `scenario` is a factor. Never empty.
    pub fn scenarios(&self) -> Vec<Scenario> {
        let factor = self.factors.iter().find(|factor| *factor.subject() == Subject::Scenario);
        factor.map_or_else(|| vec![self.boot.scenario], Factor::scenarios)
    }

    /// Their names, for people: `veth, vxlan`.
    pub fn scenario_names(&self) -> String {
        self.scenarios().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Whether the whole testbed stands inside one virtual machine.
    pub fn inside_guest(&self) -> bool {
        self.inside_guest
    }

    /// Whether it counts instructions instead of time: one emulated virtual machine, the same
    /// figures on every machine.
    pub fn exact(&self) -> bool {
        self.exact
    }

    /// The design, if it has one.
    pub fn design(&self) -> Option<&Design> {
        self.design.as_ref()
    }

    /// Its workloads, before factors change them (a response that follows the factor `message` is 0
    /// here). Never empty.
    pub fn workloads(&self) -> &[Workload] {
        &self.workloads
    }

    /// Its factors in file order. Several workloads come first, as the factor `workload`.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The number and the order of measurements.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Every combination of levels: those of the design, crossed with all others.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> {
        combinations::cells(&self.factors, &self.rows)
    }

    /// The factors outside of the design, with their levels in a combination.
    pub(crate) fn levels<'s>(&'s self, cell: &'s Cell) -> impl Iterator<Item = (&'s Factor, &'s Value)> {
        let levels = self.factors.iter().zip(cell).map(|(factor, &level)| (factor, factor.level(level)));
        levels.take(self.undesigned())
    }

    /// The design, and which of its factors are on in a combination.
    pub(crate) fn designed(&self, cell: &Cell) -> Option<(&Design, Vec<bool>)> {
        let design = self.design.as_ref()?;
        Some((design, combinations::row(&cell[self.undesigned()..])))
    }

    /// The number of factors outside of the design: they come first.
    pub(crate) fn undesigned(&self) -> usize {
        self.factors.len() - self.design.as_ref().map_or(0, |design| design.factors.len())
    }

    /// The factors that are settings of the machines themselves.
    pub fn machine_factors(&self) -> impl Iterator<Item = &str> {
        let of_machine = |factor: &&Factor| matches!(factor.subject(), Subject::Tuning(..));
        self.factors.iter().filter(of_machine).map(Factor::name)
    }

    /// The changes of the machine itself, or of the machines between which it runs, if they are
    /// allowed.
    pub fn machine(&self) -> &Machines {
        &self.machine
    }

    /// The traces behind each recorded run, if there are any.
    pub fn tracing(&self) -> Option<&Tracing> {
        self.tracing.as_ref()
    }

    /// The looks that the changes left no boots for, if they did.
    pub fn looks_dropped(&self) -> Option<LooksDropped> {
        self.looks_dropped
    }

    /// Why conditions that could be switched in flight take no turns, with the remedy, if
    /// `alternate` is `auto`.
    pub fn turns_dropped(&self) -> Option<&str> {
        self.turns_dropped.as_deref()
    }

    /// The text it was read from, to the byte.
    pub fn source_text(&self) -> &str {
        &self.text
    }
}

//! The trace of a path: this is its JSON.

use std::collections::BTreeSet;

use serde::Serialize;
use study::{Family, Scenario};
use trace::{ChosenStage, Journeys, ProbeCost, ProbeLadder, ResolvedStage, StageTime, TraceAccount};
use words::{Closure, Traffic};

use crate::counted;

/// The trace of a path, with one or several sizes of the message.
#[derive(Debug, Serialize)]
pub struct PathTraceReport {
    /// The version that traced it.
    pub netassay: &'static str,
    /// The command line.
    pub command: String,
    /// The name of the path.
    pub path: String,
    /// Its description.
    pub about: String,
    /// The testbed.
    pub scenario: Scenario,
    /// True if the testbed is inside a virtual machine.
    pub inside_guest: bool,
    /// The kernel that was traced.
    #[serde(flatten)]
    pub on: TracedMachine,
    /// Times are instructions.
    pub exact: bool,
    /// The version of IP.
    pub family: Family,
    /// Requests that could not be applied, as sentences without full stops.
    pub notes: Vec<String>,
    /// The other session that measured at the same time.
    pub disturbed: Option<String>,
    /// The stages, by their place in `stages`, for which another function stood with another size:
    /// rows that begin or end there are not of the same code.
    pub unlike: Vec<usize>,
    /// One for each size of the message.
    pub traces: Vec<SizedTrace>,
}

/// The machine whose kernel is traced.
#[derive(Debug, Default, Serialize)]
pub struct TracedMachine {
    /// Its name, if it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The release of its kernel.
    pub kernel: Option<String>,
    /// The version of its kernel.
    pub kernel_version: Option<String>,
    /// The command line of its kernel.
    pub kernel_command_line: Option<String>,
    /// The kernel as a clause.
    #[serde(skip)]
    pub described: String,
}

/// Paths with the places that a kernel offers to probe.
#[derive(Debug, Serialize)]
pub struct PathList {
    /// True for the kernel of a virtual machine.
    pub inside_guest: bool,
    /// The machine, if it is not this one.
    #[serde(flatten)]
    pub on: Option<TracedMachine>,
    /// The kinds of probe that the kernel allows, best first.
    pub probes: ProbeLadder,
    /// The paths.
    pub paths: Vec<ListedPath>,
}

/// A path of a list.
#[derive(Debug, Serialize)]
pub struct ListedPath {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub about: String,
    /// Its stages, each with what the kernel offers to probe.
    pub stages: Vec<ResolvedStage>,
}

/// An index of [`TraceAccount::stages`], and the function or tracepoint that stood for it.
pub type Place<'d> = (usize, &'d str);

/// The trace with one size of the message.
#[derive(Debug, Serialize)]
pub struct SizedTrace {
    /// The traffic.
    pub asked: Traffic,
    /// From stage to stage, of the way that most packets took.
    pub rows: Vec<StageTime>,
    /// From the first stage to the last with the fewest probes, less what they cost, in ns for a
    /// packet.
    pub whole: Option<f64>,
    /// The sum of the corrected stages as a share of `whole`.
    pub closure: Option<Closure>,
    /// True if that is near enough to the whole to trust them one by one.
    pub closes: bool,
    /// The cost of a probe of each kind, in ns.
    pub probes: Vec<(ProbeCost, f64)>,
    /// The packets that were followed, and the others.
    pub journeys: Journeys,
    /// The functions that take the CPU for a message, without probes; none if not asked for.
    pub functions: Vec<host::perf::FunctionCost>,
    /// The counts of the probes.
    pub account: TraceAccount,
}

impl SizedTrace {
    /// The trace of an account.
    pub fn new(asked: Traffic, account: TraceAccount, exact: bool) -> Self {
        let probes = account.one_more.iter().filter_map(|(kind, _)| Some((*kind, account.cost(*kind)?)));
        Self {
            asked,
            whole: account.time_of_way(),
            closure: account.closure(),
            closes: account.closure().is_some_and(|closure| closure.holds(exact)),
            probes: probes.collect(),
            rows: account.rows(),
            journeys: account.reading().journeys,
            functions: account.profile.iter().flat_map(host::perf::Profile::costs).collect(),
            account,
        }
    }

    /// The size of the message: `1400 bytes`.
    pub fn size(&self) -> String {
        counted(self.asked.message as usize, "byte")
    }

    /// The sum of the corrected stages, without waits.
    pub fn sum(&self) -> f64 {
        self.rows.iter().filter(|row| !row.waits).map(|row| row.corrected).sum()
    }

    /// The part of the sum that a row takes; `None` while the packet waits.
    pub fn part(&self, row: &StageTime) -> Option<f64> {
        // Costs less those of the probes may add up to zero, or less.
        (!row.waits).then(|| row.corrected / self.sum().max(1e-9))
    }

    /// By how much the stages do not close, and the way out; `None` if they close.
    pub fn breach(&self, exact: bool) -> Option<String> {
        let way_out = if exact { "" } else { ", or count instructions (exact=true)" };
        let breach = self.closure?.breach(exact)?;
        Some(format!("does not close: {breach}; more `trace.rounds` know the cost of probes better{way_out}"))
    }

    /// The row from one place to another.
    pub fn row(&self, step: [Place<'_>; 2]) -> Option<&StageTime> {
        self.rows.iter().find(|row| self.ends(row) == step)
    }

    fn ends(&self, row: &StageTime) -> [Place<'_>; 2] {
        [row.from, row.to].map(|stage| self.place(stage))
    }

    /// A stage with the function that stood for it.
    pub fn place(&self, stage: usize) -> Place<'_> {
        let seen = self.account.stages.get(stage).and_then(|stage| stage.seen.as_ref().ok());
        (stage, seen.map_or("", |seen| seen.name.as_str()))
    }

    /// Whether packets passed a stage.
    pub fn passes(&self, stage: usize) -> bool {
        self.rows.iter().any(|row| row.from == stage || row.to == stage)
    }
}

impl TracedMachine {
    /// A machine that is not this one, with its kernel.
    pub fn named(&self) -> Option<String> {
        let host = self.host.as_ref()?;
        Some(self.kernel.as_ref().map_or(host.clone(), |kernel| format!("{host} (kernel {kernel})")))
    }
}

impl PathTraceReport {
    /// The ends of which a message's CPU time is.
    pub fn at_ends(&self) -> &'static str {
        if self.scenario.is_of_namespaces() { "at both ends" } else { "at the transmitter" }
    }

    /// The traffic and its testbed.
    pub fn traffic(&self) -> String {
        let place = match self.on.named() {
            Some(named) => format!(" on {named}"),
            None if self.inside_guest => " inside a virtual machine".to_owned(),
            None => String::new(),
        };
        let kind = self.traces.first().map_or_else(String::new, |traced| traced.asked.kind.to_string());
        let sizes: Vec<String> = self.traces.iter().map(SizedTrace::size).collect();
        let apart = if self.scenario.is_of_namespaces() {
            ""
        } else {
            ", in the kernel of the transmitter; the receiver answers"
        };
        format!("{kind}, {}, {}, over {}{place}{apart}", sizes.join(" and "), self.family, self.scenario)
    }

    /// The kernel that was traced, and the command and the version that did it.
    pub fn origin(&self) -> [String; 2] {
        [self.on.described.clone(), format!("netassay {}: `{}`", self.netassay, self.command)]
    }

    /// From which place to which packets went, in the order of the path.
    pub fn steps(&self) -> Vec<[Place<'_>; 2]> {
        let of_sizes = self.traces.iter();
        let mut steps: Vec<[Place<'_>; 2]> =
            of_sizes.flat_map(|traced| traced.rows.iter().map(|row| traced.ends(row))).collect();
        steps.sort_by_key(|[from, to]| (*to, *from));
        steps.dedup();
        steps
    }

    /// The name of a place: its stage, or its function if that stood with another size.
    pub fn name(&self, (stage, function): Place<'_>) -> String {
        let stages = self.traces.first().map_or(&[][..], |traced| &traced.account.stages);
        let Some(chosen) = stages.get(stage) else { return String::new() };
        match self.unlike.contains(&stage) {
            true => ChosenStage { label: function.to_owned(), ..chosen.clone() }.name(),
            false => chosen.name(),
        }
    }

    /// The unit of figures.
    pub fn unit(&self) -> &'static str {
        if self.exact { "instructions" } else { "ns" }
    }
}

/// The stages for which another function stood with another size of the message.
pub fn mixed_stages(traces: &[SizedTrace]) -> Vec<usize> {
    let stages = traces.first().map_or(0, |traced| traced.account.stages.len());
    let functions = |stage: usize| {
        let passed = traces.iter().filter(move |traced| traced.passes(stage));
        passed.map(|traced| traced.place(stage)).collect::<BTreeSet<_>>()
    };
    (0..stages).filter(|stage| functions(*stage).len() > 1).collect()
}

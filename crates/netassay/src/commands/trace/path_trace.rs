//! The trace of a path: this is its JSON.

use std::collections::BTreeSet;

use results::counted;
use serde::Serialize;
use study::Closure;
use trace::{ChosenStage, Journeys, ProbeCost, StageTime, TraceAccount};

use super::place::OnMachine;

#[derive(Debug, Serialize)]
pub(super) struct PathTrace {
    pub(super) netassay: &'static str,
    pub(super) command: String,
    pub(super) path: String,
    pub(super) about: String,
    pub(super) scenario: study::Scenario,
    pub(super) inside_guest: bool,
    #[serde(flatten)]
    pub(super) on: OnMachine,
    /// Times are instructions.
    pub(super) exact: bool,
    pub(super) family: study::Family,
    pub(super) notes: Vec<String>,
    pub(super) disturbed: Option<String>,
    /// The stages, by their place in `stages`, for which another function stood with another size:
    /// rows that begin or end there are not of the same code.
    pub(super) unlike: Vec<usize>,
    /// One for each size of the message.
    pub(super) traces: Vec<SizedTrace>,
}

/// A stage, as an index of [`TraceAccount::stages`], and the function or tracepoint that stood for
/// it.
pub(super) type Place<'d> = (usize, &'d str);

/// The trace with one size of the message.
#[derive(Debug, Serialize)]
pub(super) struct SizedTrace {
    pub(super) asked: load::Traffic,
    /// From stage to stage, of the way that most packets took.
    pub(super) rows: Vec<StageTime>,
    /// From the first stage to the last with the fewest probes, less what they cost, in ns for a
    /// packet.
    pub(super) whole: Option<f64>,
    /// The sum of the corrected stages as a share of `whole`.
    pub(super) closure: Option<Closure>,
    /// True if that is near enough to the whole to trust them one by one.
    pub(super) closes: bool,
    /// The cost of a probe of each kind, in ns.
    pub(super) probes: Vec<(ProbeCost, f64)>,
    pub(super) journeys: Journeys,
    /// The functions that take the CPU for a message, without probes; none if that was not asked
    /// for.
    pub(super) functions: Vec<host::perf::FunctionCost>,
    pub(super) account: TraceAccount,
}

impl SizedTrace {
    pub(super) fn new(asked: load::Traffic, account: TraceAccount, exact: bool) -> Self {
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

    pub(super) fn size(&self) -> String {
        counted(self.asked.message as usize, "byte")
    }

    pub(super) fn sum(&self) -> f64 {
        self.rows.iter().filter(|row| !row.waits).map(|row| row.corrected).sum()
    }

    /// The part of the sum that a row takes; `None` while the packet waits.
    pub(super) fn part(&self, row: &StageTime) -> Option<f64> {
        (!row.waits).then(|| row.corrected / self.sum().max(1e-9))
    }

    /// That the stages do not close, by how much, and the way out.
    pub(super) fn breach(&self, exact: bool) -> Option<String> {
        let way_out = if exact { "" } else { ", or count instructions (exact=true)" };
        let breach = self.closure?.breach(exact)?;
        Some(format!("does not close: {breach}; more `trace.rounds` know the cost of probes better{way_out}"))
    }

    /// The row from one place to another.
    pub(super) fn row(&self, step: [Place<'_>; 2]) -> Option<&StageTime> {
        self.rows.iter().find(|row| self.ends(row) == step)
    }

    fn ends(&self, row: &StageTime) -> [Place<'_>; 2] {
        [row.from, row.to].map(|stage| self.place(stage))
    }

    pub(super) fn place(&self, stage: usize) -> Place<'_> {
        let seen = self.account.stages.get(stage).and_then(|stage| stage.seen.as_ref().ok());
        (stage, seen.map_or("", |seen| seen.name.as_str()))
    }

    pub(super) fn passes(&self, stage: usize) -> bool {
        self.rows.iter().any(|row| row.from == stage || row.to == stage)
    }
}

impl PathTrace {
    /// Whose CPU time a message's is.
    pub(super) fn whose(&self) -> &'static str {
        if self.scenario.is_of_namespaces() { "at both ends" } else { "at the transmitter" }
    }

    /// The traffic and its testbed.
    pub(super) fn traffic(&self) -> String {
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
    pub(super) fn origin(&self) -> [String; 2] {
        [self.on.described.clone(), format!("netassay {}: `{}`", self.netassay, self.command)]
    }

    /// From which place to which packets went, in the order of the path.
    pub(super) fn steps(&self) -> Vec<[Place<'_>; 2]> {
        let of_sizes = self.traces.iter();
        let mut steps: Vec<[Place<'_>; 2]> =
            of_sizes.flat_map(|traced| traced.rows.iter().map(|row| traced.ends(row))).collect();
        steps.sort_by_key(|[from, to]| (*to, *from));
        steps.dedup();
        steps
    }

    /// A place, as it is named: as its stage; by its function where another one stood for that with
    /// another size.
    pub(super) fn name(&self, (stage, function): Place<'_>) -> String {
        let stages = self.traces.first().map_or(&[][..], |traced| &traced.account.stages);
        let Some(chosen) = stages.get(stage) else { return String::new() };
        match self.unlike.contains(&stage) {
            true => ChosenStage { label: function.to_owned(), ..chosen.clone() }.name(),
            false => chosen.name(),
        }
    }

    /// The unit of figures.
    pub(super) fn unit(&self) -> &'static str {
        if self.exact { "instructions" } else { "ns" }
    }
}

/// The stages for which another function stood with another size of the message.
pub(super) fn unlike(traces: &[SizedTrace]) -> Vec<usize> {
    let stages = traces.first().map_or(0, |traced| traced.account.stages.len());
    let functions = |stage: usize| {
        let passed = traces.iter().filter(move |traced| traced.passes(stage));
        passed.map(|traced| traced.place(stage)).collect::<BTreeSet<_>>()
    };
    (0..stages).filter(|stage| functions(*stage).len() > 1).collect()
}

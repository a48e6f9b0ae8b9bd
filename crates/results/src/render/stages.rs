//! The explanation of the difference between two conditions on a traced path, stage by stage.

use serde::Serialize;
use stats::confidence;
use store::StoredStudy;

use crate::data::aligned::UnmatchedStage;
use crate::data::error::Error;
use crate::data::exact::RESOLUTION;
use crate::data::origin::TraceOrigin;
use crate::data::path_comparison::{PathPair, pairs};
use crate::data::profiled::{ProfilePair, Stacks, profile_pairs, stacks};
use crate::data::truth;
use crate::render::explained::{self, answer, ranked, row};
use crate::render::functions;
use crate::words::layout::Layout;
use crate::words::number::{counted, figure};
use crate::words::phrases::listed;
use crate::words::table::Table;

// The meaning of counts.
const EXACT: &str = "exact mode: instructions counted in an emulated guest with one CPU, not time";

/// The stages of a study's traced paths, under each two conditions that it compares.
#[derive(Debug, Serialize)]
pub struct StageDifferences {
    study: i64,
    name: String,
    question: String,
    /// `ns`, or `instructions`; for a packet.
    unit: &'static str,
    /// The confidence of all stages of a path together.
    confidence: f64,
    #[serde(flatten)]
    origin: TraceOrigin,
    pairs: Vec<PathPair>,
    /// By function, where runs were sampled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profiles: Vec<ProfilePair>,
    /// The sampled stacks.
    #[serde(skip)]
    stacks: Vec<Stacks>,
    truth: Option<&'static str>,
}

impl StageDifferences {
    /// Reads a study whose runs were traced.
    ///
    /// # Errors
    /// [`Error::NothingTraced`]; [`Error::Stats`] for data that the statistics refuse.
    pub fn new(stored: &StoredStudy, confidence: f64) -> Result<Self, Error> {
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question: stored.plan.asked.question.clone(),
            unit: unit(stored.plan.exact),
            confidence,
            origin: TraceOrigin::from_stored(stored),
            pairs: pairs(stored, confidence)?,
            profiles: profile_pairs(stored, confidence)?,
            stacks: stacks(stored),
            truth: if stored.plan.exact { Some(EXACT) } else { truth::truth(stored) },
        })
    }

    /// As a page.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = layout.hang(&format!("{}: {}\n", self.name, self.question), 2);
        for pair in &self.pairs {
            text.push('\n');
            text.push_str(&layout.hang(&format!("{}\n", self.head(pair)), 2));
            text.push_str(&self.table(pair).fit(layout));
            for sentence in self.sentences(pair) {
                text.push_str(&layout.hang(&format!("{sentence}\n"), 2));
            }
        }
        for pair in &self.profiles {
            text.push('\n');
            text.push_str(&layout.hang(&format!("{}\n", functions::head(pair, self.unit)), 2));
            text.push_str(&functions::table(pair).fit(layout));
            for sentence in functions::sentences(pair, self.unit) {
                text.push_str(&layout.hang(&format!("{sentence}\n"), 2));
            }
        }
        text.push('\n');
        for sentence in self.method() {
            text.push_str(&layout.hang(&format!("{sentence}\n"), 2));
        }
        text
    }

    /// The stacks that were sampled under each two conditions that the study compares.
    #[must_use]
    pub fn stacks(&self) -> &[Stacks] {
        &self.stacks
    }

    /// The kernels that were traced, and the version that did it, as a clause.
    #[must_use]
    pub fn origin(&self) -> String {
        self.origin.to_string()
    }

    /// `ns`, or `instructions`.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    fn head(&self, pair: &PathPair) -> String {
        let PathPair { path, reader, rest, .. } = pair;
        let (condition, baseline) = (&rest.condition, &rest.baseline);
        format!("{path}, readers {reader}: {condition} against {baseline}; {} for a packet", self.unit)
    }

    fn table(&self, pair: &PathPair) -> Table {
        let explained = &pair.explained;
        let mut table = explained::table("stage", explained);
        for place in ranked(explained) {
            let (from, to) = &pair.rest.stages[place];
            row(&mut table, &format!("{from} to {to}"), &explained.parts[place], explained);
        }
        if !pair.rest.stages.is_empty() {
            row(&mut table, "unexplained", &explained.unexplained, explained);
        }
        row(&mut table, "whole", &explained.whole, explained);
        table
    }

    /// The sentences below the table of a pair.
    fn sentences(&self, pair: &PathPair) -> Vec<String> {
        let (least, most) = pair.rest.closure;
        let close = format!(
            "closure: the stages of a run add up to {:.1} to {:.1} % of its whole",
            100.0 * least,
            100.0 * most
        );
        let mut said = vec![self.answer(pair), close];
        if let Some(open) = &pair.rest.open {
            let left = if pair.rest.stages.is_empty() { "no stage is judged" } else { "not in the table" };
            said.push(format!("{left}: {}", open.clause()));
        }
        said.extend(
            pair.rest.unmatched.iter().map(|one| unmatched(one, [&pair.rest.baseline, &pair.rest.condition])),
        );
        if pair.rest.lost > 0 {
            said.push(format!(
                "not in the table: {} whose packets were not followed",
                counted(pair.rest.lost, "run")
            ));
        }
        said
    }

    fn answer(&self, pair: &PathPair) -> String {
        let names: Vec<String> =
            pair.rest.stages.iter().map(|(from, to)| format!("{from} to {to}")).collect();
        answer(&pair.explained, &names, ["the whole", "stage", self.unit], pair.rest.runs)
    }

    fn method(&self) -> Vec<String> {
        let intervals = format!(
            "{} % intervals: boots are the replicates, compared inside a boot where it measured both",
            confidence(self.confidence)
        );
        let counts = format!(
            "more, less: a difference of more than {RESOLUTION} % of the baseline's whole is real, a smaller one is equivalent. Counts of one condition that are further apart than that are judged by a {} % interval, and inconclusive where it includes 0",
            confidence(self.confidence)
        );
        let is_exact = self.unit == unit(true);
        let stages = match is_exact {
            true => counts,
            false => format!("{intervals}; those of the stages of a path hold together (Holm)"),
        };
        let mut said = vec![
            format!("{stages}. Costs are less those of probes."),
            "share: of the difference of the whole; unexplained: what the whole, measured with the fewest probes, has beside the stages.".to_owned(),
        ];
        if !self.profiles.is_empty() {
            said.extend(is_exact.then(|| format!("{intervals}.")));
            said.push("functions: what each takes itself, by samples without probes; their intervals hold together (Holm), and rest on the spreads of all of them (Smyth).".to_owned());
        }
        said.push(format!("{}.", self.origin()));
        said.extend(self.truth.map(|truth| format!("{truth}.")));
        said
    }
}

/// The unit of the figures of a trace.
pub(crate) fn unit(exact: bool) -> &'static str {
    if exact { "instructions" } else { "ns" }
}

/// The reason why a stage is no boundary, and the place of its cost.
pub(crate) fn unmatched(one: &UnmatchedStage, names: [&str; 2]) -> String {
    let functions = |place: usize| {
        let names: Vec<&str> = one.seen_at[place].iter().map(String::as_str).collect();
        listed(&names)
    };
    let (stage, cost) = (&one.stage, one.cost());
    if let Some(moved) = one.moved {
        let moved = figure(moved);
        return format!(
            "{stage} is no boundary: up to {moved} instructions move across it from run to run; {cost}"
        );
    }
    match [0, 1].map(|place| one.seen_at[place].is_empty()) {
        [false, true] => format!("{stage} is seen with {} only; {cost}", names[0]),
        [true, false] => format!("{stage} is seen with {} only; {cost}", names[1]),
        _ if one.seen_at[0] == one.seen_at[1] => {
            format!("{stage} is not seen in every run, or not in the same order; {cost}")
        }
        _ => format!(
            "{stage} is seen at {} with {}, at {} with {}: unlike places are not compared; {cost}",
            functions(0),
            names[0],
            functions(1),
            names[1]
        ),
    }
}

//! What explains the difference between two conditions on a traced path, stage by stage.

use serde::Serialize;
use stats::{Comparison, Verdict, confidence, signed};
use store::StoredStudy;

use crate::data::aligned::Unmatched;
use crate::data::error::Error;
use crate::data::explained::{PathPair, pairs};
use crate::data::truth;
use crate::words::layout::Layout;
use crate::words::number::{counted, figure, percent, range};
use crate::words::phrases::list;
use crate::words::table::Table;

/// What counts are. Unlike those of a whole run, those of a stage have a spread: batches differ.
const EXACT: &str = "exact mode: instructions counted in an emulated guest with one CPU, not time";

/// The stages of a study's traced paths, under each two conditions that it compares.
#[derive(Debug, Serialize)]
pub struct Stages {
    study: i64,
    name: String,
    question: String,
    /// `ns`, or `instructions`; for a packet.
    unit: &'static str,
    /// Of all stages of a path together.
    confidence: f64,
    pairs: Vec<PathPair>,
    truth: Option<&'static str>,
}

impl Stages {
    /// Of a study whose runs were traced.
    ///
    /// # Errors
    /// [`Error::NothingTraced`]; what the statistics refuse.
    pub fn new(stored: &StoredStudy, confidence: f64) -> Result<Self, Error> {
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question: stored.plan.asked.question.clone(),
            unit: unit(stored.plan.exact),
            confidence,
            pairs: pairs(stored, confidence)?,
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
        text.push('\n');
        for sentence in self.method() {
            text.push_str(&layout.hang(&format!("{sentence}\n"), 2));
        }
        text
    }

    fn head(&self, pair: &PathPair) -> String {
        let PathPair { path, reader, rest, .. } = pair;
        let (condition, baseline) = (&rest.condition, &rest.baseline);
        format!("{path}, readers {reader}: {condition} against {baseline}; {} for a packet", self.unit)
    }

    fn table(&self, pair: &PathPair) -> Table {
        let heads = ["from", "to", "baseline", "this", "diff.", "share %", "interval", "verdict"];
        let mut table = Table::new(&heads).optional(&[2, 3]);
        let whole = &pair.explained.whole;
        let mut row = |from: &str, to: &str, one: &Comparison| {
            let cells = [
                from.to_owned(),
                to.to_owned(),
                figure(one.baseline_mean),
                figure(one.mean),
                signed(figure(one.difference)),
                share(one, whole),
                range(one.interval, |end| signed(figure(end_of(end, whole)))),
                verdict(one).to_owned(),
            ];
            table.row(&cells.each_ref().map(String::as_str));
        };
        for (place, stage) in ranked(pair) {
            row(&stage.0, &stage.1, &pair.explained.parts[place]);
        }
        if !pair.rest.stages.is_empty() {
            row("unexplained", "", &pair.explained.unexplained);
        }
        row("whole", "", whole);
        table
    }

    /// What is said of a pair below its table.
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
        let whole = &pair.explained.whole;
        let of_boots = format!("from {}, {}", counted(pair.boots, "boot"), counted(pair.rest.runs, "run"));
        let size = signed(figure(whole.difference));
        let changed = match whole.verdict {
            Verdict::Higher | Verdict::Lower => format!("the whole takes {size} {}", self.unit),
            Verdict::Inconclusive => format!(
                "the whole takes {size} {}, {}",
                self.unit,
                whole.gap.map_or("without an interval", gap_words)
            ),
            _ => format!("no difference of the whole is proven ({size} {})", self.unit),
        };
        let proven = |place: &usize| pair.explained.parts[*place].verdict.is_decided();
        let ranked = ranked(pair);
        let named: Vec<String> = ranked
            .iter()
            .filter(|(place, _)| proven(place))
            .map(|(place, (from, to))| {
                format!("{from} to {to} ({})", signed(figure(pair.explained.parts[*place].difference)))
            })
            .collect();
        let stages = match named.as_slice() {
            [] if pair.rest.stages.is_empty() => "no stage is judged".to_owned(),
            [] => "no stage is proven to differ".to_owned(),
            named => format!("proven to differ: {}", list(named)),
        };
        format!("{changed}; {stages}; {of_boots}")
    }

    fn method(&self) -> Vec<String> {
        let mut said = vec![
            format!(
                "{} % intervals: boots are the replicates, compared inside a boot where it measured both; those of the stages of a path hold together (Holm). Costs are less those of probes.",
                confidence(self.confidence)
            ),
            "share: of the difference of the whole; unexplained: what the whole, measured with the fewest probes, has beside the stages.".to_owned(),
        ];
        said.extend(self.truth.map(|truth| format!("{truth}.")));
        said
    }
}

/// What figures of a trace are in.
pub(crate) fn unit(exact: bool) -> &'static str {
    if exact { "instructions" } else { "ns" }
}

/// The stages with their places in the path, those first that explain most.
fn ranked(pair: &PathPair) -> Vec<(usize, &(String, String))> {
    let mut ranked: Vec<(usize, &(String, String))> = pair.rest.stages.iter().enumerate().collect();
    let size = |place: usize| pair.explained.parts[place].difference.abs();
    ranked.sort_by(|one, other| size(other.0).total_cmp(&size(one.0)));
    ranked
}

/// The end of an interval, without what is only the rounding of numbers as large as the whole.
fn end_of(end: f64, whole: &Comparison) -> f64 {
    if end.abs() < 1e-9 * whole.baseline_mean.abs() { 0.0 } else { end }
}

/// What a difference is of that of the whole; a dash where there is none to be explained.
fn share(one: &Comparison, whole: &Comparison) -> String {
    match whole.verdict {
        Verdict::NoDifferenceProven => "-".to_owned(),
        _ if whole.difference == 0.0 => "-".to_owned(),
        _ => percent(100.0 * one.difference / whole.difference),
    }
}

fn verdict(one: &Comparison) -> &'static str {
    match one.verdict {
        Verdict::Higher => "more",
        Verdict::Lower => "less",
        Verdict::NoDifferenceProven => "not proven",
        verdict => verdict.as_str(),
    }
}

fn gap_words(gap: stats::Gap) -> &'static str {
    match gap {
        stats::Gap::OneBootInCommon | stats::Gap::OneBoot => {
            "without an interval, which needs 2 boots or more"
        }
        gap => gap.as_str(),
    }
}

/// Why a stage is no boundary, and where its cost is.
pub(crate) fn unmatched(one: &Unmatched, names: [&str; 2]) -> String {
    let functions = |place: usize| {
        let names: Vec<&str> = one.seen_at[place].iter().map(String::as_str).collect();
        list(&names)
    };
    let (stage, cost) = (&one.stage, one.cost());
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

//! One comparison, worked out: a baseline and the conditions beside it, as a table and as sentences.

use serde::Serialize;
pub(crate) use stats::confidence as level;
use stats::diagnostics::Names;
use stats::{
    Against, Analysis, Comparison, Components, ConditionEstimate, Design, ErrorTerm, Ratio, Verdict, signed,
};
use study::metric::Better;

use crate::error::Error;
use crate::exact::Unlike;
use crate::method;
use crate::number::{figure, percent, plain};
use crate::remarks::remarks;
use crate::sentence::words;
use crate::spread;
use crate::subject::{BootNames, Subject};
use crate::table::Table;
use crate::truth;
use crate::why::Why;

/// One comparison, worked out.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    pub(crate) workload: String,
    pub(crate) metric: String,
    pub(crate) unit: String,
    /// Which direction is better; none where nobody says.
    better: Option<Better>,
    /// The condition that the others are compared with; none when all pairs are.
    pub(crate) baseline: Option<String>,
    /// The confidence of the intervals, as a probability; more than was asked for where several metrics share the error.
    pub(crate) level: f64,
    pub(crate) design: Design,
    pub(crate) error: ErrorTerm,
    pub(crate) conditions: Vec<Estimate>,
    pub(crate) rows: Vec<Row>,
    pub(crate) spread: Components,
    /// How the differences were judged, as sentences.
    pub(crate) method: Vec<String>,
    /// What a reader should know of the data. Nothing is left out of a verdict for it.
    pub(crate) flags: Vec<String>,
    /// What a reader must know of where the values come from.
    pub(crate) notes: Vec<String>,
    /// Which kind of truth the values are, if not time on a machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truth: Option<&'static str>,
    /// Conditions whose counts are not the same each time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unlike: Vec<Unlike>,
    /// Counts without noise were judged by this share, in %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolution: Option<f64>,
}

/// One condition by itself.
#[derive(Debug, Serialize)]
pub(crate) struct Estimate {
    pub(crate) label: String,
    #[serde(flatten)]
    pub(crate) estimate: ConditionEstimate,
}

/// One condition against another.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) label: String,
    /// The label of the condition that it is compared with.
    pub(crate) against: String,
    #[serde(flatten)]
    pub(crate) comparison: Comparison,
    /// What a proven difference means: faster, more CPU, worse; none where neither direction is better, or nobody says.
    pub(crate) quality: Option<&'static str>,
    /// The verdict, as a sentence.
    pub(crate) sentence: String,
    /// What must be said beside it: which run takes its percentage, which robust check disagrees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remarks: Vec<String>,
    /// Counters that differ as the two do, where the difference is large.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) why: Vec<Why>,
}

impl Row {
    /// Is there a difference, and is its direction sure?
    pub(crate) fn is_proven(&self) -> bool {
        matches!(self.comparison.verdict, Verdict::Higher | Verdict::Lower)
    }

    /// The verdict, with what it means: `lower (slower)`.
    pub(crate) fn verdict(&self) -> String {
        let quality = self.quality.map_or_else(String::new, |word| format!(" ({word})"));
        format!("{}{quality}", self.comparison.verdict)
    }

    /// What explains it, in words without a full stop; none where no counter does.
    pub(crate) fn why(&self) -> Option<String> {
        let sentences: Vec<&str> = self.why.iter().map(|why| why.sentence.as_str()).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

impl Group {
    /// Puts the answer to a subject's question into words.
    ///
    /// # Errors
    /// What the statistics refuse.
    pub(crate) fn of(subject: &Subject, analysis: Analysis) -> Result<Group, Error> {
        let label = |condition: usize| subject.label(condition);
        let baseline = match subject.question.against {
            Against::Baseline(baseline) => Some(label(baseline)),
            Against::AllPairs => None,
        };
        let method = method::sentences(subject, &analysis);
        let row = |comparison: Comparison| {
            let (name, against) = (label(comparison.condition), label(comparison.baseline));
            let named = if baseline.is_some() { name.clone() } else { format!("{name} against {against}") };
            let quality = match comparison.verdict {
                Verdict::Higher => subject.quality.and_then(|quality| quality.word(true)),
                Verdict::Lower => subject.quality.and_then(|quality| quality.word(false)),
                _ => None,
            };
            Row {
                sentence: comparison.sentence(&named, plain(&subject.unit), quality),
                label: name,
                quality,
                remarks: remarks(subject, &comparison),
                against,
                comparison,
                why: Vec::new(),
            }
        };
        Ok(Group {
            workload: subject.name.clone(),
            metric: subject.metric.clone(),
            unit: subject.unit.clone(),
            better: subject.quality.map(|quality| quality.better),
            level: analysis.level,
            design: analysis.design,
            error: analysis.error,
            conditions: analysis
                .conditions
                .into_iter()
                .map(|estimate| Estimate { label: label(estimate.condition), estimate })
                .collect(),
            rows: analysis.comparisons.into_iter().map(row).collect(),
            baseline,
            spread: analysis.components,
            method,
            flags: flags(subject)?,
            notes: subject.notes.clone(),
            truth: subject.truth,
            unlike: subject.unlike(),
            resolution: subject.resolution,
        })
    }

    /// Everything that there is to say, for people.
    pub(crate) fn text(&self) -> String {
        let mut text = self.table() + &truth::line(self.truth);
        text.push('\n');
        for row in &self.rows {
            text.push_str(&format!("{}.\n", row.sentence));
            for remark in &row.remarks {
                text.push_str(&format!("  {remark}.\n"));
            }
            if let Some(why) = row.why() {
                text.push_str(&format!("  why: {why}\n"));
            }
        }
        // Counts without noise have no spread to show.
        let is_measured = self.resolution.is_none();
        text.push('\n');
        if is_measured {
            text.push_str(&spread::of(&self.spread, plain(&self.unit), self.mean(), self.level));
        }
        if let Some(seen) = spread::seen(&self.rows, plain(&self.unit)) {
            text.push_str(&format!("Power: {seen}.\n"));
        }
        for (head, sentences) in [("Method", &self.method), ("Flag", &self.flags), ("Note", &self.notes)] {
            for sentence in sentences {
                text.push_str(&format!("{head}: {sentence}.\n"));
            }
        }
        text
    }

    /// How far boots and runs spread, and what difference would have been seen, in a sentence without a full stop; none where
    /// nothing tells it.
    pub(crate) fn spread_sentence(&self) -> Option<String> {
        if self.resolution.is_some() {
            return None;
        }
        let parts = spread::parts(&self.spread, self.mean());
        let metric = words(&self.metric);
        let metric = metric.trim_start_matches("the ");
        let seen =
            spread::seen(&self.rows, plain(&self.unit)).map_or(String::new(), |seen| format!("; {seen}"));
        (!parts.is_empty()).then(|| format!("{} of the mean {metric} (sd){seen}", parts.join(", ")))
    }

    /// The mean of all conditions.
    fn mean(&self) -> f64 {
        stats::mean(&self.conditions.iter().map(|one| one.estimate.mean).collect::<Vec<_>>())
    }

    fn table(&self) -> String {
        let interval = format!("{} % interval", level(self.level));
        // A file may call its metric like another column.
        let is_taken =
            ["condition", "difference", "in %", "boots", "verdict"].contains(&self.metric.as_str());
        let metric = if is_taken { format!("value ({})", self.metric) } else { self.metric.clone() };
        let head = ["condition", &metric, "difference", &interval, "in %", &interval, "boots", "verdict"];
        let unit = plain(&self.unit);
        let mut table = Table::new(&head).under(&["", unit, unit, unit, "", "in %"]);
        if self.baseline.is_none() {
            self.all_pairs(&mut table);
            return table.render();
        }
        for Estimate { label, estimate } in &self.conditions {
            let (mean, boots) = (figure(estimate.mean), estimate.boots.to_string());
            let Some(row) = self.rows.iter().find(|row| row.label == *label) else {
                table.row(&[label, &mean, "-", "", "-", "", &boots, "baseline"]);
                continue;
            };
            table.row(
                &[&[label.as_str(), &mean], cells(row).each_ref().map(String::as_str).as_slice()].concat(),
            );
        }
        table.render()
    }

    /// The conditions, then one row for each pair.
    fn all_pairs(&self, table: &mut Table) {
        for Estimate { label, estimate } in &self.conditions {
            table.row(&[label, &figure(estimate.mean), "-", "", "-", "", &estimate.boots.to_string(), ""]);
        }
        for row in &self.rows {
            let pair = format!("{} against {}", row.label, row.against);
            table
                .row(&[&[pair.as_str(), "-"], cells(row).each_ref().map(String::as_str).as_slice()].concat());
        }
    }
}

/// What looks odd about the runs that are compared.
fn flags(subject: &Subject) -> Result<Vec<String>, Error> {
    let (runs, label) = (subject.compared_observations(), |condition: usize| subject.label(condition));
    if subject.resolution.is_some() {
        // Those that do not repeat are said before all else.
        return Ok(Vec::new());
    }
    let boot = |number: u32| subject.boot(number);
    let names = Names {
        condition: &label,
        boot: &boot,
        knows_boots: !matches!(subject.boots, BootNames::Unknown),
        knows_order: matches!(subject.boots, BootNames::Numbered),
    };
    let flags = stats::diagnostics::diagnose(&runs)?;
    Ok(flags.iter().map(|flag| flag.sentence(names)).collect())
}

/// A comparison's cells of the table, from the difference on.
fn cells(row: &Row) -> [String; 6] {
    let comparison = &row.comparison;
    let [relative, relative_interval] =
        proportion(comparison, percent).unwrap_or(["-", "-"].map(str::to_owned));
    [
        figure(comparison.difference),
        range(comparison.interval, figure),
        relative,
        relative_interval,
        comparison.boots.to_string(),
        row.verdict(),
    ]
}

/// The size of a difference and its interval, in % of the baseline by `show`, else as so many times the baseline; none where neither
/// can be stated.
fn proportion(comparison: &Comparison, show: impl Fn(f64) -> String) -> Option<[String; 2]> {
    if let Some(relative) = comparison.relative {
        return Some([show(relative), range(comparison.relative_interval, show)]);
    }
    let Ratio { value, interval } = comparison.ratio?;
    Some([format!("{} times", times(value)), format!("{} (log scale)", range(Some(interval), times))])
}

/// The same where no column has the difference itself: in the metric's unit where there is no proportion, so that a size is
/// always shown.
pub(crate) fn size(comparison: &Comparison, unit: &str) -> [String; 2] {
    let signed_figure = |value| signed(figure(value));
    proportion(comparison, |value| signed(percent(value))).unwrap_or_else(|| {
        let in_unit = |shown: String| format!("{shown} {}", plain(unit)).trim_end().to_owned();
        let interval = range(comparison.interval, signed_figure);
        let interval = if comparison.interval.is_some() { in_unit(interval) } else { interval };
        [in_unit(signed_figure(comparison.difference)), interval]
    })
}

/// How many times the baseline, in three significant digits: `11.7`, `0.0853`.
pub(crate) fn times(ratio: f64) -> String {
    if !(1e-6..1e6).contains(&ratio) {
        return figure(ratio);
    }
    let decimals = (2.0 - ratio.log10().floor()).max(0.0) as usize;
    format!("{ratio:.decimals$}")
}

pub(crate) fn range(interval: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> String {
    interval.map_or_else(|| "-".to_owned(), |(low, high)| format!("{} to {}", show(low), show(high)))
}

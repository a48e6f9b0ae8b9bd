//! The result of one comparison, a baseline and other conditions, as a table and as sentences.

use serde::Serialize;
use stats::diagnostics::Names;
use stats::{Against, Analysis, Comparison, Components, ConditionEstimate, Design, ErrorTerm, Verdict};
use study::Name;
use study::metric::Better;

use crate::data::error::Error;
use crate::data::exact::UnequalCounts;
use crate::data::limits::ConditionLimit;
use crate::data::subject::{BootNames, Subject};
use crate::data::truth;
use crate::render::comparison_remarks::comparison_remarks;
use crate::render::comparison_row::{ComparisonRow, cells};
use crate::render::method;
use crate::render::spread;
use crate::render::summary_table::{ComparisonState, SummaryTable, tone};
use crate::words::layout::Layout;
use crate::words::names::as_text;
use crate::words::number::{figure, plain};
use crate::words::phrases::title;
use crate::words::table::Table;

/// The result of one comparison.
#[derive(Debug, Serialize)]
pub struct ComparisonGroup {
    /// The name of the workload.
    pub workload: String,
    /// The metric's key.
    pub metric: String,
    /// The metric's unit, as the vocabulary has it.
    pub unit: String,
    /// The better direction; `None` if unknown.
    pub better: Option<Better>,
    /// The condition that the others are compared with; `None` for all pairs.
    pub baseline: Option<String>,
    /// The confidence of the intervals, as a probability; higher than asked where several metrics
    /// share the error rate.
    pub level: f64,
    pub(crate) design: Design,
    pub(crate) error: ErrorTerm,
    /// The compared conditions, the baseline among them.
    pub conditions: Vec<ConditionMean>,
    /// One comparison each.
    pub rows: Vec<ComparisonRow>,
    /// The spread of boots and runs, in the metric's unit.
    pub spread: Components,
    /// The method, as sentences.
    pub(crate) method: Vec<String>,
    /// The effect of few boots, as a sentence without a full stop; `None` if it is small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) caution: Option<String>,
    /// Notes on the data. Verdicts use all of it nevertheless.
    pub flags: Vec<String>,
    /// Notes on the origin of the values.
    pub(crate) notes: Vec<String>,
    /// The kind of the values, if not time on a machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<&'static str>,
    /// Conditions whose counts do not repeat.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unlike: Vec<UnequalCounts>,
    /// The share, in %, by which counts without noise were judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
}

// The column of the verdict in the table with all figures.
const VERDICT: usize = 7;

/// One condition by itself.
#[derive(Debug, Serialize)]
pub struct ConditionMean {
    #[serde(serialize_with = "as_text")]
    /// Its name.
    pub label: Name,
    /// Its mean with its interval.
    #[serde(flatten)]
    pub estimate: ConditionEstimate,
    /// The limit of its runs; `None` if unknown.
    #[serde(skip)]
    pub limit: Option<ConditionLimit>,
}

impl ComparisonGroup {
    /// Puts the answer to a subject's question into words.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that the statistics refuse.
    pub(crate) fn from_analysis(subject: &Subject, analysis: Analysis) -> Result<ComparisonGroup, Error> {
        let label = |condition: usize| subject.label(condition);
        let baseline = match subject.question.against {
            Against::Baseline(baseline) => Some(label(baseline)),
            Against::AllPairs => None,
        };
        let method = method::sentences(subject, &analysis);
        let caution = method::few_boots(subject, &analysis).map(|few| few.warning());
        let row = |comparison: Comparison| {
            let (name, against) = (label(comparison.condition), label(comparison.baseline));
            let named = if baseline.is_some() { name.clone() } else { format!("{name} against {against}") };
            let quality = match comparison.verdict {
                Verdict::Higher => subject.quality.and_then(|quality| quality.word(true)),
                Verdict::Lower => subject.quality.and_then(|quality| quality.word(false)),
                _ => None,
            };
            ComparisonRow {
                sentence: comparison.sentence(&named, plain(&subject.unit), quality),
                label: name,
                is_without: subject.without.contains(&comparison.condition),
                quality,
                remarks: comparison_remarks(subject, &comparison),
                against,
                comparison,
                why: Vec::new(),
            }
        };
        Ok(ComparisonGroup {
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
                .map(|estimate| ConditionMean {
                    label: subject.name(estimate.condition),
                    estimate,
                    limit: None,
                })
                .collect(),
            rows: analysis.comparisons.into_iter().map(row).collect(),
            baseline,
            spread: analysis.components,
            method,
            caution,
            flags: flags(subject)?,
            notes: subject.notes.clone(),
            truth: subject.truth,
            unlike: subject.unlike(),
            resolution: subject.resolution,
        })
    }

    /// The text for people.
    pub(crate) fn text(&self, layout: Layout) -> String {
        let table = if layout.wide { self.table(layout) } else { self.summary().text(layout) };
        let mut text = table + &truth::line(self.truth);
        // Elsewhere an answer gives what a narrow table leaves out.
        if layout.wide || self.baseline.is_none() {
            text.push_str(&format!("\n{}", self.sentences()));
        }
        // Counts without noise have no spread.
        let is_measured = self.resolution.is_none();
        text.push('\n');
        if is_measured && layout.wide {
            text.push_str(&spread::text(&self.spread, plain(&self.unit), self.mean(), self.level, layout));
        }
        if let (true, Some(seen)) = (layout.wide, spread::seen(&self.rows, plain(&self.unit))) {
            text.push_str(&format!("Power: {seen}.\n"));
        }
        let method = if layout.wide { &self.method[..] } else { &[] };
        let told = [
            ("Caution", self.caution.as_slice()),
            ("Method", method),
            ("Flag", &self.flags[..]),
            ("Note", &self.notes[..]),
        ];
        for (head, sentences) in told {
            for sentence in sentences {
                text.push_str(&format!("{head}: {sentence}.\n"));
            }
        }
        text
    }

    /// Each comparison as a sentence, with its remarks.
    fn sentences(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            text.push_str(&format!("{}.\n", row.sentence));
            for remark in &row.remarks {
                text.push_str(&format!("  {remark}.\n"));
            }
            if let Some(why) = row.why() {
                text.push_str(&format!("  why: {why}\n"));
            }
        }
        text
    }

    /// A row for each condition and, where all pairs are compared, for each pair.
    fn summary(&self) -> SummaryTable<'_> {
        let mut summary = SummaryTable::new(&self.workload, &self.metric, &self.unit, self.better);
        for one in &self.conditions {
            summary.add(&one.label, Some(one.estimate.mean), self.beside(&one.label), one.limit.as_ref());
        }
        if self.baseline.is_none() {
            for row in &self.rows {
                let pair = Name::from(format!("{} against {}", row.label, row.against).as_str());
                summary.add(&pair, None, ComparisonState::Row(row), None);
            }
        }
        summary
    }

    /// Is this condition compared and measured?
    pub(crate) fn has(&self, label: &str) -> bool {
        self.conditions.iter().any(|one| *one.label == *label)
    }

    /// The neighbour of a condition in a comparison.
    pub(crate) fn beside(&self, label: &str) -> ComparisonState<'_> {
        match &self.baseline {
            None => ComparisonState::Nothing,
            Some(baseline) if baseline == label => ComparisonState::Baseline,
            Some(_) => {
                let row = self.rows.iter().find(|row| row.label == label);
                row.map_or(ComparisonState::Missing, ComparisonState::Row)
            }
        }
    }

    /// The spread of boots and runs, and the smallest detectable difference, in a sentence without
    /// a full stop; `None` if unknown.
    pub(crate) fn spread_sentence(&self) -> Option<String> {
        if self.resolution.is_some() {
            return None;
        }
        let parts = spread::parts(&self.spread, self.mean());
        let metric = title(&self.metric);
        let seen =
            spread::seen(&self.rows, plain(&self.unit)).map_or(String::new(), |seen| format!("; {seen}"));
        (!parts.is_empty()).then(|| format!("{} of the mean {metric} (sd){seen}", parts.join(", ")))
    }

    /// The mean of all conditions, in the metric's unit.
    #[must_use]
    pub fn mean(&self) -> f64 {
        stats::mean(&self.conditions.iter().map(|one| one.estimate.mean).collect::<Vec<_>>())
    }

    fn table(&self, layout: Layout) -> String {
        let interval = format!("{} % interval", stats::confidence(self.level));
        // In a file a metric may have the name of another column.
        let is_taken =
            ["condition", "difference", "in %", "boots", "verdict"].contains(&self.metric.as_str());
        let metric = if is_taken { format!("value ({})", self.metric) } else { self.metric.clone() };
        let head = ["condition", &metric, "difference", &interval, "in %", &interval, "boots", "verdict"];
        let unit = plain(&self.unit);
        let mut table = Table::new(&head).units(&["", unit, unit, unit, "", "in %"]);
        if self.baseline.is_none() {
            self.all_pairs(&mut table);
            return table.fit(layout);
        }
        for ConditionMean { label, estimate, .. } in &self.conditions {
            let (mean, boots) = (figure(estimate.mean), estimate.boots.to_string());
            let Some(row) = self.rows.iter().find(|row| row.label == **label) else {
                table.row(&[label, &mean, "-", "", "-", "", &boots, "baseline"]);
                continue;
            };
            table.row(
                &[&[label.as_str(), &mean], cells(row).each_ref().map(String::as_str).as_slice()].concat(),
            );
            table.paint(VERDICT, Some(tone(row, self.better)));
        }
        table.fit(layout)
    }

    /// The conditions, then one row for each pair.
    fn all_pairs(&self, table: &mut Table) {
        for ConditionMean { label, estimate, .. } in &self.conditions {
            table.row(&[label, &figure(estimate.mean), "-", "", "-", "", &estimate.boots.to_string(), ""]);
        }
        for row in &self.rows {
            let pair = format!("{} against {}", row.label, row.against);
            table
                .row(&[&[pair.as_str(), "-"], cells(row).each_ref().map(String::as_str).as_slice()].concat());
            table.paint(VERDICT, Some(tone(row, self.better)));
        }
    }
}

/// Unusual values in the runs that are compared.
fn flags(subject: &Subject) -> Result<Vec<String>, Error> {
    let (runs, label) = (subject.compared_observations(), |condition: usize| subject.label(condition));
    if subject.resolution.is_some() {
        // Those that do not repeat are reported first.
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

//! The comparison of two stored studies.

use serde::{Serialize, Serializer};
use stats::Correction;
use store::Outline;
use study::metric::Better;

use crate::data::comparison_group::ComparisonGroup;
use crate::data::comparison_row::ComparisonRow;
use crate::data::differences::StudyDifference;
use crate::data::disturbed::kept_in;
use crate::data::error::Error;
use crate::data::exact::{UnequalCounts, no_verdicts};
use crate::data::matched_conditions::{self, MatchedConditions};
use crate::data::pairs::pairs;
use crate::data::shortfall::{Shortfall, may_have_stopped};
use crate::data::study_ref::StudyRef;
use crate::data::subject::{Subject, answer_families};
use crate::data::target::ComparisonRequest;
use crate::data::truth;
use crate::words::colour::Tone;
use crate::words::layout::Layout;
use crate::words::number::{counted, figure, plain};
use crate::words::phrases::words;
use crate::words::table::Table;

// The method of the comparison, without a full stop.
const METHOD: &str = "boots of different studies are never paired: the boots that measured a condition in one study are compared with those in the other, each group with its own spread (Welch)";

// The largest number of differences and labels in a page that is not wide.
const TOLD: usize = 8;

/// Two stored studies beside each other, worked out.
#[derive(Debug, Serialize)]
pub struct BetweenStudies {
    baseline: StudyRef,
    study: StudyRef,
    /// The confidence of all intervals together, as a probability.
    confidence: f64,
    /// The differences of their machines, testbeds and plans, the weightiest first.
    differences: Vec<StudyDifference>,
    /// One for each metric.
    #[serde(serialize_with = "judged")]
    comparisons: Vec<ComparisonGroup>,
    /// Labels of conditions that only one of them has.
    only_in_baseline: Vec<String>,
    only_in_study: Vec<String>,
    /// Labels of conditions that both have and that were not measured in both.
    not_measured: Vec<String>,
    /// The method, as sentences without full stops.
    method: Vec<String>,
    /// Notes on the studies, as sentences without full stops.
    notes: Vec<String>,
}

impl BetweenStudies {
    /// Compares a study with a baseline. Both hold the values of the metrics that
    /// [`metrics_to_compare`](crate::metrics_to_compare) names.
    ///
    /// # Errors
    /// [`Error::NotComparable`] for what cannot be compared, [`Error::NothingRecorded`] where
    /// nothing was measured in both, [`Error::UnknownMetric`].
    pub fn new(baseline: &Outline, study: &Outline, request: &ComparisonRequest) -> Result<Self, Error> {
        let matched = MatchedConditions::between(baseline, study)?;
        let pairs = pairs(baseline, study, &matched, request)?;
        let (conditions, mut subjects): (Vec<(usize, usize)>, Vec<Subject>) = pairs.into_iter().unzip();
        // Each condition and metric is a family of one comparison, and Holm's steps run over all.
        let families: Vec<usize> = match request.correction {
            Correction::Family => (0..subjects.len()).collect(),
            Correction::None => vec![0; subjects.len()],
        };
        let analyses = answer_families(&mut subjects, &families)?;
        let mut comparisons: Vec<ComparisonGroup> = Vec::new();
        for ((subject, analysis), conditions) in subjects.iter().zip(analyses).zip(&conditions) {
            // Its flags are not shown: a drift over the boots of both is none of either.
            let mut group = ComparisonGroup::from_analysis(subject, analysis)?;
            for row in &mut group.rows {
                (row.comparison.baseline, row.comparison.condition) = *conditions;
                row.label = study.plan.conditions[conditions.1].label.to_string();
                row.against = baseline.plan.conditions[conditions.0].label.to_string();
            }
            match comparisons.iter_mut().find(|known| known.metric == group.metric) {
                Some(known) => {
                    known.rows.extend(group.rows);
                    known.unlike.extend(group.unlike);
                }
                None => comparisons.push(ComparisonGroup {
                    baseline: Some(format!("study {}", baseline.row.id)),
                    level: request.confidence,
                    conditions: Vec::new(),
                    ..group
                }),
            }
        }
        let label = |of: &Outline, indices: &[usize]| -> Vec<String> {
            indices.iter().map(|index| of.plan.conditions[*index].label.to_string()).collect()
        };
        let unmeasured = matched.pairs.iter().filter(|pair| !conditions.contains(pair));
        let unmeasured: Vec<usize> = unmeasured.map(|(_, condition)| *condition).collect();
        let differences = matched_conditions::differences(baseline, study, Some(&matched));
        let of_metrics = comparisons.iter().flat_map(|group| group.notes.clone());
        let notes = of_metrics.chain([baseline, study].into_iter().flat_map(notes)).collect();
        Ok(Self {
            baseline: StudyRef::from_row(&baseline.row),
            study: StudyRef::from_row(&study.row),
            confidence: request.confidence,
            differences,
            method: method(subjects.len(), request),
            comparisons,
            only_in_baseline: label(baseline, &matched.only_baseline),
            only_in_study: label(study, &matched.only_study),
            not_measured: label(study, &unmeasured),
            notes,
        })
    }

    /// The comparison for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = format!("{} against {}\n", self.study.words(), self.baseline.words());
        let unlike = no_verdicts(self.comparisons.iter().flat_map(|group| &group.unlike));
        text.extend(unlike.iter().map(|one| format!("{one}\n")));
        text.push('\n');
        for group in &self.comparisons {
            let lines = [vec![group.answer()], group.answer_remarks()].concat();
            text.push_str(&format!("Answer: {}\n", lines.join("\n  ")));
        }
        self.differing(&mut text, layout);
        for group in &self.comparisons {
            text.push_str(&format!("\n{}", self.table(group, layout)));
            text.push_str(&truth::line(group.truth));
            if layout.wide {
                text.push('\n');
                text.extend(group.rows.iter().map(|row| format!("{}.\n", row.sentence)));
            }
        }
        text.push('\n');
        let of = |named: &StudyRef| format!("Only in study {}", named.study);
        for (head, labels) in [
            (of(&self.baseline), &self.only_in_baseline),
            (of(&self.study), &self.only_in_study),
            ("Not measured in both".to_owned(), &self.not_measured),
        ] {
            if !labels.is_empty() {
                let shown = if layout.wide { labels.len() } else { TOLD };
                let more = more(labels.len(), shown);
                text.push_str(&format!("{head}: {}{more}.\n", labels[..shown.min(labels.len())].join("; ")));
            }
        }
        if layout.wide {
            text.extend(self.method.iter().map(|sentence| format!("Method: {sentence}.\n")));
        }
        text.extend(self.notes.iter().map(|note| format!("Note: {note}.\n")));
        text
    }

    /// Writes the differences between the studies, which may be causes, before the effects.
    fn differing(&self, text: &mut String, layout: Layout) {
        if self.differences.is_empty() {
            text.push_str("Environments: nothing that is recorded of them differs.\n");
            return;
        }
        text.push_str("Not only the studies differ: what follows may be the cause.\n");
        let [one, other] = [&self.baseline, &self.study].map(|named| format!("study {}", named.study));
        let mut table = Table::new(&["differs", &one, &other]).named(0);
        let value = |values: &[String]| match values {
            [] => "-".to_owned(),
            values => values.join(" / "),
        };
        let shown = if layout.wide { self.differences.len() } else { TOLD };
        for StudyDifference { what, baseline, study } in self.differences.iter().take(shown) {
            table.row(&[what, &value(baseline), &value(study)]);
        }
        text.push_str(&table.fit(layout));
        if self.differences.len() > shown {
            text.push_str(&format!("(--wide shows {} more)\n", self.differences.len() - shown));
        }
    }

    /// A row for each condition.
    fn table(&self, group: &ComparisonGroup, layout: Layout) -> String {
        let unit = plain(&group.unit);
        let is_percent = group.rows.iter().all(|row| row.comparison.relative.is_some());
        let difference = if is_percent { "diff. %" } else { "difference" };
        let [one, other] = [&self.baseline, &self.study].map(|named| format!("study {}", named.study));
        let mut table = Table::new(&["condition", &one, &other, difference, "interval", "verdict"])
            .named(0)
            .optional(&[1, 4, 2]);
        for row in &group.rows {
            let [difference, interval] = row.size(unit, !is_percent);
            let (before, after) = (figure(row.comparison.baseline_mean), figure(row.comparison.mean));
            table.row(&[&row.label, &before, &after, &difference, &interval, row.short_verdict()]);
            table.paint(5, Some(Tone::from_verdict(row.comparison.verdict, group.better)));
        }
        let metric = words(&group.metric);
        let in_unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        let is_interval = group.rows.iter().any(|row| row.comparison.interval.is_some());
        let intervals = if is_interval {
            let together = if group.rows.len() > 1 { " together" } else { "" };
            format!("; {} % intervals{together}", stats::confidence(self.confidence))
        } else {
            String::new()
        };
        format!("{}{in_unit}{intervals}\n{}", metric.trim_start_matches("the "), table.fit(layout))
    }
}

fn more(all: usize, shown: usize) -> String {
    if all > shown { format!(" and {} more", all - shown) } else { String::new() }
}

fn method(comparisons: usize, request: &ComparisonRequest) -> Vec<String> {
    let mut method = vec![METHOD.to_owned()];
    let count = counted(comparisons, "comparison");
    method.extend(match request.correction {
        _ if comparisons < 2 => None,
        Correction::Family => Some(format!("the {count} hold together (Holm)")),
        Correction::None => Some(format!(
            "each of the {count} has its confidence by itself: that one of them errs is likelier"
        )),
    });
    method
}

/// Notes on one of the studies.
fn notes(outline: &Outline) -> Vec<String> {
    let (row, plan) = (&outline.row, &outline.plan);
    let lack = Shortfall::from_row(row, plan).map(|lack| lack.to_string());
    lack.into_iter().chain(kept_in(outline)).chain(may_have_stopped(row, plan)).collect()
}

/// One metric in JSON.
#[derive(Serialize)]
struct JudgedMetric<'a> {
    metric: &'a str,
    unit: &'a str,
    better: Option<Better>,
    truth: Option<&'a str>,
    resolution: Option<f64>,
    unlike: &'a [UnequalCounts],
    rows: &'a [ComparisonRow],
}

fn judged<S: Serializer>(groups: &[ComparisonGroup], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(groups.iter().map(|group| JudgedMetric {
        metric: &group.metric,
        unit: &group.unit,
        better: group.better,
        truth: group.truth,
        resolution: group.resolution,
        unlike: &group.unlike,
        rows: &group.rows,
    }))
}

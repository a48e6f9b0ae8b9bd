//! The reference pair of a campaign: measured again and again, it shows whether the site drifts.

use serde::Serialize;
use stats::signed;
use store::Outline;

use super::PairOfFleet;
use crate::data::between::BetweenStudies;
use crate::data::comparison_row::ComparisonRow;
use crate::data::error::Error;
use crate::data::metric::ComparedMetric;
use crate::data::target::{ComparisonRequest, own_targets};
use crate::history::{HistoryOrder, StudyHistory};
use crate::words::lists::distinct;
use crate::words::number::{figure, percent, range, with_unit};
use crate::words::phrases::{in_brackets, metric_name};

/// The measurements of the reference pair over a campaign.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FleetReference {
    pub name: String,
    pub measurements: usize,
    /// The confidence with which a site without a drift shows none.
    pub confidence: f64,
    /// The proven differences from its first measurement, and the proven changes of level, as
    /// sentences without full stops. Empty: no drift is proven.
    pub drift: Vec<String>,
    /// Its baseline conditions over the campaign; `None` if the last measurement has none.
    pub history: Option<StudyHistory>,
    /// The measurements that failed, or that cannot be compared with the first.
    pub not_measured: Vec<PairOfFleet>,
}

impl FleetReference {
    /// Compares each measurement with the first one, and looks for changes of level. `None` if
    /// there is nothing to compare, and nothing failed.
    ///
    /// # Errors
    /// [`Error::Stats`] for values that no statistics can take.
    pub(super) fn new(
        name: &str,
        mut measured: Vec<(String, Outline)>,
        mut not_measured: Vec<PairOfFleet>,
        confidence: f64,
    ) -> Result<Option<Self>, Error> {
        measured.retain(|(_, outline)| outline.values.values().any(|values| !values.is_empty()));
        measured.sort_by_key(|(_, outline)| outline.row.started_unix_ms);
        let Some(((_, first), later)) = measured.split_first() else { return Ok(None) };
        if later.is_empty() && not_measured.is_empty() {
            return Ok(None);
        }
        // Comparisons and the history share the error rate, and so do the comparisons among them.
        let half = 0.5 * (1.0 - confidence);
        let request =
            |alpha: f64| ComparisonRequest { confidence: 1.0 - alpha, ..ComparisonRequest::default() };
        let each = request(half / later.len().max(1) as f64);
        let mut drift = Vec::new();
        for (measurement, outline) in later {
            match BetweenStudies::new(first, outline, &each) {
                Ok(found) => drift.extend(found.comparisons.iter().flat_map(|group| {
                    let proven = group.rows.iter().filter(|row| row.is_proven());
                    proven.map(move |row| sentence(measurement, &group.metric, row))
                })),
                Err(Error::Stats(error)) => return Err(error.into()),
                Err(other) => not_measured.push(PairOfFleet {
                    name: measurement.clone(),
                    study: Some(outline.row.id.0),
                    why: Some(other.to_string()),
                    ..PairOfFleet::default()
                }),
            }
        }
        let plan = &later.last().map_or(first, |(_, newest)| newest).plan;
        let label = |baseline: usize| plan.conditions[baseline].label.to_string();
        let baselines = distinct(own_targets(plan).into_iter().map(|target| label(target.baseline)));
        let history = match StudyHistory::new(&measured, HistoryOrder::Time, &baselines, &request(half)) {
            Ok(found) => found,
            Err(Error::Stats(error)) => return Err(error.into()),
            Err(_) => None,
        };
        drift.extend(history.iter().flat_map(|found| &found.series).flat_map(|series| {
            series.changes.iter().map(move |change| format!("{}: {}", series.title(), change.sentence))
        }));
        let (name, measurements) = (name.to_owned(), measured.len());
        Ok(Some(Self { name, measurements, confidence, drift, history, not_measured }))
    }
}

/// `rack1#3 against the first: throughput of gso=on: -5.1 % (-6.2 to -4.0), lower (slower)`.
fn sentence(measurement: &str, metric: &ComparedMetric, row: &ComparisonRow) -> String {
    let one = &row.comparison;
    let in_percent = |value: f64| signed(percent(value));
    let in_unit = |value: f64| signed(figure(value));
    let (size, interval) = match one.relative {
        Some(share) => {
            let interval = one.relative_interval.map(|ends| range(Some(ends), in_percent));
            (format!("{} %", in_percent(share)), interval)
        }
        None => (
            with_unit(in_unit(one.difference), metric.unit()),
            one.interval.map(|ends| range(Some(ends), in_unit)),
        ),
    };
    let interval = in_brackets(interval.as_deref());
    format!(
        "{measurement} against the first: {} of {}: {size}{interval}, {}",
        metric_name(metric),
        row.label,
        row.verdict()
    )
}

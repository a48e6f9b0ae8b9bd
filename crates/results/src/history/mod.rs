//! A metric over stored studies: its levels, where they changed, and the newest study against the
//! recent level.

mod choice;
mod series;
mod study_means;

use std::collections::BTreeSet;

use serde::Serialize;
use stats::Correction;
use store::{Outline, StudyStatus};
use study::metric::Metric;

use self::study_means::{comparable, conditions, means};
use crate::data::differences::{StudyDifference, of_builds};
use crate::data::disturbed::kept_in;
use crate::data::error::Error;
use crate::data::exact;
use crate::data::matched_conditions::{MatchedConditions, differences};
use crate::data::missing::stands;
use crate::data::pairs::metrics;
use crate::data::target::ComparisonRequest;
use crate::data::truth;
use crate::words::number::{counted, instant, percent};

pub use self::choice::{HistoryChoice, HistoryOrder};
pub use self::series::{HistorySeries, LevelChange, NewestStudy};
pub use self::study_means::{ExcludedStudy, StudyMean};

/// A metric over stored studies, worked out.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct StudyHistory {
    pub name: String,
    pub order: HistoryOrder,
    /// The confidence that was asked for: of all series together, or of each by itself.
    pub confidence: f64,
    pub studies: Vec<HistoryMember>,
    pub left_out: Vec<ExcludedStudy>,
    pub series: Vec<HistorySeries>,
    pub method: Vec<String>,
    pub notes: Vec<String>,
    /// The kind of the figures, if it is not time on a machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<&'static str>,
}

/// A study of a history.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct HistoryMember {
    pub study: i64,
    pub label: String,
    pub tags: Vec<String>,
    pub started: String,
    pub version: String,
    pub status: String,
    /// The differences from the study before it, the weightiest first.
    pub differs: Vec<StudyDifference>,
}

impl StudyHistory {
    /// The history of the last of these studies, oldest first. All hold the values of the metrics
    /// that [`metrics_to_compare`](crate::metrics_to_compare) names for its plan.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], [`Error::UnknownCondition`]; [`Error::NothingRecorded`] if the
    /// newest study has no value.
    pub fn new(
        entries: &[(String, Outline)],
        order: HistoryOrder,
        wanted: &[String],
        request: &ComparisonRequest,
    ) -> Result<Option<Self>, Error> {
        let Some((_, newest)) = entries.last() else { return Ok(None) };
        let asked = request.metric;
        let (members, left_out) = comparable(entries);
        let mut pairs: Vec<(usize, Metric)> = Vec::new();
        for condition in conditions(newest.row.id.0, &newest.plan, wanted)? {
            let own = metrics(&newest.plan, condition, asked).into_iter();
            pairs.extend(own.map(|(metric, _)| (condition, metric)).filter(|(condition, metric)| {
                let values = newest.values.get(metric).map_or(&[][..], Vec::as_slice);
                values.iter().any(|(of, ..)| of == condition)
            }));
        }
        if pairs.is_empty() {
            return Err(Error::NothingRecorded {
                study: newest.row.id.0,
                metric: asked.map_or("a metric to compare", |metric| metric.key).to_owned(),
                hint: "the newest study sets the conditions of a history, and no run of it that counts has a value; resume it, \
                       or choose another --metric"
                    .to_owned(),
            });
        }
        let level = match request.correction {
            Correction::Family => 1.0 - (1.0 - request.confidence) / pairs.len() as f64,
            Correction::None => request.confidence,
        };
        let is_counted = newest.plan.exact;
        let series = pairs.iter().map(|(condition, metric)| {
            let label = newest.plan.conditions[*condition].label.to_string();
            let means = means(&members, *condition, *metric, request.confidence)?;
            let is_count = is_counted && exact::is_count(*metric);
            HistorySeries::from_means(label, *metric, means, (level, request.confidence), is_count)
        });
        let series = series.collect::<Result<Vec<_>, Error>>()?;
        let outlines = || members.iter().map(|(_, outline, _)| *outline);
        let before = std::iter::once(None).chain(outlines().map(Some));
        let studies = members.iter().zip(before).map(|((label, outline, _), before)| {
            let row = &outline.row;
            HistoryMember {
                study: row.id.0,
                label: (*label).to_owned(),
                tags: row.tags.clone(),
                started: instant(row.started_unix_ms),
                version: row.version.clone(),
                status: row.status.to_string(),
                // Without a condition in common only machines and boots are compared.
                differs: before.map_or_else(Vec::new, |before| {
                    let matched = MatchedConditions::between(before, outline).ok();
                    differences(before, outline, matched.as_ref())
                }),
            }
        });
        let environments = || outlines().flat_map(|outline| &outline.environments);
        let builds: BTreeSet<String> =
            pairs.iter().filter_map(|(_, metric)| of_builds(environments(), *metric)).collect();
        Ok(Some(Self {
            name: newest.row.name.clone(),
            order,
            confidence: request.confidence,
            method: method(&series, request, is_counted),
            notes: builds.into_iter().chain(outlines().flat_map(notes)).collect(),
            studies: studies.collect(),
            left_out,
            series,
            truth: truth::note(&newest.plan, &newest.environments),
        }))
    }

    /// Whether the environment of a point's study differs from that of the point before.
    pub fn differs(&self, series: &HistorySeries, point: usize) -> bool {
        let before = point.checked_sub(1).map(|before| series.points[before].place + 1);
        let place = series.points[point].place;
        before.is_some_and(|from| self.studies[from..=place].iter().any(|member| !member.differs.is_empty()))
    }
}

fn method(series: &[HistorySeries], request: &ComparisonRequest, is_counted: bool) -> Vec<String> {
    if is_counted {
        let resolution = percent(exact::RESOLUTION);
        return vec![format!(
            "counts repeat within {resolution} %: a new level begins with each study that differs by more from the first study of its level"
        )];
    }
    let level = series.first().map_or(request.confidence, |one| one.level);
    let all = series.len();
    let mut method = vec![
        "each study is one point, the mean over its boots; windows of studies before and after each place are compared, and the chance of the largest contrast is counted in permutations of the history".to_owned(),
        format!(
            "in a history without a change one is found with a chance of {} % at most",
            percent(100.0 * (1.0 - request.confidence))
        ),
        "the newest study is judged by where the next study of the recent level is expected, from the spread of the studies around their levels".to_owned(),
    ];
    method.extend(match request.correction {
        _ if all < 2 => None,
        Correction::Family => Some(format!(
            "that holds for all {all} series together: each has a confidence of {} %",
            stats::confidence(level)
        )),
        Correction::None => Some(format!(
            "that holds for each of the {all} series by itself: that one of them errs is likelier"
        )),
    });
    method
}

fn notes(outline: &Outline) -> impl Iterator<Item = String> {
    let row = &outline.row;
    let lack = (row.status != StudyStatus::Complete).then(|| {
        let (status, runs) = (stands(row.status), counted(row.recorded_runs as usize, "run"));
        format!("study {} {status}: it has {runs}", row.id)
    });
    lack.into_iter().chain(kept_in(row, outline.disturbed_runs))
}

//! A metric over stored studies: its levels, where they changed, and the newest study against the
//! recent level.

use serde::Serialize;
use stats::change::{self, Change, Expected, Found, Level};
use stats::{Correction, Verdict, signed};
use store::StudyStatus;
use study::Quality;
use study::metric::{Better, Metric};

use crate::data::chosen::HistoryOrder;
use crate::data::differences::Difference;
use crate::data::error::Error;
use crate::data::exact;
use crate::data::metric::known;
use crate::data::pairs::metrics;
use crate::data::series::{Entry, LeftOut, Mean, Members, changed, conditions};
use crate::data::target::ComparisonRequest;
use crate::data::truth::{self, Kind};
use crate::words::number::{counted, figure, instant, percent, plain, range};
use crate::words::phrases::title;

/// A metric over stored studies, worked out.
#[derive(Debug, Serialize)]
pub struct History {
    /// The name of the studies.
    pub(crate) name: String,
    pub(crate) order: HistoryOrder,
    /// The confidence that was asked for: of all series together, or of each by itself.
    pub(crate) confidence: f64,
    /// The oldest first.
    pub(crate) studies: Vec<Member>,
    pub(crate) left_out: Vec<LeftOut>,
    /// One for each condition and metric.
    pub(crate) series: Vec<Series>,
    /// How changes were judged, as sentences without full stops.
    pub(crate) method: Vec<String>,
    /// What a reader must know of the studies, as sentences without full stops.
    pub(crate) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truth: Option<&'static str>,
}

/// A study of a history.
#[derive(Debug, Serialize)]
pub(crate) struct Member {
    pub(crate) study: i64,
    /// What it is called in the history.
    pub(crate) label: String,
    pub(crate) tags: Vec<String>,
    /// UTC.
    pub(crate) started: String,
    pub(crate) version: String,
    pub(crate) status: String,
    /// What it does not share with the study before it, the weightiest first.
    pub(crate) differs: Vec<Difference>,
}

/// One condition in one metric over the studies that measured it.
#[derive(Debug, Serialize)]
pub struct Series {
    /// The condition's label in the newest study.
    pub(crate) condition: String,
    pub(crate) metric: String,
    pub(crate) unit: String,
    pub(crate) better: Option<Better>,
    /// The confidence of the changes and of the newest study's verdict, as a probability.
    pub(crate) level: f64,
    /// The confidence of each point's interval by itself.
    pub(crate) confidence: f64,
    /// The oldest first.
    pub(crate) points: Vec<Mean>,
    pub(crate) levels: Vec<Level>,
    pub(crate) changes: Vec<Changed>,
    /// Why no change can be proven; `None` if one could.
    pub(crate) too_few: Option<String>,
    /// The newest study against the recent level; `None` if it is alone.
    pub(crate) newest: Option<Newest>,
}

/// A change of level, in words.
#[derive(Debug, Serialize)]
pub(crate) struct Changed {
    #[serde(flatten)]
    pub(crate) change: Change,
    /// The first study of the new level.
    pub(crate) study: i64,
    /// 1 - p; `None` for counts.
    pub(crate) confidence: Option<f64>,
    pub(crate) verdict: Verdict,
    pub(crate) quality: Option<&'static str>,
    /// Without a full stop.
    pub(crate) sentence: String,
}

/// The newest study against the recent level, in words.
#[derive(Debug, Serialize)]
pub(crate) struct Newest {
    #[serde(flatten)]
    pub(crate) expected: Expected,
    pub(crate) study: i64,
    pub(crate) quality: Option<&'static str>,
    /// Without a full stop.
    pub(crate) sentence: String,
}

impl History {
    /// The history of the last of these studies, the oldest first. All hold the values of the
    /// metrics that [`metrics_to_compare`](crate::metrics_to_compare) names for its plan.
    ///
    /// # Errors
    /// [`Error::UnknownMetric`], [`Error::UnknownCondition`]; [`Error::NothingRecorded`] if the
    /// newest study has no value.
    pub fn new(
        entries: &[Entry],
        order: HistoryOrder,
        wanted: &[String],
        request: &ComparisonRequest,
    ) -> Result<Option<Self>, Error> {
        let Some(newest) = entries.last().map(|entry| &entry.outline) else { return Ok(None) };
        let asked = request.metric.as_deref().map(known).transpose()?;
        let members = Members::of(entries);
        let mut pairs: Vec<(usize, &'static Metric)> = Vec::new();
        for condition in conditions(newest.row.id.0, &newest.plan, wanted)? {
            let own = metrics(&newest.plan, condition, asked).into_iter();
            pairs.extend(own.map(|(metric, _)| (condition, metric)).filter(|(condition, metric)| {
                let values = newest.values.get(metric.key).map_or(&[][..], Vec::as_slice);
                values.iter().any(|(of, ..)| of == condition)
            }));
        }
        if pairs.is_empty() {
            return Err(Error::NothingRecorded {
                study: newest.row.id.0,
                metric: asked.map_or("a metric to compare", |metric| metric.key).to_owned(),
                hint: "it is the newest of this history, whose conditions the others are searched for"
                    .to_owned(),
            });
        }
        let level = match request.correction {
            Correction::Family => 1.0 - (1.0 - request.confidence) / pairs.len() as f64,
            Correction::None => request.confidence,
        };
        let is_counted = truth::kind(&newest.plan, &newest.environments) == Kind::Counted;
        let series = pairs.iter().map(|(condition, metric)| {
            let condition_label = newest.plan.conditions[*condition].label.to_string();
            let means = members.means(*condition, metric, request.confidence)?;
            let confidences = (level, request.confidence);
            Series::of(condition_label, metric, means, confidences, is_counted && exact::is_count(metric))
        });
        let series = series.collect::<Result<Vec<_>, Error>>()?;
        let mut studies: Vec<Member> = Vec::new();
        for (place, (entry, _)) in members.entries.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| &members.entries[before].0.outline);
            studies.push(Member::of(entry, before.map_or_else(Vec::new, |one| changed(one, &entry.outline))));
        }
        Ok(Some(Self {
            name: newest.row.name.clone(),
            order,
            confidence: request.confidence,
            method: method(&series, request, is_counted),
            notes: members.entries.iter().filter_map(|(entry, _)| note(entry)).collect(),
            studies,
            left_out: members.left_out,
            series,
            truth: truth::of(&newest.plan, &newest.environments),
        }))
    }

    /// Its series.
    #[must_use]
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// What the studies are ordered by, in words: `studies by time`.
    #[must_use]
    pub fn ordered(&self) -> &'static str {
        match self.order {
            HistoryOrder::Time => "studies by time",
            HistoryOrder::Version => "studies by version",
        }
    }

    /// The name of the studies.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the environment of a point's study does not share with that of the point before, in a
    /// few words; empty if nothing differs.
    #[must_use]
    pub fn marks(&self, series: &Series, point: usize) -> String {
        let from = point.checked_sub(1).map_or(0, |before| series.points[before].place + 1);
        let between = &self.studies[from..=series.points[point].place];
        let differs = between.iter().flat_map(|member| &member.differs).map(|one| one.what.as_str());
        let mut named: Vec<&str> = Vec::new();
        for what in differs {
            if !named.contains(&what) {
                named.push(what);
            }
        }
        if point == 0 { String::new() } else { shortened(&named, 2) }
    }
}

/// The first of some names, and how many more there are; empty for none.
pub(crate) fn shortened(names: &[&str], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let told = names[..names.len() - more].join(", ");
    if more > 0 { format!("{told} and {more} more") } else { told }
}

impl Series {
    fn of(
        condition: String,
        metric: &'static Metric,
        points: Vec<Mean>,
        (level, confidence): (f64, f64),
        is_count: bool,
    ) -> Result<Self, Error> {
        let own: Vec<_> = points.iter().map(Mean::point).collect();
        let counts: Vec<f64> = points.iter().map(|point| point.mean).collect();
        let found = if is_count {
            change::of_counts(&counts, exact::RESOLUTION)?
        } else {
            change::find(&own, level)?
        };
        let expected = found.newest;
        let quality = Quality::of(metric);
        let too_few = (points.len() < found.needed).then(|| {
            format!(
                "no change can be proven with {}: {} are needed at a confidence of {} %",
                studies(points.len()),
                found.needed,
                stats::confidence(level)
            )
        });
        let mut series = Self {
            condition,
            metric: metric.key.to_owned(),
            unit: metric.unit.to_owned(),
            better: Some(metric.better),
            level,
            confidence,
            points,
            levels: Vec::new(),
            changes: Vec::new(),
            too_few,
            newest: None,
        };
        let Found { levels, changes, .. } = found;
        series.changes = changes.into_iter().map(|change| series.changed(change, quality)).collect();
        series.levels = levels;
        series.newest = expected.map(|expected| series.against_level(expected, quality));
        Ok(series)
    }

    /// `ipv4 offloads=none: throughput`.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}: {}", self.condition, title(&self.metric))
    }

    /// The metric's name, and its unit, which may be empty.
    #[must_use]
    pub fn quantity(&self) -> (String, &str) {
        (title(&self.metric), plain(&self.unit))
    }

    /// The points, each with the name of its study, its mean and the interval of the mean.
    pub fn points(&self) -> impl ExactSizeIterator<Item = (&str, f64, Option<(f64, f64)>)> {
        self.points.iter().map(|point| (point.label.as_str(), point.mean, point.interval))
    }

    /// The levels, each with the number of its first point and its mean, and what changed at its
    /// beginning in a few words; empty for the first.
    pub fn levels(&self) -> impl Iterator<Item = (usize, f64, String)> {
        let changes = [None].into_iter().chain(self.changes.iter().map(Some));
        self.levels.iter().zip(changes).map(|(level, change)| {
            let words = change.map_or_else(String::new, |change| {
                let confidence = change.confidence.map_or_else(String::new, |confidence| {
                    format!(", confidence {} %", stats::confidence(confidence))
                });
                format!("{}{confidence}", size(&change.change, &self.unit))
            });
            (level.first, level.mean, words)
        })
    }

    /// Whether something was found in it.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        let is_apart = |verdict| matches!(verdict, Verdict::Higher | Verdict::Lower);
        let newest = self.newest.as_ref();
        !self.changes.is_empty() || newest.is_some_and(|newest| is_apart(newest.expected.verdict))
    }

    /// The confidence of the intervals of its points, as a probability.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// What the history says of this series, as sentences without full stops: the newest study
    /// first, then the changes from the newest to the oldest.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let newest = self.newest.iter().map(|newest| newest.sentence.clone());
        let changes = self.changes.iter().rev().map(|change| change.sentence.clone());
        let nothing = match (&self.too_few, self.changes.is_empty()) {
            (Some(why), _) => Some(why.clone()),
            (None, true) => Some(format!("no change of level is proven in {}", studies(self.points.len()))),
            (None, false) => None,
        };
        newest.chain(changes).chain(nothing).collect()
    }

    fn label(&self, point: usize) -> &str {
        &self.points[point].label
    }

    fn changed(&self, change: Change, quality: Quality) -> Changed {
        let is_up = change.difference > 0.0;
        let word = quality.word(is_up);
        let meaning = word.map_or_else(String::new, |word| format!(" ({word})"));
        let (low, high) = change.place;
        let place = if low == high {
            String::new()
        } else {
            format!("; it came after {} and by {}", self.label(low - 1), self.label(high))
        };
        let confidence = change.p.map(|p| 1.0 - p);
        let sure =
            confidence.map_or_else(String::new, |one| format!(", confidence {} %", stats::confidence(one)));
        Changed {
            study: self.points[change.first].study,
            confidence,
            verdict: if is_up { Verdict::Higher } else { Verdict::Lower },
            quality: word,
            sentence: format!(
                "from {} on: {}{meaning}, {}{}{sure}{place}",
                self.label(change.first),
                if is_up { Verdict::Higher } else { Verdict::Lower },
                size(&change, &self.unit),
                interval(&change, &self.unit),
            ),
            change,
        }
    }

    fn against_level(&self, expected: Expected, quality: Quality) -> Newest {
        let last = self.points.len() - 1;
        let point = &self.points[last];
        let word = match expected.verdict {
            Verdict::Higher => quality.word(true),
            Verdict::Lower => quality.word(false),
            _ => None,
        };
        let unit = match plain(&self.unit) {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let level = if expected.first + 1 == last {
            format!("{} alone", self.label(expected.first))
        } else {
            format!("{} to {}", self.label(expected.first), self.label(last - 1))
        };
        let by = expected.relative.map_or_else(
            || format!("{}{unit}", signed(figure(expected.difference))),
            |relative| format!("{} %", signed(percent(relative))),
        );
        let meaning = word.map_or_else(String::new, |word| format!(" ({word})"));
        let sentence = match expected.interval {
            Some(interval) => format!(
                "the newest, {}: {}{meaning} against the level of {level}: {by}; {}{unit}, where {}{unit} are expected",
                point.label,
                expected.verdict,
                figure(point.mean),
                ends(interval)
            ),
            None => format!(
                "the newest, {}: {by} against {level}; how much studies differ is not known before there are three",
                point.label
            ),
        };
        Newest { expected, study: point.study, quality: word, sentence }
    }
}

/// `-12.3 %`, or the difference in the metric's unit.
fn size(change: &Change, unit: &str) -> String {
    match (change.relative, plain(unit)) {
        (Some(relative), _) => format!("{} %", signed(percent(relative))),
        (None, "") => signed(figure(change.difference)),
        (None, unit) => format!("{} {unit}", signed(figure(change.difference))),
    }
}

/// ` (-14.1 to -10.5)`; empty if it is unknown.
fn interval(change: &Change, unit: &str) -> String {
    let ends = match change.relative {
        Some(_) => change.relative_interval.map(|ends| range(Some(ends), |one| signed(percent(one)))),
        None => change.interval.map(|ends| {
            format!("{} {}", range(Some(ends), |one| signed(figure(one))), plain(unit)).trim_end().to_owned()
        }),
    };
    ends.map_or_else(String::new, |ends| format!(" ({ends})"))
}

/// Both ends of an interval, as far as a column of values can be compared.
pub(crate) fn ends((low, high): (f64, f64)) -> String {
    format!("{} to {}", figure(low), figure(high))
}

/// `1 study`, `3 studies`.
pub(crate) fn studies(count: usize) -> String {
    if count == 1 { "1 study".to_owned() } else { format!("{count} studies") }
}

impl Member {
    fn of(entry: &Entry, differs: Vec<Difference>) -> Self {
        let row = &entry.outline.row;
        Self {
            study: row.id.0,
            label: entry.chosen.label.clone(),
            tags: row.tags.clone(),
            started: instant(row.started_unix_ms),
            version: row.version.clone(),
            status: row.status.to_string(),
            differs,
        }
    }
}

/// What a reader must know of a study.
fn note(entry: &Entry) -> Option<String> {
    let row = &entry.outline.row;
    let is_whole = row.status == StudyStatus::Complete;
    (!is_whole).then(|| {
        format!("study {} is {}: it has {}", row.id, row.status, counted(row.recorded_runs as usize, "run"))
    })
}

fn method(series: &[Series], request: &ComparisonRequest, is_counted: bool) -> Vec<String> {
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

//! Latency as histograms: a row for each condition, all its runs together.

use std::collections::{BTreeMap, BTreeSet};

use record::{LatencyBucket, LatencyHistogram};
use results::chart::{Bucket, Figure, Histogram, SampleSet, Scale};
use results::{capital, counted, percent};
use store::StoredRun;

use super::ids::Ids;
use super::measure::Measure;
use super::view::{MeasuredWorkload, StudyView};
use super::words::paragraph;

/// The histograms of a condition's runs, added up.
#[derive(Default)]
struct PooledHistogram {
    histogram: LatencyHistogram,
    runs: usize,
    boots: BTreeSet<u32>,
}

impl PooledHistogram {
    fn about(&self) -> String {
        format!("{}, {}", counted(self.runs, "run"), counted(self.boots.len(), "boot"))
    }

    fn buckets(&self, measure: &Measure) -> Vec<Bucket> {
        let bucket = |one: LatencyBucket| {
            let [low, high] = [one.low, one.high].map(|edge| measure.value(edge as f64));
            Some(Bucket { low: low?, high: high?, count: one.count })
        };
        self.histogram.buckets().filter_map(bucket).collect()
    }
}

/// The note on histograms: the form that is stored, and the runs that have none.
pub(super) fn about(views: &[StudyView<'_>]) -> Vec<String> {
    let stored = format!(
        "With each run a histogram of its latencies is stored: {} buckets for each factor of ten, each {} % wide. \
         The transactions of all runs of a condition are added up.",
        LatencyHistogram::PER_DECADE,
        results::rounded(LatencyHistogram::width_percent())
    );
    let runs = |view: &StudyView<'_>| LatencyRuns::count(view);
    let has_any = views.iter().map(runs).any(|runs| runs.without < runs.all);
    let lacking = views.iter().filter_map(|view| Some((view, runs(view).lacking()?)));
    let lacking = lacking.map(|(view, words)| view.titled(&words)).map(|words| paragraph([capital(&words)]));
    has_any.then_some(stored).into_iter().chain(lacking).collect()
}

/// The runs of a study that measured latencies.
struct LatencyRuns {
    all: usize,
    /// The number of runs without a histogram.
    without: usize,
}

impl LatencyRuns {
    fn count(view: &StudyView<'_>) -> Self {
        let measured = view.stored.measurements().filter(|run| run.metrics.contains_key("latency_p50"));
        measured.fold(Self { all: 0, without: 0 }, |sum, run| Self {
            all: sum.all + 1,
            without: sum.without + usize::from(stored(run).is_none()),
        })
    }

    /// The runs without a histogram, in words; `None` if each run has one.
    fn lacking(&self) -> Option<String> {
        match self.without {
            0 => None,
            without if without == self.all => Some("no histogram was stored".to_owned()),
            without => {
                Some(format!("no histogram was stored with {without} of {}", counted(self.all, "run")))
            }
        }
    }
}

/// The histograms of these conditions; `None` if no run has one.
pub(super) fn figure(
    view: &StudyView<'_>,
    workload: &MeasuredWorkload<'_>,
    more: &str,
    ids: &mut Ids,
) -> Option<Figure> {
    let pooled = pooled(view, workload);
    if pooled.is_empty() {
        return None;
    }
    let conditions: Vec<usize> =
        workload.conditions.iter().filter(|index| pooled.contains_key(index)).copied().collect();
    let names = view.names(&conditions);
    let measure = Measure::for_latency();
    let series = |(index, name): (&usize, &String)| {
        let own = &pooled[index];
        SampleSet { name: name.clone(), about: own.about(), buckets: own.buckets(&measure) }
    };
    let series: Vec<SampleSet> = conditions.iter().zip(&names).map(series).collect();
    Some(Figure::new(
        ids.unique(&view.titled(&format!("latency histogram {}{more}", workload.name))),
        &view.titled(&format!("Latency of {}: histograms", workload.name)),
        &paragraph([seen(&measure, &series)]),
        Histogram {
            across: (measure.quantity, Scale::Logarithmic),
            noun: "transactions".to_owned(),
            percent,
            series,
        },
    ))
}

/// The histogram that is stored with a run.
fn stored(run: &StoredRun) -> Option<&LatencyHistogram> {
    // The side that asks knows when the answer came; it is the first.
    run.detail.sides().next()?.whole.outcome.latency.as_ref()?.histogram.as_ref()
}

fn pooled(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>) -> BTreeMap<usize, PooledHistogram> {
    let mut pooled: BTreeMap<usize, PooledHistogram> = BTreeMap::new();
    if !workload.kind.is_rr() {
        return pooled;
    }
    for run in view.stored.measurements().filter(|run| workload.conditions.contains(&run.condition)) {
        let Some(histogram) = stored(run).filter(|one| one.count() > 0) else { continue };
        let own = pooled.entry(run.condition).or_default();
        own.histogram.add(histogram);
        own.runs += 1;
        own.boots.insert(run.boot);
    }
    pooled
}

/// The peaks of the conditions with the lowest and the highest one, in words.
fn seen(measure: &Measure, series: &[SampleSet]) -> String {
    let mut peaks: Vec<(&SampleSet, &Bucket)> =
        series.iter().filter_map(|one| Some((one, one.largest()?))).collect();
    peaks.sort_by(|one, other| one.1.low.value().total_cmp(&other.1.low.value()));
    let edges = |bucket: &Bucket| {
        let [low, high] = [bucket.low, bucket.high].map(|edge| measure.words(edge.value()));
        format!("{low} to {high}")
    };
    let words = |(one, bucket): &(&SampleSet, &Bucket)| {
        let share = percent(one.share(bucket).value());
        format!("{} with {} ({share} %, {})", edges(bucket), one.name, one.about)
    };
    let peaks = match &peaks[..] {
        [] => return String::new(),
        [only] => words(only),
        [(_, low), .., (_, high)] if low.low == high.low => format!("{} in each condition", edges(low)),
        [low, .., high] => format!("{}; {}", words(low), words(high)),
    };
    format!("The bucket with the most transactions: {peaks}")
}

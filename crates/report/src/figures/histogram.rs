//! Latency as histograms: a row for each condition, all its runs together.

use std::collections::{BTreeMap, BTreeSet};

use crate::chart::{Bucket, Figure, Histogram, Panel, SampleSet, Scale};
use record::{LatencyBucket, LatencyHistogram};
use results::{capital, counted, percent};
use store::StoredRun;

use super::Ids;
use super::view::{MeasuredWorkload, StudyView};
use super::words::{latency, paragraph};

/// The histograms of a condition's runs, added up.
#[derive(Default)]
struct PooledHistogram {
    histogram: LatencyHistogram,
    runs: usize,
    boots: BTreeSet<u32>,
}

/// The note on histograms: the form that is stored, and the runs that have none.
pub(super) fn about(views: &[StudyView<'_>]) -> Vec<String> {
    let form = format!(
        "With each run a histogram of its latencies is stored: {} buckets for each factor of ten, each {} % wide. \
         The transactions of all runs of a condition are added up.",
        LatencyHistogram::PER_DECADE,
        results::rounded(LatencyHistogram::width_percent())
    );
    let runs = |view: &StudyView<'_>| {
        let has_latency = |run: &&StoredRun| run.metrics.get(study::metric::LATENCY_P50).is_some();
        let all = view.stored.measurements().filter(has_latency);
        all.fold((0, 0), |(all, without), run| (all + 1, without + usize::from(stored(run).is_none())))
    };
    let has_any = views.iter().map(runs).any(|(all, without)| without < all);
    let lacking = |view: &StudyView<'_>| {
        let words = match runs(view) {
            (_, 0) => return None,
            (all, without) if without == all => "no histogram was stored".to_owned(),
            (all, without) => format!("no histogram was stored with {without} of {}", counted(all, "run")),
        };
        Some(paragraph([capital(&view.titled(&words))]))
    };
    has_any.then_some(form).into_iter().chain(views.iter().filter_map(lacking)).collect()
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
    let series = |(index, name): (&usize, String)| {
        let own = &pooled[index];
        let about = format!("{}, {}", counted(own.runs, "run"), counted(own.boots.len(), "boot"));
        let bucket =
            |one: LatencyBucket| Bucket { low: one.low as f64, high: one.high as f64, count: one.count };
        SampleSet { name, about, buckets: own.histogram.buckets().map(bucket).collect() }
    };
    let series: Vec<SampleSet> = conditions.iter().zip(view.names(&conditions)).map(series).collect();
    let (id, title) = (workload.name, format!("Latency of {}: histograms", workload.name));
    let seen = seen(&series);
    let plot = Histogram { across: (latency(), Scale::Logarithmic), noun: "transactions", series };
    view.figure(ids, (&format!("latency histogram {id}{more}"), &title), [seen], vec![Panel::new("", plot)])
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
fn seen(series: &[SampleSet]) -> String {
    let mut peaks: Vec<(&SampleSet, &Bucket)> =
        series.iter().filter_map(|one| Some((one, one.largest()?))).collect();
    peaks.sort_by(|one, other| one.1.low.total_cmp(&other.1.low));
    let edges = |bucket: &Bucket| {
        let [low, high] = [bucket.low, bucket.high].map(|edge| latency().shown(edge));
        format!("{low} to {high}")
    };
    let words = |(one, bucket): &(&SampleSet, &Bucket)| {
        let share = percent(one.share(bucket));
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

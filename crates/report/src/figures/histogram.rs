//! Latency as histograms: a row for each condition, all its runs together.

use std::ops::Range;

use record::LatencyHistogram;
use results::{counted, distinct, percent};
use store::StoredRun;

use super::Ids;
use super::view::{MeasuredWorkload, StudyView};
use super::words::latency;
use crate::chart::{Bucket, Figure, Histogram, Panel, SampleSet};

pub(super) fn about(views: &[StudyView<'_>]) -> Option<String> {
    views.iter().flat_map(|view| view.results.stored.measurements()).any(|run| stored(run).is_some()).then(|| {
        format!(
            "With each run a histogram of its latencies is stored: {} buckets for each factor of ten, each {} % wide. \
             The transactions of all runs of a condition are added up.",
            LatencyHistogram::PER_DECADE,
            results::rounded(LatencyHistogram::width_percent())
        )
    })
}

pub(super) fn figure(view: &StudyView<'_>, workload: &MeasuredWorkload<'_>, ids: &mut Ids) -> Option<Figure> {
    let runs = |condition: usize| {
        let own = view.results.stored.measurements_of(condition);
        own.filter_map(|run| Some((run.boot, stored(run).filter(|one| one.count() > 0)?)))
    };
    let has_any = |condition: &&usize| workload.kind.is_rr() && runs(**condition).next().is_some();
    let conditions: Vec<usize> = workload.telling.iter().filter(has_any).copied().collect();
    if conditions.is_empty() {
        return None;
    }
    let series = |(condition, name): (&usize, String)| {
        let boots = distinct(runs(*condition).map(|(boot, _)| boot)).len();
        let mut pooled = LatencyHistogram::default();
        runs(*condition).for_each(|(_, histogram)| pooled.add(histogram));
        let bucket = |(latencies, count): (Range<u64>, u64)| Bucket {
            low: latencies.start as f64,
            high: latencies.end as f64,
            count,
        };
        let about = format!("{}, {}", counted(runs(*condition).count(), "run"), counted(boots, "boot"));
        SampleSet { name, about, buckets: pooled.buckets().map(bucket).collect() }
    };
    let series: Vec<SampleSet> = conditions.iter().zip(view.names(&conditions)).map(series).collect();
    let (id, title) = (workload.name, format!("Latency of {}: histograms", workload.name));
    let seen = seen(&series);
    let plot = Histogram { quantity: latency(), noun: "transactions", series };
    view.figure(ids, (&format!("latency histogram {id}"), &title), [seen], vec![Panel::new("", plot)])
}

fn stored(run: &StoredRun) -> Option<&LatencyHistogram> {
    // The side that asks knows when the answer came; it is the first.
    run.detail.sides().next()?.whole.outcome.latency.as_ref()?.histogram.as_ref()
}

fn seen(series: &[SampleSet]) -> String {
    let mut peaks: Vec<(&SampleSet, &Bucket)> =
        series.iter().filter_map(|one| Some((one, one.largest()?))).collect();
    peaks.sort_by(|one, other| one.1.low.total_cmp(&other.1.low));
    let edges = |bucket: &Bucket| {
        let [low, high] = [bucket.low, bucket.high].map(|edge| latency().text(edge));
        format!("{low} to {high}")
    };
    let peak_text = |(one, bucket): &(&SampleSet, &Bucket)| {
        let share = percent(one.share(bucket));
        format!("{} with {} ({share} %, {})", edges(bucket), one.name, one.about)
    };
    let peaks = match &peaks[..] {
        [] => return String::new(),
        [only] => peak_text(only),
        [(_, low), .., (_, high)] if low.low == high.low => format!("{} in each condition", edges(low)),
        [low, .., high] => format!("{}; {}", peak_text(low), peak_text(high)),
    };
    format!("The bucket with the most transactions: {peaks}")
}

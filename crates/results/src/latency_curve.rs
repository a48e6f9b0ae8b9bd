//! Latency against offered load, and the knee of the curve: this is the JSON of
//! `netassay load --latency-curve`.

use serde::Serialize;
use stats::knee::{Knee, KneePoint, of_repeats};
use words::Traffic;

/// The number of figures of a load.
pub const FIGURES: usize = 5;

/// Latency against offered load.
#[derive(Debug, Serialize)]
pub struct LatencyCurve {
    /// The version that measured it.
    pub netassay: &'static str,
    /// The traffic.
    pub asked: Traffic,
    /// The length of each window.
    pub seconds: f64,
    /// The number of windows of each load.
    pub repeats: usize,
    /// Requests per second of the last point: as many as were answered at full speed, or `rate`.
    pub most: u32,
    /// The medians of the repeats, by rising load.
    pub points: Vec<LoadPoint>,
    /// In requests per second.
    pub knee: Option<Knee>,
    /// The number of windows that something disturbed.
    pub disturbed: usize,
    /// Why windows failed and were made again.
    pub failures: Vec<String>,
}

/// The result of a load: rates in 1/s, times in ns.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LoadPoint {
    /// Requests that were offered.
    pub asked: f64,
    /// Requests that were answered.
    pub answered: f64,
    /// The mean of the round trips.
    pub latency_mean: f64,
    /// Half of the round trips take no longer.
    pub latency_p50: f64,
    /// 99 % of the round trips take no longer.
    pub latency_p99: f64,
}

impl LatencyCurve {
    /// The curve of an even number of repeats, each with the [`LoadPoint`] figures by rising load.
    pub fn new(traffic: &Traffic, seconds: f64, most: u32, repeats: &[Vec<[f64; FIGURES]>]) -> Self {
        let points = |row: &Vec<[f64; FIGURES]>| -> Vec<KneePoint> {
            let point =
                |&[offered, served, latency, ..]: &[f64; FIGURES]| KneePoint { offered, served, latency };
            row.iter().map(point).collect()
        };
        let loads = repeats.first().map_or(0, Vec::len);
        Self {
            netassay: env!("CARGO_PKG_VERSION"),
            asked: traffic.clone(),
            seconds,
            repeats: repeats.len(),
            most,
            points: (0..loads).map(|load| medians(repeats.iter().map(|row| row[load]))).collect(),
            knee: of_repeats(&repeats.iter().map(points).collect::<Vec<_>>()),
            disturbed: 0,
            failures: Vec::new(),
        }
    }
}

fn medians(rows: impl Iterator<Item = [f64; FIGURES]> + Clone) -> LoadPoint {
    let median = |figure: usize| {
        let mut values: Vec<f64> = rows.clone().map(|row| row[figure]).collect();
        values.sort_by(f64::total_cmp);
        f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
    };
    let [asked, answered, latency_mean, latency_p50, latency_p99] = std::array::from_fn(median);
    LoadPoint { asked, answered, latency_mean, latency_p50, latency_p99 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_even_number_lies_between_two() {
        let median =
            medians([4.0, 1.0, 3.0, 100.0].map(|latency| [10.0, 10.0, latency, 0.0, 0.0]).into_iter());
        assert!((median.latency_mean - 3.5).abs() < 1e-12 && (median.asked - 10.0).abs() < 1e-12);
    }
}

//! Curves and histograms.

use netassay_report::chart::{Bucket, Curve, Curves, Figure, Histogram, Id, Quantity, SampleSet, Scale};

use super::{Noise, digits, throughput_in_mbit, time};

fn curve(name: &str, measured: bool, points: impl Iterator<Item = (f64, f64)>) -> Curve {
    Curve { name: name.to_owned(), points: points.collect(), measured }
}

pub(super) fn strip() -> Figure {
    let mut noise = Noise(4);
    let mut series = |name: &str, mean: f64, stall: f64| {
        let rates = (0..1500).map(|step| {
            let at = f64::from(step) / 150.0;
            let rate = if (stall..stall + 0.3).contains(&at) { 0.0 } else { mean + 240.0 * noise.bell() };
            (at, rate.max(0.0))
        });
        curve(name, false, rates.collect::<Vec<_>>().into_iter())
    };
    let plot = Curves {
        across: (Quantity::new("time since the window opened", "s", digits), Scale::Linear),
        up: (throughput_in_mbit(), Scale::FromZero),
        curves: vec![series("ipv4, boot 1, run 3", 6900.0, 20.0), series("ipv6, boot 1, run 3", 4100.0, 6.2)],
        flags: vec![(6.2, "stall of 300 ms".to_owned())],
    };
    Figure::new(Id::new("strip"), "Inside two runs", "IPv6 stalled once.", plot)
}

pub(crate) fn histogram_plot() -> Histogram {
    // A peak with a tail: each time ten times as long, a thousandth as many.
    let set = |name: &str, centre: f64, spread: f64, stalls: u64| {
        let edge = |place: i32| 1_000.0 * 10.0_f64.powf(f64::from(place) / 25.0);
        let buckets = (0..90).map(|place| {
            let away = f64::from(place) - centre;
            let peak = 100_000.0 * (-(away / spread).powi(2) / 2.0).exp();
            let tail = if away > 0.0 { 3_000.0 * (-away / 4.0).exp() } else { 0.0 };
            let stalled = if place == 85 { stalls } else { 0 };
            Bucket { low: edge(place), high: edge(place + 1), count: (peak + tail) as u64 + stalled }
        });
        SampleSet {
            name: name.to_owned(),
            about: "30 runs, 10 boots".to_owned(),
            buckets: buckets.filter(|bucket| bucket.count > 0).collect(),
        }
    };
    Histogram {
        quantity: Quantity::new("latency of a transaction", "", time),
        noun: "transactions",
        series: vec![
            set("interrupts", 28.0, 2.5, 40),
            set("busy polling", 22.0, 0.8, 0),
            set("busy polling beside another program", 24.0, 4.0, 7_000),
        ],
    }
}

pub(super) fn histogram() -> Figure {
    let words = "Busy polling is faster, if it is alone.";
    Figure::new(Id::new("histogram"), "Latency, as shares", words, histogram_plot())
}

pub(super) fn load() -> Figure {
    let path = |name: &str, capacity: f64| {
        let loads = (1..=10).map(move |step| f64::from(step) * capacity / 10.5);
        curve(name, true, loads.map(move |load| (load, 12_000.0 / (1.0 - load / capacity))))
    };
    let plot = Curves {
        across: (Quantity::new("offered load", "Gbit/s", digits), Scale::FromZero),
        up: (Quantity::new("latency, 99 % quantile", "", time), Scale::Logarithmic),
        curves: vec![path("ipv4", 9.4), path("ipv6", 7.1)],
        flags: vec![
            (8.1, "knee of ipv4, 8.1 Gbit/s".to_owned()),
            (6.0, "knee of ipv6, 6.0 Gbit/s".to_owned()),
        ],
    };
    Figure::new(Id::new("load"), "Latency against offered load", "Each has a knee.", plot)
}

//! Runs as dots, and over tags.

use netassay_report::chart::{Dots, DotsCondition, Figure, HistoryPlot, Id, Quantity};

use super::{Noise, about, digits, throughput_in_mbit};
use crate::odd::level_from;

fn condition(name: &str, means: &[f64], sd: f64, half: f64, noise: &mut Noise) -> DotsCondition {
    let boot = |(index, mean): (usize, &f64)| {
        (format!("boot {}", index + 1), (0..10).map(|_| mean + sd * noise.bell()).collect())
    };
    let boots = means.iter().enumerate().map(boot).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    DotsCondition { name: name.to_owned(), boots, interval: Some(about(mean, half)) }
}

pub(crate) fn dots_plot() -> Dots {
    let mut noise = Noise(1);
    Dots {
        quantity: Quantity::new("packets sent", "1/s", digits),
        interval: "95 % interval of the mean over boots".to_owned(),
        conditions: vec![
            condition("udp4", &[294_100.0, 295_300.0, 295_400.0], 900.0, 1_900.0, &mut noise),
            condition("udp4 checksum=off", &[293_000.0, 294_900.0, 294_300.0], 900.0, 2_400.0, &mut noise),
            condition("udp6", &[192_300.0, 196_500.0, 201_400.0], 600.0, 11_300.0, &mut noise),
        ],
    }
}

pub(super) fn dots() -> Figure {
    Figure::new(
        Id::new("runs"),
        "Boots of IPv6 differ more than its runs do",
        "Every run as a dot, a lane per boot. Runs of udp6 lie in three clusters, one per boot.",
        dots_plot(),
    )
}

pub(super) fn many_dots() -> Figure {
    let mut noise = Noise(2);
    let conditions = [
        ("ipv4 offloads=default checksum=off", 6236.0, 1136.0),
        ("ipv4 offloads=none checksum=off", 6562.0, 931.0),
        ("ipv4 offloads=default", 6582.0, 1061.0),
        ("ipv4 offloads=none", 3769.0, 256.0),
        ("ipv6 offloads=default", 5195.0, 788.0),
        ("ipv6 offloads=none", 3551.0, 594.0),
    ]
    .map(|(name, mean, sd)| {
        let means: Vec<f64> = (0..9).map(|_| mean + sd * 0.7 * noise.bell()).collect();
        condition(name, &means, sd * 0.7, sd * 0.6, &mut noise)
    });
    let plot = Dots {
        quantity: throughput_in_mbit(),
        interval: "95 % interval of the mean over boots".to_owned(),
        conditions: conditions.to_vec(),
    };
    Figure::new(Id::new("loopback"), "UDP over loopback", "540 runs in nine boots.", plot)
}

pub(crate) fn history_plot() -> HistoryPlot {
    let mut noise = Noise(5);
    let point = |index: u32| {
        let level = if index < 9 {
            41.2
        } else if index < 16 {
            39.8
        } else {
            42.6
        };
        (format!("v6.{}", index + 1), about(level + 0.2 * noise.bell(), 0.45))
    };
    let level = |first, mean, change: &str| (level_from(first, mean), change.to_owned());
    HistoryPlot {
        tags: "kernel".to_owned(),
        quantity: Quantity::new("throughput", "Gbit/s", digits),
        interval: "95 % interval".to_owned(),
        points: (0..22).map(point).collect(),
        levels: vec![
            level(0, 41.2, ""),
            level(9, 39.8, "-3.4 %, confidence 99.9 %"),
            level(16, 42.6, "+7.0 %, confidence 99.9 %"),
        ],
    }
}

pub(super) fn history() -> Figure {
    Figure::new(Id::new("history"), "Throughput over kernels", "Two changes.", history_plot())
}

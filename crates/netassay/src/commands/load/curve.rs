//! `netassay load KIND --latency-curve`: latency against offered load, and the knee of the curve.

use load::Traffic;
use report::document::Block;
use report::{Cell, Table, cells};
use results::counted;
use serde::Serialize;
use stats::knee::{Knee, Point, of_repeats};
use study::metric;
use testbed::{RunOrder, Testbed};
use words::MAX_RATE;

use crate::commands::load::asked::Asked;
use crate::failure::Failure;
use crate::terminal::windows;

/// The number of loads: tenths of the most.
const LOADS: u32 = 10;
/// The number of windows of each load. The least and the largest of six knees hold the median knee
/// with 96.9 % confidence; of five it would be 93.8 %.
const REPEATS: u32 = 6;

/// The number of windows: of each load its repeats, and one that finds the most where no rate says
/// it.
fn window_count(rate: Option<u32>) -> u32 {
    LOADS * REPEATS + u32::from(rate.is_none())
}

#[derive(Debug, Serialize)]
pub(super) struct LatencyCurve {
    netassay: &'static str,
    asked: Traffic,
    seconds: f64,
    repeats: u32,
    /// Requests per second of the last point: as many as were answered of all that were asked as
    /// fast as possible, or `rate`.
    most: u32,
    /// The medians of the repeats, by rising load.
    points: Vec<LoadPoint>,
    /// In requests per second.
    knee: Option<Knee>,
    disturbed: usize,
    failures: Vec<String>,
}

/// The result of a window, or the medians of several: rates in 1/s, times in ns.
#[derive(Debug, Clone, Copy, Serialize)]
struct LoadPoint {
    asked: f64,
    answered: f64,
    latency_mean: f64,
    latency_p50: f64,
    latency_p99: f64,
}

pub(super) fn check(asked: &Asked) -> Result<(), Failure> {
    let traffic = &asked.order.traffic;
    if !traffic.kind.is_rr() {
        let kind = traffic.kind;
        return Err(Failure::Usage(format!(
            "--latency-curve: `{kind}` measures no latency; use tcp_rr, udp_rr or tcp_crr"
        )));
    }
    let paced = Traffic { rate: traffic.rate.or(Some(MAX_RATE)), ..traffic.clone() };
    paced.validate(asked.order.family).map_err(|misfit| Failure::Usage(format!("--latency-curve: {misfit}")))
}

/// Measures the curve: each load as often as any other, rising and falling in turns, so that what
/// drifts in time meets all alike. Beside another session every window is disturbed.
pub(super) fn measure(asked: &Asked, testbed: &mut Testbed, beside: bool) -> Result<LatencyCurve, Failure> {
    testbed.settle(&runner::switches_of(&asked.condition))?;
    let (mut disturbed, mut failures) = (0, Vec::new());
    let count = window_count(asked.order.traffic.rate);
    let flow = asked.order.ramp + asked.order.window;
    let progress = windows(&format!("{count} windows"), count, flow);
    let mut at = |rate: u32| -> Result<LoadPoint, Failure> {
        let traffic = Traffic { rate: Some(rate), ..asked.order.traffic.clone() };
        let order = RunOrder { traffic, ..asked.order.clone() };
        let run = || runner::carry_out(&order, &mut |order| testbed.run(order, &mut || {}));
        let judged = runner::repeated(&mut failures, run)?;
        progress.inc(1);
        disturbed += usize::from(beside || !judged.disturbed.is_empty());
        let metrics = runner::metrics(&order.traffic, &judged.account);
        let shown = [metric::TRANSACTIONS, metric::LATENCY_MEAN, metric::LATENCY_P50, metric::LATENCY_P99];
        let [answered, latency_mean, latency_p50, latency_p99] =
            shown.map(|metric| metrics.get(metric).unwrap_or(0.0));
        Ok(LoadPoint { asked: f64::from(rate), answered, latency_mean, latency_p50, latency_p99 })
    };
    let most = match asked.order.traffic.rate {
        Some(rate) => rate,
        None => at(MAX_RATE)?.answered as u32,
    };
    let mut rows: Vec<Vec<LoadPoint>> = Vec::new();
    for repeat in 0..REPEATS {
        let mut row = Vec::new();
        for part in 1..=LOADS {
            let part = if repeat % 2 == 0 { part } else { LOADS + 1 - part };
            let rate = u64::from(most) * u64::from(part) / u64::from(LOADS);
            row.push(at(u32::try_from(rate).unwrap_or(MAX_RATE).max(1))?);
        }
        row.sort_by(|one, other| one.asked.total_cmp(&other.asked));
        rows.push(row);
    }
    Ok(LatencyCurve {
        netassay: env!("CARGO_PKG_VERSION"),
        asked: asked.order.traffic.clone(),
        seconds: asked.order.window.as_secs_f64(),
        repeats: REPEATS,
        most,
        points: (0..LOADS as usize).map(|load| medians(rows.iter().map(|row| row[load]).collect())).collect(),
        knee: knee(&rows),
        disturbed,
        failures,
    })
}

fn knee(rows: &[Vec<LoadPoint>]) -> Option<Knee> {
    let curve = |row: &Vec<LoadPoint>| {
        let points = row.iter().map(|one| Point {
            offered: one.asked,
            served: one.answered,
            latency: one.latency_mean,
        });
        points.collect::<Vec<_>>()
    };
    of_repeats(&rows.iter().map(curve).collect::<Vec<_>>())
}

/// Each figure's median, of an even number of rows.
fn medians(rows: Vec<LoadPoint>) -> LoadPoint {
    let median = |of: fn(&LoadPoint) -> f64| {
        let mut values: Vec<f64> = rows.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
    };
    LoadPoint {
        asked: median(|row| row.asked),
        answered: median(|row| row.answered),
        latency_mean: median(|row| row.latency_mean),
        latency_p50: median(|row| row.latency_p50),
        latency_p99: median(|row| row.latency_p99),
    }
}

impl LatencyCurve {
    pub(super) fn blocks(&self) -> Vec<Block<'static>> {
        let mut table = Table::new(["load %", "asked/s", "answered/s", "mean µs", "p50 µs", "p99 µs"]);
        for (row, part) in self.points.iter().zip(1..) {
            let [mean, p50, p99] = [row.latency_mean, row.latency_p50, row.latency_p99].map(|ns| ns / 1e3);
            let [asked, answered] = [row.asked, row.answered].map(|rate| Cell::fixed(rate, 0));
            table.row(cells![part * 100 / LOADS, asked, answered, mean, p50, p99]);
        }
        let title = format!(
            "{}: latency against offered load; medians of {} windows of {} s each",
            self.asked.kind, self.repeats, self.seconds
        );
        let knee = match &self.knee {
            Some(knee) if knee.is_beyond(self.points.last().map_or(0.0, |last| last.asked)) => {
                "none; up to the highest load each step brings more than it costs in latency".to_owned()
            }
            Some(knee) => format!(
                "{:.0} requests/s, between {:.0} and {:.0} with {:.1} % confidence: there requests/s divided by the mean latency are at their most",
                knee.load,
                knee.lower,
                knee.upper,
                knee.confidence * 100.0
            ),
            None => "none; a window was without any answer".to_owned(),
        };
        let mut facts = vec![("knee", knee)];
        if self.disturbed > 0 {
            let (disturbed, all) = (counted(self.disturbed, "window"), window_count(self.asked.rate));
            facts.push(("disturbed", format!("{disturbed} of {all}; they are in the medians")));
        }
        let failed = || counted(self.failures.len(), "window");
        facts.extend(
            self.failures.last().map(|why| ("failed and made again", format!("{}: {why}", failed()))),
        );
        vec![Block::Table(table.titled(title)), Block::Facts(facts)]
    }
}

#[cfg(test)]
mod tests {
    use report::Layout;
    use report::document::terminal;

    use super::*;

    fn row(asked: f64, latency: f64) -> LoadPoint {
        LoadPoint {
            asked,
            answered: asked,
            latency_mean: latency,
            latency_p50: latency,
            latency_p99: latency,
        }
    }

    #[test]
    fn the_middle_of_an_even_number_lies_between_two() {
        let median = medians([4.0, 1.0, 3.0, 100.0].map(|latency| row(10.0, latency)).to_vec());
        assert!((median.latency_mean - 3.5).abs() < 1e-12 && (median.asked - 10.0).abs() < 1e-12);
    }

    #[test]
    fn a_knee_is_told_with_its_interval_or_its_absence() {
        let text = |latencies: [f64; 3]| {
            let rows: Vec<LoadPoint> = [100.0, 200.0, 300.0]
                .into_iter()
                .zip(latencies)
                .map(|(asked, latency)| row(asked, latency))
                .collect();
            let curve = LatencyCurve {
                netassay: "",
                asked: Traffic::new(load::Kind::UdpRr),
                seconds: 1.0,
                repeats: REPEATS,
                most: 300,
                knee: knee(&vec![rows.clone(); 6]),
                points: rows,
                disturbed: 2,
                failures: vec!["late".to_owned()],
            };
            terminal(&curve.blocks(), Layout::WIDE)
        };
        let bent = text([1e3, 1.2e3, 9e3]);
        assert!(bent.contains("knee: 200 requests/s, between 200 and 200 with 96.9 % confidence"), "{bent}");
        assert!(bent.contains("disturbed: 2 windows of 61"), "{bent}");
        assert!(bent.contains("failed and made again: 1 window: late"), "{bent}");
        assert!(text([1e3, 1e3, 1e3]).contains("knee: none; up to the highest load"));
        assert!(text([1e3, 1e3, 0.0]).contains("knee: 200 requests/s"));
    }
}

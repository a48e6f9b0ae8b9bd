//! How much boots and runs differ on this machine, and how much more when runs are shorter.

use std::time::Duration;

use clap::Args;
use load::{Kind, Traffic};
use serde_json::json;
use stats::{Component, Question, analyse};

use super::experiment::conduct;
use super::protocol::Protocol;
use super::rig::Rig;
use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::Report;
use crate::table::Table;

/// Options of `components`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only this workload (tcp_stream, udp_stream, udp_rr); may be given several times
    #[arg(long = "workload", value_name = "KIND", value_parser = crate::traffic::options::kind)]
    pub(crate) kinds: Vec<load::Kind>,
    /// No runs longer than this, in seconds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10))]
    pub(crate) longest: u64,
}

/// What is measured: length of the runs in ms, boots, runs of each condition in each boot. Longer
/// runs are fewer, so that each takes minutes at most.
const PLANS: [(u64, u32, u32); 3] = [(200, 10, 5), (1000, 6, 3), (10_000, 3, 3)];
/// The workloads, and their message sizes in bytes.
const WORKLOADS: [(Kind, u32); 3] = [(Kind::TcpStream, 16_384), (Kind::UdpStream, 200), (Kind::UdpRr, 1)];
/// From the threads' start to the window.
const RAMP: Duration = Duration::from_millis(100);

/// `netassay-bench components`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    let heading = [
        "workload",
        "window s",
        "boots",
        "runs",
        "mean",
        "boots %",
        "interaction %",
        "runs %",
        "95 %",
        "boot s",
        "run s",
    ];
    let mut report = Report::begin("components", Table::new(1, heading));
    report.note(
        "standard deviations in % of the mean, of two conditions that are the same, interleaved, over veth and IPv4; \
         the interval is that of the runs; boot s and run s: what a boot and a run took beyond ramps and windows",
    );
    let plans = if bench.common.smoke { &[(20, 2, 2)] } else { PLANS.as_slice() };
    let chosen = |kind: &Kind| options.kinds.is_empty() || options.kinds.contains(kind);
    let mut results = Vec::new();
    for (kind, message) in WORKLOADS.into_iter().filter(|(kind, _)| chosen(kind)) {
        let mut seen = Vec::new();
        for (window, boots, runs) in plans {
            if *window > 1000 * options.longest {
                continue;
            }
            let window = Duration::from_millis(*window);
            let protocol = Protocol::of_components(*boots, *runs, RAMP, window);
            let response = if kind.is_rr() { message } else { 0 };
            let traffic = Traffic { message, response, ..Traffic::new(kind) };
            let mut rig = Rig::new(bench, [traffic.clone(), traffic]);
            let mut observations = Vec::new();
            conduct(
                &protocol,
                &mut rig.measuring(&protocol),
                &mut observations,
                &stats::Spending::default(),
            )?;
            let analysis = analyse(&observations, &Question::against(0))
                .map_err(|error| Failure::Environment(error.to_string()))?;
            let mean = analysis.conditions.first().map_or(0.0, |condition| condition.mean);
            let percent = |sd: f64| 100.0 * sd / mean;
            let parts = analysis.components;
            let sd = |part: Option<Component>| part.map_or(0.0, |part| percent(part.sd));
            let interval = parts.runs.and_then(|part| part.interval).unwrap_or_default();
            let costs = rig.costs();
            bench.say(&format!(
                "components, {kind}, {} s: runs {:.2} %",
                window.as_secs_f64(),
                sd(parts.runs)
            ));
            report.table.row([
                kind.to_string(),
                format!("{}", window.as_secs_f64()),
                boots.to_string(),
                runs.to_string(),
                format!("{mean:.0}"),
                format!("{:.2}", sd(parts.boots)),
                format!("{:.2}", sd(parts.interaction)),
                format!("{:.2}", sd(parts.runs)),
                format!("{:.2} to {:.2}", percent(interval.0), percent(interval.1)),
                format!("{:.3}", costs.boot),
                format!("{:.3}", costs.run),
            ]);
            seen.push((window.as_secs_f64(), sd(parts.runs)));
            results.push(json!({
                "workload": kind, "window_s": window.as_secs_f64(), "boots": boots, "runs": runs, "mean": mean,
                "components": parts, "costs": costs, "values": observations,
            }));
        }
        if let Some((floor, white)) = split(&seen) {
            report.note(format!(
                "{kind}: the runs' spread is about that of --floor {floor:.2} --white {white:.2} (bench verdict)"
            ));
        }
    }
    report.results = results.into();
    Ok(report.finish())
}

/// Floor and white part of the runs' spread, from the shortest and the longest runs: (length in s,
/// sd), in order. None for fewer than two lengths.
fn split(seen: &[(f64, f64)]) -> Option<(f64, f64)> {
    let ((short, above), (long, below)) = (*seen.first()?, *seen.last()?);
    if short >= long {
        return None;
    }
    let white = ((above.powi(2) - below.powi(2)) / (1.0 / short - 1.0 / long)).max(0.0);
    Some(((below.powi(2) - white / long).max(0.0).sqrt(), white.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_split_by_its_fall() {
        let sd = |floor: f64, white: f64, window: f64| (floor * floor + white * white / window).sqrt();
        let (floor, white) =
            split(&[(0.2, sd(0.5, 1.2, 0.2)), (1.0, 9.0), (10.0, sd(0.5, 1.2, 10.0))]).unwrap();
        assert!((floor - 0.5).abs() < 1e-9 && (white - 1.2).abs() < 1e-9, "{floor} {white}");
        assert_eq!(split(&[(0.2, 1.0), (10.0, 2.0)]), Some((2.0, 0.0)));
        assert_eq!(split(&[(0.2, 1.0)]), None);
    }
}

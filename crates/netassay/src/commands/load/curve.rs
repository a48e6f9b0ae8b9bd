//! `netassay load KIND --latency-curve`: measures latency at ten loads.

use load::Traffic;
use results::LatencyCurve;
use study::metric;
use testbed::{RunOrder, Testbed};
use words::MAX_RATE;

use crate::commands::load::asked::Asked;
use crate::failure::{Failure, bail};
use crate::terminal::windows;

/// The number of loads: tenths of the most.
const LOADS: u32 = 10;
/// The number of windows of each load.
// The least and the largest of six knees hold the median knee with 96.9 % confidence; of five it
// would be 93.8 %.
const REPEATS: u32 = 6;

pub(super) fn check(asked: &Asked) -> Result<(), Failure> {
    let traffic = &asked.order.traffic;
    if !traffic.kind.is_rr() {
        let kind = traffic.kind;
        bail!(Usage, "--latency-curve: `{kind}` measures no latency; use tcp_rr, udp_rr or tcp_crr");
    }
    let paced = Traffic { rate: traffic.rate.or(Some(MAX_RATE)), ..traffic.clone() };
    paced.validate(asked.order.family).map_err(|misfit| Failure::Usage(format!("--latency-curve: {misfit}")))
}

/// Measures the curve: each load as often as any other.
pub(super) fn measure(asked: &Asked, testbed: &mut Testbed, beside: bool) -> Result<LatencyCurve, Failure> {
    testbed.settle(&runner::switches_of(&asked.condition))?;
    let (mut disturbed, mut failures) = (0, Vec::new());
    // Without a rate, one more window finds the most.
    let count = LOADS * REPEATS + u32::from(asked.order.traffic.rate.is_none());
    let flow = asked.order.ramp + asked.order.window;
    let progress = windows(&format!("{count} windows"), count, flow);
    let mut at = |rate: u32| -> Result<[f64; results::FIGURES], Failure> {
        let traffic = Traffic { rate: Some(rate), ..asked.order.traffic.clone() };
        let order = RunOrder { traffic, ..asked.order.clone() };
        let run = || runner::carry_out(&order, &mut |order| testbed.run(order, &mut || {}));
        let judged = runner::repeated(&mut failures, run)?;
        progress.inc(1);
        // Beside another session every window is disturbed.
        disturbed += usize::from(beside || !judged.disturbed.is_empty());
        let metrics = runner::metrics(&order.traffic, &judged.account);
        let shown = [metric::TRANSACTIONS, metric::LATENCY_MEAN, metric::LATENCY_P50, metric::LATENCY_P99];
        let [answered, mean, p50, p99] = shown.map(|metric| metrics.get(metric).unwrap_or(0.0));
        Ok([f64::from(rate), answered, mean, p50, p99])
    };
    let most = match asked.order.traffic.rate {
        Some(rate) => rate,
        None => {
            let [_, answered, ..] = at(MAX_RATE)?;
            answered as u32
        }
    };
    let mut repeats = Vec::new();
    for repeat in 0..REPEATS {
        let mut row = Vec::new();
        for part in 1..=LOADS {
            // Rising and falling in turns, so that a drift in time meets all loads alike.
            let part = if repeat % 2 == 0 { part } else { LOADS + 1 - part };
            let rate = u64::from(most) * u64::from(part) / u64::from(LOADS);
            row.push(at(u32::try_from(rate).unwrap_or(MAX_RATE).max(1))?);
        }
        row.sort_by(|one, other| one[0].total_cmp(&other[0]));
        repeats.push(row);
    }
    let seconds = asked.order.window.as_secs_f64();
    let curve = LatencyCurve::new(&asked.order.traffic, seconds, most, &repeats);
    Ok(LatencyCurve { disturbed, failures, ..curve })
}

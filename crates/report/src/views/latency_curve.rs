//! Latency against offered load.

use results::{LatencyCurve, counted};
use stats::knee::Knee;

use crate::cells;
use crate::document::{Block, Cell, Table};

/// The curve, its knee, and the windows that were disturbed or failed.
pub fn latency_curve(found: &LatencyCurve) -> Vec<Block<'static>> {
    let rows = found.points.iter().zip(1..).map(|(row, part)| {
        let [mean, p50, p99] = [row.latency_mean, row.latency_p50, row.latency_p99].map(|ns| ns / 1e3);
        let [asked, answered] = [row.asked, row.answered].map(|rate| Cell::fixed(rate, 0));
        cells![part * 100 / found.points.len(), asked, answered, mean, p50, p99]
    });
    let table = Table::with_rows(["load %", "asked/s", "answered/s", "mean µs", "p50 µs", "p99 µs"], rows);
    let (kind, repeats, seconds) = (&found.asked.kind, found.repeats, found.seconds);
    let title =
        format!("{kind}: latency against offered load; medians of {repeats} windows of {seconds} s each");
    let knee = match &found.knee {
        Some(knee) if knee.is_beyond(found.points.last().map_or(0.0, |last| last.asked)) => {
            "none; up to the highest load each step brings more than it costs in latency".to_owned()
        }
        Some(Knee { load, lower, upper, confidence }) => format!(
            "{load:.0} requests/s, between {lower:.0} and {upper:.0} with {:.1} % confidence: there requests/s divided by the mean latency are at their most",
            confidence * 100.0
        ),
        None => "none; a window was without any answer".to_owned(),
    };
    let mut facts = vec![("knee", knee)];
    if found.disturbed > 0 {
        facts.push(("disturbed", format!("{}; they are in the medians", counted(found.disturbed, "window"))));
    }
    if let Some(why) = found.failures.last() {
        let failed = counted(found.failures.len(), "window");
        facts.push(("failed and made again", format!("{failed}: {why}")));
    }
    vec![Block::Table(table.titled(title)), Block::Facts(facts)]
}

#[cfg(test)]
mod tests {
    use words::{Kind, Traffic};

    use super::*;
    use crate::document::{Layout, terminal};

    #[test]
    fn a_knee_is_told_with_its_interval_or_its_absence() {
        let text = |latencies: [f64; 3]| {
            let row = |(asked, latency)| [asked, asked, latency, latency, latency];
            let rows: Vec<_> = [100.0, 200.0, 300.0].into_iter().zip(latencies).map(row).collect();
            let curve = LatencyCurve::new(&Traffic::new(Kind::UdpRr), 1.0, 300, &vec![rows; 6]);
            let curve = LatencyCurve { disturbed: 2, failures: vec!["late".to_owned()], ..curve };
            terminal(&latency_curve(&curve), Layout::WIDE)
        };
        let bent = text([1e3, 1.2e3, 9e3]);
        assert!(bent.contains("knee: 200 requests/s, between 200 and 200 with 96.9 % confidence"), "{bent}");
        assert!(bent.contains("disturbed: 2 windows; they are in"), "{bent}");
        assert!(bent.contains("failed and made again: 1 window: late"), "{bent}");
        assert!(text([1e3, 1e3, 1e3]).contains("knee: none; up to the highest load"));
        assert!(text([1e3, 1e3, 0.0]).contains("knee: 200 requests/s"));
    }
}

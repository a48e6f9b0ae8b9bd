//! Histograms of latency, and latency against offered load.

use insta::assert_snapshot;
use netassay_report::chart::{Figure, NARROW, WIDE};
use netassay_report::{FigureSection, figures};
use record::{Detail, LatencyHistogram};
use store::StoredStudy;

use crate::faults::{faults, lines};
use crate::made_up::{guests, offered, shown};

fn latency(stored: &StoredStudy) -> FigureSection {
    let sections = figures::sections(&[shown(stored)]);
    sections.into_iter().find(|section| section.id.as_str() == "latency").unwrap()
}

fn figure<'a>(section: &'a FigureSection, id: &str) -> &'a Figure {
    section.figures.iter().find(|figure| figure.id.as_str() == id).unwrap()
}

fn number(cell: &str) -> Option<f64> {
    cell.parse().ok()
}

/// Forgets the histograms of the runs of the first boots.
fn without_histograms(mut stored: StoredStudy, boots: u32) -> StoredStudy {
    for run in stored.runs.iter_mut().filter(|run| run.boot <= boots) {
        let Detail::Measured(account) = &mut run.detail else { continue };
        account.transmitter.whole.outcome.latency.as_mut().unwrap().histogram = None;
    }
    stored
}

#[test]
fn a_histogram_has_the_quantiles_that_are_stored_beside_it() {
    let stored = guests();
    let section = latency(&stored);
    let histogram = figure(&section, "latency-histogram-udp-rr");
    let table = histogram.panels[0].plot.table();
    assert_eq!(table.heads()[2], "ipv4, % of 60000 transactions, 6 runs, 3 boots");
    let [percentiles] = section.tables.as_slice() else { panic!("one workload has latencies") };
    for (column, name) in ["ipv4", "ipv6"].into_iter().enumerate() {
        for share in [50.0, 90.0, 99.0] {
            let place = percentiles.heads().iter().position(|head| *head == format!("{share} %")).unwrap();
            let row = percentiles.rows().iter().find(|row| row[0].text().ends_with(name)).unwrap();
            let quantile = number(&row[place].text()).unwrap();
            // Shares are rounded, and the table has them as people read them.
            let bucket = |share: f64| {
                let mut passed = 0.0;
                let bucket = table.rows().iter().find(|row| {
                    passed += number(&row[2 + column].text()).unwrap_or(0.0);
                    passed >= share
                });
                number(&bucket.unwrap()[1].text()).unwrap()
            };
            let low = bucket(share - 0.5) / (1.0 + LatencyHistogram::width_percent() / 100.0);
            // Boots differ by 2 %, and the quantile of all runs is not quite the mean of quantiles.
            let within = low / 1.02..=bucket(share + 0.2) * 1.02;
            assert!(within.contains(&quantile), "{name} {share}: {quantile} in {within:?}");
        }
    }
    let all: f64 = table.rows().iter().filter_map(|row| number(&row[2].text())).sum();
    assert!((all - 100.0).abs() < 1.0, "rounded: {all}");
}

#[test]
fn runs_without_a_histogram_have_the_quantiles() {
    let about = |boots| latency(&without_histograms(guests(), boots)).about.join("\n");
    assert!(about(2).contains("25 buckets") && !about(3).contains("buckets"), "{}", about(3));
    let section = latency(&without_histograms(guests(), 3));
    assert!(section.figures.is_empty() && section.tables.len() == 1, "the quantiles are still shown");
    let pooled = latency(&without_histograms(guests(), 2));
    let table = figure(&pooled, "latency-histogram-udp-rr").panels[0].plot.table();
    assert_eq!(table.heads()[2], "ipv4, % of 20000 transactions, 2 runs, 1 boot");
}

#[test]
fn latency_against_load_has_its_knee() {
    let rates = [10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000];
    let section = latency(&offered(&rates, 120_000.0));
    let load = figure(&section, "latency-load-udp-rr");
    // Half of the capacity; over IPv6 that is 80,000/s.
    assert_eq!(
        load.description,
        "ipv4: knee at 60,000 requests/s (60,000 to 60,000, 96.9 % confidence). \
         ipv6: knee at 40,000 requests/s (40,000 to 40,000, 96.9 % confidence); of 90,000 requests/s only 80,000 were answered."
    );
    assert!(section.about.iter().any(|words| words.contains("Kleinrock")), "{:?}", section.about);
    assert_snapshot!(lines(load, WIDE));
    for width in [NARROW, WIDE] {
        assert_eq!(faults(load, width), [""; 0]);
    }
}

#[test]
fn a_curve_without_a_knee_says_why() {
    let words = |stored: &StoredStudy| figure(&latency(stored), "latency-load-udp-rr").description.clone();
    let rising = words(&offered(&[1_000, 2_000, 3_000], 120_000.0));
    let beyond = "no knee: it lies beyond 3,000 requests/s, the most that was offered";
    assert_eq!(rising, format!("ipv4: {beyond}. ipv6: {beyond}."));
    assert!(
        words(&offered(&[1_000, 2_000], 120_000.0)).contains("no knee: fewer than three loads were offered")
    );
    let rates = [20_000, 40_000, 60_000, 80_000];
    let mut one = offered(&rates, 120_000.0);
    one.runs.retain(|run| run.boot == 1);
    assert!(
        words(&one).contains("ipv4: knee at 60,000 requests/s (one boot: no interval)"),
        "{}",
        words(&one)
    );
    let mut apart = offered(&rates, 120_000.0);
    // Each boot has half of the loads.
    apart.runs.retain(|run| (run.boot as usize + run.condition).is_multiple_of(2));
    assert!(words(&apart).contains("no knee: no boot measured every load"), "{}", words(&apart));
    // One load is no curve.
    let section = latency(&offered(&[1_000], 120_000.0));
    assert!(section.figures.iter().all(|figure| !figure.id.as_str().contains("load")));
    assert!(section.about.iter().all(|words| !words.contains("Kleinrock")));
}

//! Pages stay small.

use netassay_report::{Download, Page, figures};
use record::{Evidence, Limit};
use results::Results;
use store::StoredStudy;
use study::metric::{METRICS, MetricNeeds};
use study::{Condition, Side};

use crate::made::is_on;
use crate::made_up::{large, parsed, shown};

/// A page of 1,000 runs is at most so large, in bytes, its downloads included.
const MOST: usize = 1_000_000;

fn bytes(studies: &[Results]) -> usize {
    let of = |section: &netassay_report::FigureSection| -> usize {
        let shown = section.figures.iter().map(|figure| figure.html().as_str().len());
        shown.chain(section.folded.iter().map(|figure| figure.small_html().as_str().len())).sum()
    };
    figures::sections(studies).iter().map(of).sum()
}

#[test]
fn the_figures_of_a_thousand_runs_leave_room_in_a_page_of_a_megabyte() {
    for (conditions, boots, runs) in [(10, 10, 10), (40, 5, 5), (4, 3, 84), (100, 5, 2)] {
        let size = bytes(&[shown(&large(conditions, boots, runs))]);
        assert!(size < 300_000, "{conditions} conditions, {boots} boots, {runs} runs: {size} bytes");
    }
}

/// The metrics that are 0 in every run between namespaces, in a stored study of
/// `offload-gain-veth`.
const IDLE: [&str; 7] = ["_irq", "_steal", "_tasklet", "_net_tx", "_hrtimer", ".drops", "lost_device"];

/// Every combination of these switches for each of these workloads, TCP and UDP in turn, with as
/// many boots and runs. Each run has all metrics of its traffic with all their digits, CPU use as
/// the kernel counts it, in ticks, and evidence of what limited it; what is [`IDLE`] is 0.
fn factorial(switches: &[&str], workloads: &[&str], boots: u32, runs: u32) -> StoredStudy {
    let kinds = ["tcp_stream", "udp_stream"].into_iter().cycle();
    let workloads = workloads.iter().zip(kinds).map(|(name, kind)| {
        format!("[[workload]]\nname = \"{name}\"\nkind = \"{kind}\"\nduration = \"1s\"\n")
    });
    let quoted: Vec<String> = switches.iter().map(|switch| format!("{switch:?}")).collect();
    let compared = ["throughput", "transmitter.service_demand_byte", "receiver.service_demand_byte"];
    let (study, mut plan) = parsed(&format!(
        "name = \"gain\"\nquestion = \"which offload pays?\"\nscenario = \"veth\"\n{}\
         [design]\nkind = \"factorial\"\noffloads = [{}]\n[protocol]\nboots = {boots}\nruns = {runs}\n{}",
        workloads.collect::<String>(),
        quoted.join(", "),
        compared.map(|metric| format!("[[comparison]]\nmetric = \"{metric}\"\n")).concat()
    ));
    // A try on real interfaces gives the plan its design's states.
    plan.effective.clear();
    // A linear congruential generator (Knuth, MMIX): digits that do not repeat.
    let state = std::cell::Cell::new(1_u64);
    let noise = || {
        let next =
            state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.set(next);
        (next >> 11) as f64 / (1_u64 << 53) as f64
    };
    let values = |condition: &Condition, _: u32, _: u32| {
        let kind = condition.workload.traffic.kind;
        let on = switches.iter().filter(|switch| is_on(condition, switch)).count() as f64;
        let own =
            METRICS.iter().filter(|metric| metric.needs == MetricNeeds::Nothing && kind.produces(**metric));
        let value = |metric: &study::metric::Metric| {
            let value = match metric.unit {
                _ if IDLE.iter().any(|end| metric.key.ends_with(end)) => 0.0,
                "1" => (1000.0 * (1.0 + on) + 100.0 * noise()).round(),
                // A window of 0.6 s has 60 ticks.
                "%" => 100.0 * (60.0 * noise()).round() / 60.0,
                _ => 1000.0 * (1.0 + on) + 100.0 * noise(),
            };
            (metric.key, value)
        };
        own.map(value).collect()
    };
    let mut made = crate::made::stored(&study, &plan, values);
    for run in &mut made.runs {
        let threads = |side, sending| Evidence::Threads {
            side,
            sending,
            threads: 1,
            running: noise(),
            waiting: noise(),
            user: None,
        };
        let evidence = vec![threads(Side::Transmitter, true), threads(Side::Receiver, false)];
        run.limited_by = Some(Limit { label: "transmitter CPU".parse().unwrap(), evidence });
    }
    made
}

/// The page of a study with its downloads and advice, and how large each chapter of it is.
fn sizes(stored: &StoredStudy) -> (String, Vec<(String, usize)>) {
    let studies = [shown(stored)];
    let advice =
        results::advice::Advice::from_studies([stored], &results::advice::AdviceRequest::default()).unwrap();
    let page = Page {
        studies: &studies,
        figures: figures::sections(&studies),
        data: vec![Download::from_stored(stored)()],
        advice: netassay_report::views::advice(&advice),
    };
    let html = page.html().to_string();
    let mut parts: Vec<(String, usize)> = html
        .split("<section id=\"")
        .map(|part| (part.split('"').next().unwrap_or_default().to_owned(), part.len()))
        .collect();
    parts[0].0 = "head".to_owned();
    (html, parts)
}

#[test]
fn a_thousand_runs_in_48_conditions_have_less_than_a_megabyte() {
    let switches = ["transmitter.tx", "transmitter.gso", "receiver.gro", "receiver.rx"];
    let stored = factorial(&switches, &["tcp", "udp", "tcp-small"], 7, 3);
    assert_eq!((stored.plan.conditions.len(), stored.runs.len()), (48, 1008));
    let (html, chapters) = sizes(&stored);
    assert!(html.len() < MOST, "{} bytes: {chapters:?}", html.len());
}

/// Further conditions add rows to a dozen tables, and few runs.
#[test]
fn a_thousand_runs_in_128_conditions_have_less_than_a_megabyte() {
    let switches = ["transmitter.tso", "transmitter.tx", "transmitter.gso", "receiver.gro", "receiver.rx"];
    let stored = factorial(&switches, &["tcp-1450", "udp-1450", "tcp-8950", "udp-8950"], 8, 1);
    assert_eq!((stored.plan.conditions.len(), stored.runs.len()), (128, 1024));
    let (html, chapters) = sizes(&stored);
    assert!(html.len() < MOST, "{} bytes: {chapters:?}", html.len());
    for left_out in [
        "The tables of conditions have every comparison; `netassay compare 1` prints the 12 answers in words.",
        "else the baselines and both ends. The tables of conditions have all.",
    ] {
        assert_eq!(html.matches(left_out).count(), 1, "{left_out}");
    }
}

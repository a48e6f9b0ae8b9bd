//! Whatever was recorded: shares are shares, sizes are sizes, and the same figure is the same
//! everywhere.

use netassay_report::Layout;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use results::{ComparisonRequest, Comparisons, Results, figure, metric_name};
use serde_json::Value;
use store::{RunStatus, StoredStudy};
use study::{DesignKind, Study, metric};

use crate::made;
use crate::shown::Shown as _;

/// Runs of the made studies: conditions, boots, runs.
const RUNS: usize = 4 * 3 * 2;

/// A value that a counter may give: nothing, next to nothing, more than any counter holds, or much
/// like others.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(0.0),
        4 => (-12.0..308.0_f64).prop_map(|exponent| 10.0_f64.powf(exponent)),
        4 => 5_700.0..6_000.0_f64,
        2 => Just(5_817.0),
    ]
}

/// Values of all runs, of very different sizes or all alike, and which of the runs are valid.
fn runs() -> impl Strategy<Value = (Vec<f64>, Vec<bool>, u32)> {
    let alike = (value(), 0.0..0.5_f64).prop_flat_map(|(mean, spread)| {
        proptest::collection::vec(-1.0..1.0_f64, RUNS)
            .prop_map(move |noise| noise.iter().map(|noise| mean * (1.0 + spread * noise)).collect())
    });
    let values = prop_oneof![proptest::collection::vec(value(), RUNS), alike];
    let is_there = prop_oneof![
        4 => Just(vec![true; RUNS]),
        4 => proptest::collection::vec(prop::bool::weighted(0.8), RUNS),
        // One condition has no valid run, or no condition has.
        1 => (0..4_usize).prop_map(|gone| (0..RUNS).map(|place| place / (RUNS / 4) != gone).collect()),
        1 => Just(vec![false; RUNS]),
    ];
    (values, is_there, 1..=3_u32)
}

/// A study of this traffic whose four conditions have these values, in each of its metrics.
fn stored(kind: &str, (values, is_there, boots): &(Vec<f64>, Vec<bool>, u32)) -> StoredStudy {
    let text = format!(
        "name = \"made\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"{kind}\"\nduration = \"1s\"\n\
         [factors]\nfamily = [\"ipv4\", \"ipv6\"]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 3\nruns = 2\n"
    );
    let study = Study::parse("made", &text).unwrap();
    let plan = study.plan();
    let place = |condition: usize, boot: u32, repeat: u32| {
        (condition * 3 + boot as usize - 1) * 2 + repeat as usize - 1
    };
    let kind = plan.conditions[0].workload.traffic.kind;
    let metrics: Vec<&'static str> = metric::METRICS
        .iter()
        .filter(|metric| {
            kind.produces(**metric) && metric.unit != "%" && metric.needs == metric::MetricNeeds::Nothing
        })
        .map(|metric| metric.key)
        .collect();
    let mut stored = made::stored(&study, &plan, |condition, boot, repeat| {
        let value = values[place(condition.index, boot, repeat)];
        metrics.iter().map(|metric| (*metric, value)).collect()
    });
    stored.runs.retain(|run| run.boot <= *boots);
    for run in stored.runs.iter_mut().filter(|run| !is_there[place(run.condition, run.boot, run.repeat)]) {
        (run.status, run.reason) = (RunStatus::Invalid, Some("something took its CPU".to_owned()));
    }
    stored.boots.retain(|boot| boot.number <= *boots);
    stored
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

/// Each row of each comparison in a JSON document.
fn rows<'j>(json: &'j Value, groups: &str) -> impl Iterator<Item = (&'j Value, &'j Value)> {
    let groups = json[groups].as_array().into_iter().flatten();
    groups.flat_map(|group| group["rows"].as_array().into_iter().flatten().map(move |row| (group, row)))
}

/// The largest value of a study: what differences of its means are rounded to a share of.
fn largest(stored: &StoredStudy) -> f64 {
    let values = stored.runs.iter().flat_map(|run| run.metrics.iter());
    values.fold(0.0, |most: f64, (_, value)| most.max(value.abs()))
}

/// The invariants of a comparison, whatever was measured; `largest` is the study's largest value.
fn check_row(row: &Value, largest: f64) -> Result<(), TestCaseError> {
    let ends = |key: &str| Some((number(&row[key][0])?, number(&row[key][1])?));
    for percent in [number(&row["relative"]), ends("relative_interval").map(|(low, _)| low)] {
        prop_assert!(percent.is_none_or(|percent| percent >= -100.0), "{row}");
    }
    if let (Some(relative), Some((low, high))) = (number(&row["relative"]), ends("relative_interval")) {
        prop_assert!(low <= relative && relative <= high, "{row}");
    }
    if let (Some((low, high)), Some((from, to))) = (ends("interval"), ends("relative_interval")) {
        prop_assert_eq!((low > 0.0, high < 0.0), (from > 0.0, to < 0.0), "{}", row);
    }
    if let (Some((low, high)), Some(from), Some(to)) =
        (ends("interval"), number(&row["ratio"]["interval"][0]), number(&row["ratio"]["interval"][1]))
    {
        prop_assert!(row["relative"].is_null() && from > 0.0 && from <= to, "{row}");
        prop_assert_eq!((low > 0.0, high < 0.0), (from > 1.0, to < 1.0), "{}", row);
    }
    let (mean, baseline) = (number(&row["mean"]).unwrap(), number(&row["baseline_mean"]).unwrap());
    let difference = number(&row["difference"]).unwrap();
    // No metric here can be negative, and no more can its mean.
    prop_assert!(mean >= 0.0 && baseline >= 0.0, "{row}");
    prop_assert!((mean - baseline - difference).abs() <= 1e-9 * largest, "{row}");
    Ok(())
}

/// No number is shown that is none, zero has no sign, and no interval is certain. (That no two
/// columns have the same heading is checked where tables are drawn.)
fn check_words(text: &str) -> Result<(), TestCaseError> {
    for line in text.lines() {
        prop_assert!(!line.contains(" 100 % interval") && !line.starts_with("100 % interval"), "{line}");
        for word in line.split(|c: char| c.is_whitespace() || "(),;%".contains(c)) {
            let size = word.strip_prefix(['+', '-']).unwrap_or(word);
            let has_sign = size != word;
            let is_zero = size.parse::<f64>().is_ok_and(|size| size == 0.0);
            prop_assert!(!(has_sign && is_zero), "{word} in {line}");
            prop_assert!(!["NaN", "inf", "-inf"].contains(&word), "{line}");
        }
    }
    Ok(())
}

/// A condition has the same figure and unit in table, answer and JSON, and no row is without a
/// size.
fn check_page(stored: &StoredStudy) -> Result<(), TestCaseError> {
    let results = Results::new(stored).unwrap();
    let (page, json) = (results.text(Layout::WIDE), serde_json::to_value(&results).unwrap());
    for (_, row) in rows(&json, "comparisons") {
        check_row(row, largest(stored))?;
    }
    let workload = json["conditions"][0]["workload"].as_str().unwrap();
    for group in json["comparisons"].as_array().unwrap() {
        let (metric, unit) = (group["metric"].as_str().unwrap(), group["unit"].as_str().unwrap());
        let title = format!("{workload}: {}", metric_name(&metric::find(metric).unwrap().into()));
        let from_table = page.lines().skip_while(|line| !line.starts_with(&title));
        let table: Vec<&str> = from_table.take_while(|line| !line.is_empty()).collect();
        prop_assert!(table[1].contains(unit), "{page}");
        for own in group["conditions"].as_array().unwrap() {
            let label = own["label"].as_str().unwrap();
            let conditions = json["conditions"].as_array().unwrap();
            let condition = conditions.iter().find(|one| one["label"] == label).unwrap();
            prop_assert_eq!(&condition["means"][metric], &own["mean"]);
            prop_assert!(number(&own["mean"]).unwrap() >= 0.0, "{own}");
            let shown = figure(number(&own["mean"]).unwrap());
            let line = table.iter().find(|line| line.starts_with(&format!("{label} "))).unwrap();
            prop_assert_eq!(line[label.len()..].split_whitespace().next(), Some(shown.as_str()), "{}", page);
            if group["baseline"] == label {
                let said = format!("against {label} ({shown} {unit})");
                prop_assert!(json["answer"][0].as_str().unwrap().contains(&said), "{said}: {page}");
            } else {
                // The interval may be missing, not the difference too.
                let mut cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
                prop_assert!(cells.nth(2) != Some("-"), "{page}");
            }
        }
    }
    check_words(&page)?;
    let boots: std::collections::BTreeSet<u32> = stored.measurements().map(|run| run.boot).collect();
    prop_assert!(boots.len() > 1 || !page.contains("intervals from"), "{page}");
    Ok(())
}

/// Calls `check` with so many draws.
fn drawn<S: Strategy>(cases: u32, strategy: S, check: fn(S::Value) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config).run(&strategy, check).unwrap_or_else(|error| panic!("{error}"));
}

fn any_study() -> impl Strategy<Value = ((Vec<f64>, Vec<bool>, u32), String, f64)> {
    (runs(), prop_oneof!["tcp_stream", "udp_stream", "tcp_rr"], -12.0..-0.5_f64)
}

#[test]
fn figures_can_be_whatever_was_recorded() {
    drawn(12, any_study(), check_figures);
}

#[test]
#[ignore = "96 studies, of which the gate draws 12"]
fn figures_can_be_whatever_was_recorded_in_many_studies() {
    drawn(96, any_study(), check_figures);
}

fn check_figures(
    (runs, kind, doubt): ((Vec<f64>, Vec<bool>, u32), String, f64),
) -> Result<(), TestCaseError> {
    let stored = stored(&kind, &runs);
    prop_assume!(!stored.runs.is_empty());
    check_page(&stored)?;
    for metric in ["latency_p50", "service_demand_byte", "retransmits", "segments"] {
        let confidence = 1.0 - 10.0_f64.powf(doubt);
        let request =
            ComparisonRequest { metric: metric::find(metric), confidence, ..ComparisonRequest::default() };
        let Ok(found) = Comparisons::new(&stored, &request) else { continue };
        let (text, json) = (found.text(Layout::WIDE), serde_json::to_value(&found).unwrap());
        check_words(&text)?;
        for (group, row) in rows(&json, "comparisons") {
            check_row(row, largest(&stored))?;
            prop_assert_eq!(group["unit"].as_str(), metric::find(metric).map(|metric| metric.unit));
        }
    }
    Ok(())
}

fn any_values() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(value(), RUNS)
}

#[test]
fn shares_of_a_whole_are_shares() {
    drawn(24, any_values(), check_shares);
}

#[test]
#[ignore = "96 studies, of which the gate draws 24"]
fn shares_of_a_whole_are_shares_in_many_studies() {
    drawn(96, any_values(), check_shares);
}

fn check_shares(values: Vec<f64>) -> Result<(), TestCaseError> {
    const OFFLOADS: [&str; 2] = ["transmitter.tso", "transmitter.gso"];
    let (study, mut plan) =
        made::study("transmitter.tso = [\"off\", \"on\"]\ntransmitter.gso = [\"off\", \"on\"]");
    made::design(&mut plan, DesignKind::Factorial, &OFFLOADS, |_| true);
    let place = |condition: usize, boot: u32, repeat: u32| {
        (condition * 3 + boot as usize - 1) * 2 + repeat as usize - 1
    };
    let stored = made::stored(&study, &plan, |condition, boot, repeat| {
        vec![("throughput", values[place(condition.index, boot, repeat)])]
    });
    let results = Results::new(&stored).unwrap();
    let json = serde_json::to_value(&results).unwrap();
    for credit in json["credit"]["credits"].as_array().unwrap() {
        for sentence in credit["sentences"].as_array().unwrap().iter().filter_map(Value::as_str) {
            let Some((_, shares)) = sentence.split_once("; of this ") else { continue };
            // Parts that work against each other are told in the unit.
            if !shares.contains(" %") {
                continue;
            }
            let shares: Vec<f64> =
                shares.split(" %").filter_map(|part| part.rsplit(' ').next()?.parse().ok()).collect();
            prop_assert!(shares.iter().all(|share| (0.0..=100.0).contains(share)), "{sentence}");
            prop_assert!((shares.iter().sum::<f64>() - 100.0).abs() < 0.2, "{sentence}");
        }
        for change in ["gain", "loss"] {
            let change = &credit["whole"][change];
            prop_assert!(number(&change["relative"]).is_none_or(|percent| percent >= -100.0), "{change}");
            prop_assert!(
                number(&change["relative_interval"][0]).is_none_or(|percent| percent >= -100.0),
                "{change}"
            );
        }
    }
    Ok(())
}

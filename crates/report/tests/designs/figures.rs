//! Figures that cannot be, or say nothing, each as it was seen once.

use netassay_report::Layout;
use netassay_report::document::terminal;
use netassay_report::views;
use results::{ClassicTest, ComparisonRequest, Comparisons, Results, is_decided};
use serde_json::{Value, json};
use stats::Correction;
use store::StoredStudy;
use study::{Condition, Study};

use crate::made::{stored, study, wobble};
use crate::shown::Shown as _;

fn page(stored: &StoredStudy) -> String {
    Results::new(stored).unwrap().text(Layout::WIDE)
}

fn compared(stored: &StoredStudy, metric: &str) -> String {
    let request = ComparisonRequest { metric: study::metric::find(metric), ..ComparisonRequest::default() };
    Comparisons::new(stored, &request).unwrap().text(Layout::WIDE)
}

/// The line of a page that begins with these words, and what follows them.
fn line<'p>(page: &'p str, words: &str) -> &'p str {
    let found = page.lines().find_map(|line| line.strip_prefix(words));
    found.unwrap_or_else(|| panic!("no {words:?} in\n{page}")).trim()
}

/// Two conditions whose throughput is `value(condition, boot, repeat)`.
fn pair(value: impl Fn(usize, u32, u32) -> f64) -> StoredStudy {
    let (study, plan) = study("tso = [\"on\", \"off\"]");
    stored(&study, &plan, |condition, boot, repeat| {
        vec![("throughput", value(condition.index, boot, repeat))]
    })
}

/// A baseline of 1323 that spreads by half of itself, beside 15452.
fn twelve_times() -> StoredStudy {
    let (study, plan) = study("family = [\"ipv4\", \"ipv6\"]\ntso = [\"on\", \"off\"]");
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        let mean = if condition.index == 0 { 1323.0 } else { 15_452.0 };
        let spread = if condition.index == 0 { 7.0 } else { 1.0 };
        let boots = spread * [-0.08, 0.01, 0.07][(boot as usize + 2 * condition.index) % 3];
        vec![("throughput", mean * (1.0 + boots + 0.002 * wobble(boot, repeat, condition.index)))]
    };
    stored(&study, &plan, values)
}

#[test]
fn a_large_difference_has_a_size() {
    let stored = twelve_times();
    let results = Results::new(&stored).unwrap();
    insta::assert_snapshot!("times", results.text(Layout::WIDE));
    insta::assert_snapshot!("times_compare", compared(&stored, "throughput"));
    let json = serde_json::to_value(&results).unwrap();
    let row = &json["comparisons"][0]["rows"][0];
    assert_eq!(row["relative"], Value::Null);
    let ratio = row["ratio"]["value"].as_f64().unwrap();
    assert!((11.0..14.0).contains(&ratio), "{row}");
}

#[test]
fn what_has_no_ratio_shows_the_difference_itself() {
    // A baseline of nothing at all.
    let stored =
        pair(|condition, boot, repeat| if condition == 0 { 0.0 } else { 500.0 + wobble(boot, repeat, 1) });
    let page = page(&stored);
    let row = line(&page, "tso=off");
    assert!(row.contains("+499.9 Mbit/s  +499.0 to +500.7") && row.ends_with("higher (faster)"), "{page}");
    let answer = line(&page, "Answer:");
    assert!(
        answer.contains(" Mbit/s higher (faster) with tso=off (") && !answer.contains(" % higher"),
        "{answer}"
    );
}

#[test]
fn no_interval_takes_away_more_than_there_is() {
    // The boots of a condition with 5 % of the baseline spread by a small share of it, and the
    // error is that of all.
    let (study, plan) = study("tso = [\"on\", \"off\"]\nfamily = [\"ipv4\", \"ipv6\"]");
    let value = |condition: &Condition, boot: u32, _: u32| {
        let mean = [5800.0, 300.0, 6000.0, 5000.0][condition.index];
        vec![("throughput", mean * [0.93, 1.0, 1.07][(boot as usize + condition.index) % 3])]
    };
    let stored = stored(&study, &plan, value);
    let json = serde_json::to_value(Results::new(&stored).unwrap()).unwrap();
    let rows = json["comparisons"][0]["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["relative_interval"][0] == json!(-100.0)), "{rows:?}");
}

#[test]
fn a_wild_run_that_hides_a_difference_is_remarked_on() {
    let (study, _) = study("tso = [\"on\", \"off\"]");
    // A median of two runs is their mean.
    let study = Study::parse("made", &study.text.replace("runs = 2", "runs = 3")).unwrap();
    let plan = study.plan();
    let mut stored = stored(&study, &plan, |condition, boot, repeat| {
        let wild = (condition.index, boot, repeat) == (0, 2, 1);
        let value = 100.4 - 20.0 * condition.index as f64 + 0.5 * wobble(boot, repeat, condition.index);
        vec![("throughput", if wild { 1e6 } else { value })]
    });
    let page = page(&stored);
    let remark = "robust check disagrees: by the medians of the boots' runs there is a difference (-19.";
    assert!(page.contains(&format!("\ntso=off: {remark}")), "{page}");
    assert!(compared(&stored, "throughput").contains(&format!("\ntso=off: {remark}")));
    assert!(!page.contains("cannot be told from zero"), "{page}");
    // Without it there is nothing to remark, and all runs alike are told.
    for run in &mut stored.runs {
        run.metrics.insert(study::metric::THROUGHPUT, 100.4);
    }
    let text = compared(&stored, "throughput");
    assert!(!text.contains("robust check"), "{text}");
    assert!(
        text.contains("Flag: constant: no run differs from another of its condition. Check that"),
        "{text}"
    );
    let json = serde_json::to_value(Results::new(&stored).unwrap()).unwrap();
    let group = &json["comparisons"][0];
    assert_eq!((&group["better"], &group["rows"][0]["quality"]), (&json!("higher"), &Value::Null));
    assert!(group["rows"][0]["checks"].is_array(), "{group}");
}

#[test]
fn one_boot_has_no_interval_to_speak_of() {
    let mut stored =
        pair(|condition, boot, repeat| 1000.0 - 300.0 * condition as f64 + wobble(boot, repeat, 0));
    stored.runs.retain(|run| run.boot == 1);
    let page = page(&stored);
    let answer = line(&page, "Answer:");
    assert!(!answer.contains("intervals from"), "{answer}");
    assert!(
        answer.ends_with("no difference in throughput can be judged for tso=off (only 1 boot measured both it and the baseline, an interval needs 2 or more)."),
        "{answer}"
    );
}

#[test]
fn a_reason_that_several_conditions_share_is_said_once() {
    let (study, plan) = study("tso = [\"on\", \"off\"]\nfamily = [\"ipv4\", \"ipv6\"]");
    let value =
        |_: &Condition, boot: u32, repeat: u32| vec![("throughput", 1000.0 + wobble(boot, repeat, 0))];
    let mut stored = stored(&study, &plan, value);
    stored.runs.retain(|run| run.boot == 1);
    let page = page(&stored);
    let answer = line(&page, "Answer:");
    assert_eq!(answer.matches("an interval needs").count(), 1, "{answer}");
    assert!(answer.contains(" and tso=off ipv6 (each: only 1 boot measured"), "{answer}");
}

#[test]
fn a_condition_has_one_mean_wherever_it_is_shown() {
    let (study, plan) = study("tso = [\"on\", \"off\"]\nfamily = [\"ipv4\", \"ipv6\"]");
    let value = |condition: &Condition, boot: u32, repeat: u32| {
        let noise = 9.0 * wobble(boot, 0, 0) + 60.0 * wobble(boot, repeat, condition.index);
        vec![("throughput", 5800.0 - 90.0 * condition.index as f64 + noise)]
    };
    let mut stored = stored(&study, &plan, value);
    // A boot lost all runs of the baseline, so its mean over all boots rests on what that boot did
    // to the others.
    stored.runs.retain(|run| (run.condition, run.boot) != (0, 1) && (run.boot, run.repeat) != (2, 1));
    let page = page(&stored);
    let baseline = &stored.plan.conditions[0].label;
    let in_table = line(&page, &format!("{baseline} ")).split_whitespace().next().unwrap().to_owned();
    assert!(line(&page, "Answer:").contains(&format!("Against {baseline} ({in_table} Mbit/s)")), "{page}");
    assert!(
        line(&compared(&stored, "throughput"), &format!("{baseline} ")).starts_with(&in_table),
        "{in_table}"
    );
    assert!(page.contains("the mean of a condition is an estimate for all boots"), "{page}");
    let request = ComparisonRequest { correction: Correction::None, ..ComparisonRequest::default() };
    // ministat wants three runs of each.
    let classic = terminal(&views::classic(&ClassicTest::new(&stored, &request).unwrap()), Layout::PLAIN);
    assert!(classic.contains("its averages are of runs"), "{classic}");
}

#[test]
fn one_metric_has_one_unit() {
    let text = "name = \"made\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_rr\"\nduration = \"1s\"\n\
                [factors]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 3\nruns = 2\n[[comparison]]\nmetric = \"latency_p50\"\n";
    let study = Study::parse("made", text).unwrap();
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        let p50 = 25_000.0 + 900.0 * condition.index as f64 + wobble(boot, repeat, condition.index);
        vec![("transactions", 1e9 / p50), ("latency_p50", p50), ("transmitter.retransmits", 3.0 + p50 / 1e5)]
    };
    let stored = stored(&study, &study.plan(), values);
    let page = page(&stored);
    let head = page.lines().skip_while(|line| !line.starts_with("tcp_rr: latency p50")).nth(1).unwrap();
    assert_eq!(head.split_whitespace().nth(1), Some("ns"), "{page}");
    let answer = line(&page, "Answer:");
    let mean = line(&page, "tso=on ").split_whitespace().next().unwrap().to_owned();
    assert!(answer.contains(&format!("({mean} ns)")), "{mean}: {answer}");
    // A plain number has no unit that anybody would say.
    let retransmits = compared(&stored, "retransmits");
    assert!(!retransmits.contains(" 1 ") || !retransmits.contains(" 1 higher"), "{retransmits}");
    assert!(line(&retransmits, "Answer:").contains(" % higher"), "{retransmits}");
}

#[test]
fn a_plain_number_is_written_without_a_unit() {
    let (study, plan) = study("tso = [\"on\", \"off\"]");
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        let lost = if condition.index == 0 { 0.0 } else { 1.3 + 0.01 * wobble(boot, repeat, 1) };
        vec![("transmitter.retransmits", lost)]
    };
    let text = compared(&stored(&study, &plan, values), "retransmits");
    let answer = line(&text, "Answer:");
    assert!(answer.contains("1.299 higher (worse) with tso=off"), "{answer}");
}

#[test]
fn what_a_study_asked_outlives_the_grammar_of_its_file() {
    let text = "name = \"made\"\nquestion = \"why?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\nduration = \"1s\"\n\
                [factors]\ntso = [\"on\", \"off\"]\n[protocol]\nboots = 10\nruns = 2\nstop = { detect = \"2%\" }\n";
    let study = Study::parse("made", text).unwrap();
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        vec![("throughput", 1000.0 - 300.0 * condition.index as f64 + wobble(boot, repeat, condition.index))]
    };
    let mut stored = stored(&study, &study.plan(), values);
    let known = page(&stored);
    assert!(known.contains("made: why?") && known.contains("Looks: 5 of 5"), "{known}");
    // Words that this version does not know any more.
    stored.row.toml = text.replace("kind", "sort");
    assert_eq!(page(&stored), known);
    assert!(is_decided(&stored));
}

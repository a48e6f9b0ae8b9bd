//! A metric over stored studies: which studies are in, what is said of them, what is left out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod made_up;
mod shown;

use netassay_report::Layout;
use results::{ComparisonRequest, Error, HistoryOrder, StudyHistory, metrics_to_compare};
use serde_json::Value;
use stats::Correction;
use store::{Outline, StudyId, StudyStatus};
use study::{Condition, Plan, Scenario, metric};

use shown::Shown as _;

/// A study of three boots with two runs each. `factor` is what its throughput is multiplied by.
fn entry(id: i64, plan: Plan, factor: f64) -> (String, Outline) {
    let stored = made_up::stored(1);
    let mut row = stored.row;
    row.id = StudyId(id);
    row.started_unix_ms = 1_795_181_965_000 + id * 86_400_000;
    row.tags = vec![format!("v6.{id}")];
    let mut values = Vec::new();
    for boot in 1..=3_u32 {
        for run in 1..=2_u32 {
            for condition in 0..plan.conditions.len() {
                let wobble =
                    f64::from((boot * 7 + run * 3 + condition as u32 * 5 + id as u32 * 4) % 11) - 5.0;
                values.push((condition, boot, factor * (1000.0 + 100.0 * condition as f64 + wobble)));
            }
        }
    }
    row.recorded_runs = u32::try_from(values.len()).unwrap();
    let environments = vec![stored.boots[0].environment.clone()];
    let metrics = metrics_to_compare(&plan, &ComparisonRequest::default());
    let values = metrics.into_iter().map(|metric| (metric, values.clone())).collect();
    let outline = Outline { row, plan, environments, values, disturbed_runs: 0, documents_are_plain: false };
    (format!("v6.{id}"), outline)
}

/// The effect of a study's own day, in no pattern.
const DAYS: [f64; 14] = [0.2, -0.4, 0.6, 0.1, -0.3, 0.5, -0.6, 0.3, -0.1, 0.4, -0.5, 0.0, 0.7, -0.2];

/// Fourteen studies, 5 % slower from the ninth on, under another kernel from the eighth on.
fn entries(conditions: usize) -> Vec<(String, Outline)> {
    let entry = |(place, day): (usize, &f64)| {
        let mut plan = made_up::plan();
        plan.conditions.truncate(conditions);
        plan.effective.truncate(conditions);
        plan.comparisons.iter_mut().for_each(|one| one.conditions.retain(|other| *other < conditions));
        let level = if place < 8 { 1.0 } else { 0.95 };
        let mut entry = entry(place as i64 + 1, plan, level * (1.0 + day / 100.0));
        if place >= 7 {
            entry.1.environments[0].transmitter.kernel.release = Some("6.19".to_owned());
        }
        entry
    };
    DAYS.iter().enumerate().map(entry).collect()
}

fn history(entries: &[(String, Outline)], conditions: &[&str]) -> Result<StudyHistory, Error> {
    let wanted: Vec<String> = conditions.iter().map(|one| (*one).to_owned()).collect();
    let found = StudyHistory::new(entries, HistoryOrder::Version, &wanted, &ComparisonRequest::default())?;
    Ok(found.unwrap())
}

fn json(history: &StudyHistory) -> Value {
    serde_json::to_value(history).unwrap()
}

fn text(history: &StudyHistory, layout: Layout) -> String {
    layout.wrap(&history.text(layout))
}

#[test]
fn a_change_is_said_with_its_place_its_size_and_what_else_differs() {
    let entries = entries(1);
    let found = history(&entries, &[]).unwrap();
    let json = json(&found);
    let series = &json["series"][0];
    let change = &series["changes"][0];
    assert_eq!((&change["study"], &change["verdict"]), (&9.into(), &"lower".into()), "{change}");
    assert!((change["relative"].as_f64().unwrap() + 5.0).abs() < 0.7, "{change}");
    assert!(change["confidence"].as_f64().unwrap() > 0.99, "{change}");
    assert_eq!(series["levels"].as_array().unwrap().len(), 2);
    assert_eq!(series["newest"]["verdict"], "no_difference_proven");
    assert_eq!(series["newest"]["first"], 8);
    assert_eq!(json["studies"][7]["differs"][0]["what"], "kernel release (transmitter)");
    assert_eq!(json["studies"][8]["differs"], serde_json::json!([]));
    assert!(found.differs(&found.series[0], 7));
    insta::assert_snapshot!("history", text(&found, Layout::PLAIN));
    insta::assert_snapshot!("history_wide", text(&found, Layout::WIDE));
}

#[test]
fn several_conditions_have_a_table_first_and_share_the_error_rate() {
    let mut entries = entries(4);
    // Only the last condition changes, and only in the newest study.
    for (place, entry) in entries.iter_mut().enumerate() {
        for values in entry.1.values.values_mut() {
            for (condition, _, value) in values.iter_mut() {
                let back = if place < 8 { 1.0 } else { 0.95 };
                let newest = if place == 13 && *condition == 3 { 1.1 } else { 1.0 };
                *value *= newest / back;
            }
        }
    }
    let found = history(&entries, &[]).unwrap();
    let json = json(&found);
    let levels: Vec<f64> =
        json["series"].as_array().unwrap().iter().map(|one| one["level"].as_f64().unwrap()).collect();
    assert!(levels.iter().all(|level| (level - 0.9875).abs() < 1e-12), "{levels:?}");
    insta::assert_snapshot!("history_conditions", text(&found, Layout::PLAIN));
    let one = entries[0].1.plan.conditions[3].slug.clone();
    let alone = history(&entries, &[&one]).unwrap();
    assert_eq!(alone.series.len(), 1);
    assert!((alone.series[0].confidence - 0.95).abs() < 1e-12);
    let request = ComparisonRequest { correction: Correction::None, ..ComparisonRequest::default() };
    let each = StudyHistory::new(&entries, HistoryOrder::Time, &[], &request).unwrap().unwrap();
    assert_eq!(self::json(&each)["series"][0]["level"], 0.95);
}

#[test]
fn studies_that_cannot_stand_beside_the_newest_are_left_out_with_their_reason() {
    let mut entries = entries(1);
    let elsewhere = |one: &mut Condition| one.boot.scenario = Scenario::Loopback;
    entries[2].1.plan.conditions.iter_mut().for_each(elsewhere);
    entries[5].1.plan.exact = true;
    entries[6].1.values.values_mut().for_each(Vec::clear);
    entries[7].1.row.status = StudyStatus::Interrupted;
    entries[8].1.row.status = StudyStatus::Failed;
    let found = history(&entries, &[]).unwrap();
    let json = json(&found);
    let left_out: Vec<i64> =
        json["left_out"].as_array().unwrap().iter().map(|one| one["study"].as_i64().unwrap()).collect();
    assert_eq!(left_out, [3, 6]);
    assert_eq!(json["series"][0]["points"].as_array().unwrap().len(), 11, "study 7 has no value");
    let text = text(&found, Layout::WIDE);
    for said in [
        "Left out: study 3 (v6.3): they have no condition in common: scenario is loopback in study 3 and veth in study 14.",
        "Left out: study 6 (v6.6): it counts instructions, study 14 measures time.",
        "Note: study 8 is interrupted: it has 6 runs.",
        "Note: study 9 failed: it has 6 runs.",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn few_studies_say_how_many_are_needed() {
    let entries = entries(1);
    for count in [1, 2, 3, 7] {
        let found = history(&entries[..count], &[]).unwrap();
        let text = text(&found, Layout::WIDE);
        let noun = if count == 1 { "study" } else { "studies" };
        let said =
            format!("no change can be proven with {count} {noun}: 8 are needed at a confidence of 95 %");
        assert!(text.contains(&said), "{text}");
        let newest = json(&found)["series"][0]["newest"].clone();
        match count {
            1 => assert!(newest.is_null()),
            2 => assert_eq!(newest["verdict"], "inconclusive"),
            _ => assert_eq!(newest["verdict"], "no_difference_proven", "{newest}"),
        }
    }
    assert!(
        StudyHistory::new(&[], HistoryOrder::Time, &[], &ComparisonRequest::default()).unwrap().is_none()
    );
}

#[test]
fn no_less_than_nothing_is_expected_of_the_newest_study() {
    let mut entries = entries(1);
    entries.truncate(3);
    for (entry, factor) in entries.iter_mut().zip([0.1, 2.0, 1.0]) {
        for (_, _, value) in entry.1.values.values_mut().flatten() {
            *value *= factor;
        }
    }
    let found = history(&entries, &[]).unwrap();
    let expected = json(&found)["series"][0]["newest"]["interval"].clone();
    assert_eq!(expected[0], 0.0, "{expected}");
    assert!(expected[1].as_f64().unwrap() > 2000.0, "{expected}");
    assert!(text(&found, Layout::WIDE).contains(", where 0 to "), "{}", text(&found, Layout::WIDE));
}

#[test]
fn counts_change_where_they_differ_by_more_than_their_resolution() {
    let mut entries = entries(1);
    for (place, entry) in entries.iter_mut().enumerate() {
        entry.1.plan.exact = true;
        let count = if place < 5 { 12_000.0 } else { 12_030.0 } + place as f64 / 10.0;
        let values: Vec<_> = (1..=3).map(|boot| (0, boot, count)).collect();
        entry.1.values = [metric::INSTRUCTIONS_BYTE.kernel, metric::INSTRUCTIONS_BYTE.all]
            .map(|metric| (metric, values.clone()))
            .into();
        entry.1.environments[0].transmitter.netassay = format!("0.1.{place}");
    }
    let [found, whole] = [metric::INSTRUCTIONS_BYTE.kernel, metric::INSTRUCTIONS_BYTE.all].map(|metric| {
        let request = ComparisonRequest { metric: Some(metric), ..ComparisonRequest::default() };
        StudyHistory::new(&entries, HistoryOrder::Version, &[], &request).unwrap().unwrap()
    });
    let notes = [&found, &whole].map(|found| text(found, Layout::PLAIN).matches("different builds").count());
    assert_eq!(notes, [0, 1]);
    let json = json(&found);
    let changes = json["series"][0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((&changes[0]["study"], &changes[0]["confidence"]), (&6.into(), &Value::Null));
    assert!(
        text(&found, Layout::WIDE).contains("from v6.6 on: higher (worse), +0.25"),
        "{}",
        text(&found, Layout::WIDE)
    );
}

#[test]
fn what_is_asked_for_wrongly_is_refused() {
    let entries = entries(2);
    let Err(Error::UnknownCondition { study: 14, word, .. }) = history(&entries, &["nothing"]) else {
        panic!("it knows the condition");
    };
    assert_eq!(word, "nothing");
    let of = |metric| {
        let request = ComparisonRequest { metric: Some(metric), ..ComparisonRequest::default() };
        StudyHistory::new(&entries, HistoryOrder::Time, &[], &request)
    };
    assert!(matches!(of(metric::CPU.receiver), Err(Error::NothingRecorded { study: 14, .. })));
}

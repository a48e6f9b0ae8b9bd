use store::StudyStatus;

use super::*;

#[test]
fn versions_are_in_the_order_in_which_they_are_released() {
    let sorted = [
        "6.1",
        "6.1.9",
        "6.1.10",
        "6.12-rc1",
        "6.12-rc2",
        "6.12-rc10",
        "6.12",
        "6.12-patched",
        "6.12.1",
        "6.100",
        "v6.1",
        "v6.12",
    ];
    for (place, one) in sorted.iter().enumerate() {
        for (other_place, other) in sorted.iter().enumerate() {
            assert_eq!(version(one).cmp(&version(other)), place.cmp(&other_place), "{one} and {other}");
        }
    }
    let dates = ["2026-02-03", "2026-11-23", "2026-11-23b"];
    assert!(dates.windows(2).all(|pair| version(pair[0]) < version(pair[1])));
    assert_eq!(version("v6.01"), version("v6.1"));
}

#[test]
fn patterns_stand_for_tags() {
    for (text, pattern) in
        [("v6.12", "v6.*"), ("v6.12", "*"), ("v6.12", "v?.12"), ("a-b-c", "*-c"), ("x", "x")]
    {
        assert!(is_like(text, pattern), "{text} {pattern}");
    }
    for (text, pattern) in [("v7.1", "v6.*"), ("v6", "v6.*"), ("x", ""), ("a-b", "*-c"), ("ab", "?")] {
        assert!(!is_like(text, pattern), "{text} {pattern}");
    }
}

fn row(id: i64, name: &str, tags: &[&str], started: i64) -> StudyRow {
    StudyRow {
        id: StudyId(id),
        name: name.to_owned(),
        scenario: "veth".to_owned(),
        seed: 1,
        version: "0.1.0".to_owned(),
        status: StudyStatus::Complete,
        started_unix_ms: started,
        finished_unix_ms: None,
        boots: 3,
        recorded_runs: 36,
        failed_runs: 0,
        invalid_runs: 0,
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        pair: None,
        toml: String::new(),
    }
}

#[test]
fn studies_of_one_name_are_chosen_by_time_by_tag_and_by_number() {
    let rows = [
        row(1, "quick", &["v6.12"], 30),
        row(2, "quick", &["main", "v6.2"], 20),
        row(3, "other", &["v6.3"], 25),
        row(4, "quick", &[], 10),
    ];
    let of = |choice: HistoryChoice| -> Vec<String> {
        choice.choose(&rows).into_iter().map(|(_, label)| label).collect()
    };
    let quick = HistoryChoice { name: "quick".to_owned(), ..HistoryChoice::default() };
    assert_eq!(of(quick.clone()), ["study 4", "main", "v6.12"]);
    let tagged = HistoryChoice { tags: vec!["v6.*".to_owned()], ..quick.clone() };
    assert_eq!(of(tagged.clone()), ["v6.2", "v6.12"]);
    assert_eq!(of(HistoryChoice { last: Some(1), ..tagged }), ["v6.12"]);
    let versions = HistoryChoice { order: Some(HistoryOrder::Version), ..quick };
    assert_eq!(of(versions), ["study 4", "main", "v6.12"]);
}

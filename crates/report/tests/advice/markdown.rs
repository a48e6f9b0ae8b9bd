//! Advice in Markdown: what it says of a study whose truth is known, and names of others in it.

use netassay_report::document::{Block, markdown};
use netassay_report::views;
use results::advice::{Advice, AdviceGoal, AdviceRequest};

use crate::made::{self, QUIET, factorial, measured, on, study};

#[test]
fn advice_is_a_table_and_a_fold_for_each_kind_of_traffic() {
    let (study, plan) = study(&factorial(&["transmitter.tso", "receiver.gro"], 5));
    let stored = measured(&study, &plan, QUIET, 1, &|one| {
        let rate = 1000.0 * (1.0 + 0.4 * on(one, "transmitter.tso"));
        vec![("throughput", rate), ("receiver.service_demand_byte", 2.0 + 0.5 * on(one, "transmitter.tso"))]
    });
    insta::assert_snapshot!("markdown", markdown(&views::advice(&made::advice(&stored, &[]))));
}

#[test]
fn folds_of_several_studies_name_their_study() {
    let (study, plan) = study(&factorial(&["transmitter.tso", "receiver.gro"], 4));
    let first = measured(&study, &plan, QUIET, 1, &|one| {
        vec![("throughput", 1000.0 * (1.0 + 0.5 * on(one, "transmitter.tso")))]
    });
    let mut second = first.clone();
    (second.row.id, second.row.name) = (store::StudyId(7), "other".to_owned());
    let titles = |studies: &[store::StoredStudy]| -> Vec<String> {
        let advice = Advice::from_studies(studies, &AdviceRequest::default()).unwrap();
        let is_fold = |block: Block<'_>| match block {
            Block::Fold(title, _) => Some(title),
            _ => None,
        };
        views::advice(&advice).into_iter().filter_map(is_fold).collect()
    };
    let expected = [&first, &second]
        .map(|one| format!("Study {} ({}): veth, tcp_stream, 4 boots", one.row.id, one.row.name));
    assert_eq!(titles(&[first.clone(), second.clone()]), expected);
}

#[test]
fn names_of_others_are_no_markup() {
    let name = "</summary><script>alert(1)</script> | x | [a](b) @all #1";
    let stored = made::named(name);
    let md = markdown(&views::advice(&made::advice(&stored, &[AdviceGoal::Throughput])));
    assert!(!md.contains("<script>") && !md.contains("</summary><"), "{md}");
    assert!(!md.contains("[a](b)") && !md.contains("@all") && !md.contains(" #1"), "{md}");
    let head = md.lines().find(|line| line.starts_with("<details>")).unwrap();
    assert_eq!(head.replace("<!-- -->", "").matches('<').count(), 3, "{head}");
    for row in md.lines().filter(|line| line.starts_with("| ")) {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 7, "{row}");
    }
}

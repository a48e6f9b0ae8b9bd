//! Plans after their switches were tried out.

use netassay_study::{Study, bundled};

use crate::bundled::listing;
use crate::study;

#[test]
fn equal_states_become_one_condition() {
    let study = bundled::find("quick").unwrap().study();
    let fingerprints = ["a", "a", "a", "b"].map(str::to_owned);
    let plan = study.plan().merge(&fingerprints);
    // The families are different traffic, whatever the interfaces' state.
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(listing(&study, &plan));
    });
}

#[test]
fn a_merged_baseline_is_replaced_by_what_it_is_merged_into() {
    let study = study(
        &["tcp_stream"],
        "tso = [\"on\", \"off\"]\ngso = [\"on\", \"off\"]\n[[comparison]]\nbaseline = { tso = \"off\", gso = \"off\" }",
    );
    let plan = study.plan().merge(&["a", "b", "c", "b"].map(str::to_owned));
    assert_eq!(plan.comparisons[0].baseline, 1);
    assert_eq!(plan.comparisons[0].conditions, [0, 2]);
    let all = study.plan().merge(&["a", "a", "a", "a"].map(str::to_owned));
    assert_eq!((all.conditions.len(), all.merged.len(), all.comparisons.len()), (1, 3, 0));
}

#[test]
fn what_cannot_be_measured_here_is_left_out_with_its_reason() {
    let study = study(
        &["udp_stream"],
        "tso = [\"on\", \"off\"]\ngso = [\"on\", \"off\"]\n[[comparison]]\nbaseline = { tso = \"off\", gso = \"off\" }",
    );
    let why = Some("lacking".to_owned());
    let plan = study.plan().without(&[None, why.clone(), None, None]);
    assert_eq!(plan.conditions.iter().map(|condition| condition.index).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((plan.lacking.len(), plan.lacking[0].why.as_str()), (1, "lacking"));
    assert_eq!(plan.lacking[0].label, *study.plan().conditions[1].label);
    assert_eq!((plan.comparisons[0].baseline, &plan.comparisons[0].conditions), (2, &vec![0, 1]));
    // A comparison with what cannot be measured is none, and that is said.
    let plan = study.plan().without(&[None, None, None, why]);
    assert_eq!((plan.conditions.len(), plan.comparisons.len()), (3, 0));
    assert_eq!(plan.lacking[1].label, "the comparison of throughput with tso=off gso=off");
    assert_eq!(plan.lacking[1].why, "its baseline is not measured");
}

#[test]
fn twins_stay_apart_whatever_reads_back() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
                [factors]\ntso = [\"on\", \"off\"]\ntwin = [\"A\", \"b\"]\n";
    let plan = Study::parse("x.toml", text).unwrap().plan();
    let names: Vec<(&str, &str)> =
        plan.conditions.iter().map(|one| (one.label.as_str(), one.slug.as_str())).collect();
    assert_eq!(
        names[..2],
        [("tso=on twin=A", "tcp4_tso-on_twin-a"), ("tso=on twin=b", "tcp4_tso-on_twin-b")]
    );
    let plan = plan.merge(&["a", "a", "a", "a"].map(str::to_owned));
    let labels: Vec<&str> = plan.conditions.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["tso=on twin=A", "tso=on twin=b"]);
    assert_eq!(plan.comparisons.len(), 1);
}

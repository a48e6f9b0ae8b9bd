//! A scenario as a factor.

use netassay_study::{Scenario, Study};

use crate::{labels, slugs};

/// A study whose scenario is a factor, and whatever else its file says.
fn over_scenarios(scenarios: &str, rest: &str) -> Study {
    let text = format!(
        "name = \"x\"\nquestion = \"q\"\n[[workload]]\nkind = \"tcp_stream\"\n[factors]\nscenario = {scenarios}\n{rest}\n"
    );
    Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_scenario_can_be_a_factor() {
    let study = over_scenarios("[\"veth\", \"vm-vxlan\"]", "vcpus = [1, 2]\nunderlay.mtu = [1500, 9000]");
    assert_eq!(study.scenarios(), [Scenario::Veth, Scenario::VmVxlan]);
    let plan = study.plan();
    assert_eq!(
        labels(&plan)[..2],
        ["veth vcpus=1 underlay.mtu=1500", "veth vcpus=1 underlay.mtu=9000"],
        "a scenario needs no factor's name to be understood"
    );
    assert_eq!(slugs(&plan)[4], "tcp4_vm-vxlan_vcpus1_ul-mtu1500");
    // An offload that a scenario lacks is not requested: four combinations of veth are one
    // condition.
    let of_veth = plan.conditions.iter().filter(|condition| condition.boot.scenario == Scenario::Veth);
    for condition in of_veth {
        assert!(condition.boot.guest.is_none() && condition.underlay == Default::default());
    }
    let vcpus = plan.conditions.iter().filter_map(|condition| Some(condition.boot.guest.as_ref()?.vcpus));
    assert_eq!(vcpus.collect::<Vec<_>>(), [1, 1, 2, 2]);
    assert_eq!(plan.states().len(), 3, "one of veth, and one for each number of virtual CPUs");
    let states: Vec<_> = plan.conditions.iter().map(|one| (one.boot.scenario, one.underlay.mtu)).collect();
    let merged = plan.merge(&states);
    assert_eq!((merged.conditions.len(), merged.merged.len()), (5, 3));
    assert_eq!(merged.comparisons[0].conditions, [1, 2, 3, 4]);
}

#[test]
fn a_metric_is_compared_where_the_scenario_has_it() {
    let study = over_scenarios(
        "[\"veth\", \"vxlan\", \"vm-vxlan\"]",
        "[[comparison]]\nmetric = \"transmitter.underlay_packets\"\n[[comparison]]\nbaseline = { scenario = \"veth\" }",
    );
    let plan = study.plan();
    let compared: Vec<_> = plan.comparisons.iter().map(|one| (one.baseline, &one.conditions)).collect();
    assert_eq!(compared, [(1, &vec![2]), (0, &vec![1, 2])]);
}

#[test]
fn a_scenario_that_cannot_carry_a_workload_is_left_out() {
    let study = over_scenarios("[\"veth\", \"discard\"]", "");
    let plan = study.plan();
    assert_eq!((plan.conditions.len(), plan.excluded.len()), (1, 1));
    assert_eq!(plan.excluded[0].label, "discard");
    assert_eq!(plan.excluded[0].why, "`tcp_stream` needs a receiver, and `discard` has none");
}

#[test]
fn a_scenario_is_reported_once() {
    let of = |text: &str| Study::parse("x.toml", text).unwrap_err().to_string();
    let rest = "[[workload]]\nkind = \"tcp_stream\"\n";
    let error = of(&format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n{rest}[factors]\nscenario = [\"veth\", \"vxlan\"]\n"
    ));
    assert!(error.contains("`scenario` is a factor, so this value is never used"), "{error}");
    let error = of(&format!("name = \"x\"\nquestion = \"q\"\n{rest}"));
    assert!(error.contains("scenario"), "{error}");
}

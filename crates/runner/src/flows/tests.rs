use study::Study;

use super::*;

/// Two families, each with two levels of another factor.
fn plan(factor: &str, alternate: &str) -> Plan {
    let text = format!(
        "name = \"n\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\nduration = \"1s\"\n\
             [factors]\nfamily = [\"ipv4\", \"ipv6\"]\n{factor}\n[protocol]\nboots = 2\nruns = 3\n{alternate}"
    );
    Study::parse("n", &text).unwrap_or_else(|problems| panic!("{problems}")).plan()
}

const TSO: &str = "tso = [\"on\", \"off\"]";

#[test]
fn conditions_that_differ_in_what_is_switched_in_flight_share_a_flow_and_no_others_do() {
    for factor in [TSO, "pacing = [\"100Mbit\", \"95Mbit\"]", "dscp = [0, 46]", "nodelay = [\"on\", \"off\"]"]
    {
        two_families_in_flows_of_two(&plan(factor, "alternate = \"100ms\""));
    }
}

fn two_families_in_flows_of_two(plan: &Plan) {
    let schedule = study::schedule(&plan.states_of_conditions(), &plan.asked.protocol);
    for boot in &schedule {
        let flows = flows(plan, boot);
        assert_eq!(flows.len(), 8, "a warm-up and three recorded flows of each family");
        for flow in &flows {
            let conditions: Vec<usize> = flow.iter().map(|run| run.condition).collect();
            assert!(conditions == [0, 1] || conditions == [2, 3], "{conditions:?}");
            assert!(flow.iter().all(|run| (run.warmup, run.repeat) == (flow[0].warmup, flow[0].repeat)));
        }
        assert!(flows[..2].iter().flatten().all(|run| run.warmup), "warm-ups come first");
    }
}

#[test]
fn both_ways_alternate_in_a_boot_and_either_begins() {
    let plan = plan(TSO, "alternate = \"100ms\"\napart = true");
    let schedule = study::schedule(&plan.states_of_conditions(), &plan.asked.protocol);
    for (boot, apart) in schedule.iter().zip([[1, 3].as_slice(), &[2]]) {
        for flow in flows(&plan, boot) {
            let is_apart = apart.contains(&flow[0].block);
            assert_eq!(flow.len(), if is_apart { 1 } else { 2 }, "{flow:?}");
        }
    }
}

#[test]
fn without_turns_each_run_has_its_flow() {
    let plan = plan(TSO, "");
    let schedule = study::schedule(&plan.states_of_conditions(), &plan.asked.protocol);
    let each: Vec<PlannedRun> = flows(&plan, &schedule[0]).concat();
    assert_eq!(each, schedule[0]);
}

fn planned(condition: usize, warmup: bool, repeat: u32, position: u32) -> PlannedRun {
    PlannedRun { boot: 1, block: if warmup { 0 } else { repeat }, repeat, position, warmup, condition }
}

fn boot() -> Vec<PlannedRun> {
    vec![
        planned(0, true, 1, 0),
        planned(1, true, 1, 1),
        planned(1, false, 1, 2),
        planned(0, false, 1, 3),
        planned(0, false, 2, 4),
        planned(1, false, 2, 5),
    ]
}

#[test]
fn a_fresh_boot_is_all_to_do() {
    assert_eq!(pending(&boot(), &BTreeSet::new()), boot());
}

#[test]
fn only_conditions_with_open_runs_are_warmed_up_again() {
    let done: BTreeSet<_> = boot().iter().filter(|r| r.position != 4).map(key_of).collect();
    assert_eq!(pending(&boot(), &done), vec![planned(0, true, 1, 0), planned(0, false, 2, 4)]);
}

#[test]
fn a_complete_boot_leaves_nothing() {
    let done: BTreeSet<_> = boot().iter().filter(|r| !r.warmup).map(key_of).collect();
    assert!(pending(&boot(), &done).is_empty());
}

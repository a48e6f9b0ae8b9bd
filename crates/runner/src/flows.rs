//! The runs of a boot that share a flow, and their turns.

use std::time::Duration;

use study::{Alternate, BySide, Plan, PlannedRun};
use testbed::{RunOrder, TurnCondition, TurnsOrder};

use crate::order::order_of;

/// The runs by flow, in the order of the first run of each; the runs of a flow in the order of
/// their conditions.
pub(crate) fn flows(plan: &Plan, runs: &[PlannedRun]) -> Vec<Vec<PlannedRun>> {
    if plan.asked.protocol.alternate.is_none() {
        return runs.iter().map(|run| vec![*run]).collect();
    }
    let planned = plan.flows();
    let mut flows: Vec<Vec<PlannedRun>> = Vec::new();
    for run in runs {
        if plan.asked.protocol.is_apart(run.boot, run.block) {
            flows.push(vec![*run]);
            continue;
        }
        let is_of_it = |flow: &&mut Vec<PlannedRun>| {
            flow.first().is_some_and(|first| {
                (first.warmup, first.repeat) == (run.warmup, run.repeat)
                    && planned.containing(first.condition).contains(&run.condition)
            })
        };
        match flows.iter_mut().find(is_of_it) {
            Some(flow) => flow.push(*run),
            None => flows.push(vec![*run]),
        }
    }
    flows.iter_mut().for_each(|flow| flow.sort_by_key(|run| run.condition));
    flows
}

/// The flow of several runs.
pub(crate) fn turns_of(plan: &Plan, runs: &[PlannedRun], alternate: Alternate) -> Option<TurnsOrder> {
    let first = runs.first()?;
    let together: Vec<usize> = runs.iter().map(|run| run.condition).collect();
    let turns = plan.turns(&together, first, alternate);
    let window = alternate.turn.checked_mul(u32::try_from(turns.len()).ok()?).unwrap_or(Duration::MAX);
    Some(TurnsOrder {
        flow: RunOrder { window, ..order_of(&plan.conditions[first.condition]) },
        turn: alternate.turn,
        settle: alternate.settle,
        states: together.into_iter().map(|one| state_of(plan, one)).collect(),
        turns,
    })
}

fn state_of(plan: &Plan, condition: usize) -> TurnCondition {
    let own = &plan.conditions[condition];
    TurnCondition {
        effective: plan.effective[condition].clone(),
        traffic: own.workload.traffic.clone(),
        tuning: BySide::from_fn(|side| own.side(side).tuning.clone()),
    }
}

#[cfg(test)]
mod tests {
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
        for factor in
            [TSO, "pacing = [\"100Mbit\", \"95Mbit\"]", "dscp = [0, 46]", "nodelay = [\"on\", \"off\"]"]
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
}

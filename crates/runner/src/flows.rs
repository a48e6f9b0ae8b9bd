//! The runs of a boot, their flows, and what a condition orders from a testbed.

use std::collections::BTreeSet;
use std::time::Duration;

use store::RunKey;
use study::{Alternate, BySide, Condition, Plan, PlannedRun, Side, SideSettings};
use testbed::{InterfaceSwitches, RunOrder, Switches, TurnCondition, TurnsOrder};

/// In the schedule's order, with the warm-ups of their conditions.
pub(crate) fn pending(boot: &[PlannedRun], settled: &BTreeSet<RunKey>) -> Vec<PlannedRun> {
    let open = |run: &&PlannedRun| !run.warmup && !settled.contains(&key_of(run));
    let conditions: BTreeSet<usize> = boot.iter().filter(open).map(|run| run.condition).collect();
    boot.iter()
        // A new testbed is cold again.
        .filter(|run| if run.warmup { conditions.contains(&run.condition) } else { open(run) })
        .copied()
        .collect()
}

pub(crate) fn key_of(run: &PlannedRun) -> RunKey {
    RunKey { boot: run.boot, warmup: run.warmup, repeat: run.repeat, condition: run.condition }
}

/// Flows are in the order of their first runs, the runs of a flow in that of their conditions.
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

pub(crate) fn turns_of(plan: &Plan, runs: &[PlannedRun], alternate: Alternate) -> Option<TurnsOrder> {
    let first = runs.first()?;
    let together: Vec<usize> = runs.iter().map(|run| run.condition).collect();
    let turns = plan.turns(&together, first, alternate);
    let window = alternate.turn.checked_mul(u32::try_from(turns.len()).ok()?).unwrap_or(Duration::MAX);
    let state_of = |condition: usize| {
        let own = &plan.conditions[condition];
        TurnCondition {
            effective: plan.effective[condition].clone(),
            traffic: own.workload.traffic.clone(),
            tuning: BySide::from_fn(|side| own.side(side).tuning.clone()),
        }
    };
    Some(TurnsOrder {
        flow: RunOrder { window, ..order_of(&plan.conditions[first.condition]) },
        turn: alternate.turn,
        settle: alternate.settle,
        states: together.into_iter().map(state_of).collect(),
        turns,
    })
}

/// The switches that a condition asks for.
pub fn switches_of(condition: &Condition) -> Switches {
    let under = &condition.underlay;
    Switches {
        own: interface_switches(condition.mtu, |side| condition.side(side)),
        underlay: interface_switches(under.mtu, |side| match side {
            Side::Transmitter => &under.transmitter,
            Side::Receiver => &under.receiver,
        }),
        tuning: BySide::from_fn(|side| condition.side(side).tuning.clone()),
    }
}

fn interface_switches<'c>(mtu: Option<u32>, of: impl Fn(Side) -> &'c SideSettings) -> InterfaceSwitches {
    let owned = |(name, on): (&str, bool)| (name.to_owned(), on);
    InterfaceSwitches {
        mtu,
        features: BySide::from_fn(|side| of(side).wanted().into_iter().map(owned).collect()),
        devices: BySide::from_fn(|side| of(side).device.clone()),
    }
}

/// The traffic that a condition asks for.
pub fn order_of(condition: &Condition) -> RunOrder {
    let workload = &condition.workload;
    RunOrder {
        traffic: workload.traffic.clone(),
        family: condition.family,
        ramp: workload.ramp,
        window: workload.duration,
        step: RunOrder::step_of(workload.duration),
    }
}

#[cfg(test)]
mod tests;

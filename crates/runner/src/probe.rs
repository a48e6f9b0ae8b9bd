//! Tries a plan's switches: the applied state may differ from the requested one.

use std::collections::HashMap;
use std::time::Instant;

use load::{Kind, Traffic};
use record::{Environment, Note};
use study::{BootKind, Condition, CongestionControl, Costs, Effective, Family, Plan};
use testbed::Switches;
use words::distinct;

use crate::flows::{order_of, switches_of};
use crate::lab::{Bench, BenchResult, Lab};
use crate::switchable_factors::{TriedStates, reads};

/// The result of trying a plan.
#[derive(Debug)]
pub struct Probed {
    /// The plan, with the state that each condition read back.
    pub plan: Plan,
    /// Limitations of the testbeds, each once, for the user.
    pub notes: Vec<String>,
    /// The expected times of boots and runs, from the time that building the testbeds took.
    pub costs: Costs,
    /// The machines that restart between boots, as they are before the first one.
    pub environment: Option<Environment>,
}

/// Names the congestion control where the plan does not, once, so that all conditions have the
/// same. Leaves out traffic that the hosts cannot make, sets each condition's switches once, and
/// merges the conditions that read back the same.
///
/// # Errors
/// When a testbed cannot be built or fails, or a condition's values are out of its range.
pub fn probe(mut plan: Plan, lab: &mut dyn Lab) -> BenchResult<Probed> {
    let begun = Instant::now();
    let mut costs = Costs::stated(&plan);
    let states = plan.states_of_conditions();
    let mut notes: Vec<String> = Vec::new();
    let mut tried: Vec<Option<Tried>> = vec![None; plan.conditions.len()];
    let mut environment = None;
    for (state, of_boot) in plan.states().iter().enumerate() {
        let begun = Instant::now();
        let mut bench = lab.build(of_boot)?;
        costs.built(of_boot, begun.elapsed());
        notes.extend(bench.notes().iter().map(Note::to_string));
        if plan.leaves_congestion_control_open() {
            plan = plan.with_congestion_control(unpaced(|traffic| bench.lacking(traffic, Family::Ipv4))?);
        }
        let conditions = (0..).zip(&states).filter(|(_, of)| **of == state).map(|(index, _)| index);
        try_conditions(&plan, conditions, bench.as_mut(), &mut tried)?;
        if plan.how_of_boots() == Some(BootKind::Reboot) {
            environment = Some(bench.environment()?);
        }
    }
    costs.trying = begun.elapsed();
    notes.extend(tried.iter().flatten().flatten().filter_map(|shown| Some(shown.own.fragments?.to_string())));
    let notes = distinct(notes);
    let lacking: Vec<Option<String>> =
        tried.iter().map(|one| Some(one.as_ref()?.as_ref().err()?.to_string())).collect();
    let shown: Vec<TriedStates> = tried.into_iter().flatten().filter_map(Result::ok).collect();
    let plan = plan.without(&lacking);
    let (plan, shown) = settled(plan, shown);
    let plan = merged(plan, shown.into_iter().map(|one| one.own).collect());
    Ok(Probed { plan, notes, costs, environment })
}

/// Why a condition is left out.
#[derive(Clone, Debug, thiserror::Error)]
#[error("this host does not support it: {0}")]
struct Unsupported(String);

type Tried = Result<TriedStates, Unsupported>;

fn try_conditions(
    plan: &Plan,
    conditions: impl Iterator<Item = usize>,
    bench: &mut dyn Bench,
    tried: &mut [Option<Tried>],
) -> BenchResult<()> {
    // Conditions differ in much that needs nothing of the kernel.
    let mut settled: HashMap<Switches, Effective> = HashMap::new();
    let mut settle = |condition: &Condition, bench: &mut dyn Bench| {
        let switches = switches_of(condition);
        if let Some(effective) = settled.get(&switches) {
            return Ok(effective.clone());
        }
        let effective = bench.settle(&switches)?;
        settled.insert(switches, effective.clone());
        Ok::<_, testbed::Error>(effective)
    };
    for index in conditions {
        let condition = &plan.conditions[index];
        let order = order_of(condition);
        let lacks = bench.lacking(&order.traffic, order.family)?;
        if !lacks.is_empty() {
            tried[index] = Some(Err(Unsupported(lacks.join("; "))));
            continue;
        }
        let own = settle(condition, bench)?;
        bench.check_path(&order, &own)?;
        let extremes = match &plan.design {
            None => [own.clone(), own.clone()],
            Some(design) => [
                settle(&condition.with_all(design, true), bench)?,
                settle(&condition.with_all(design, false), bench)?,
            ],
        };
        tried[index] = Some(Ok(TriedStates { own, extremes }));
    }
    Ok(())
}

fn settled(plan: Plan, shown: Vec<TriedStates>) -> (Plan, Vec<TriedStates>) {
    let Some(design) = &plan.design else { return (plan, shown) };
    let (reads, dropped) = reads(&plan, design, &shown);
    let (plan, numbers) = plan.settled(&reads, dropped);
    let shown = numbers.into_iter().filter_map(|number| shown.get(number).cloned()).collect();
    (plan, shown)
}

fn merged(plan: Plan, effective: Vec<Effective>) -> Plan {
    let states: Vec<String> = effective.iter().map(Effective::state).collect();
    let labels: Vec<_> = plan.conditions.iter().map(|condition| condition.label.clone()).collect();
    let mut plan = plan.merge(&states);
    // Merging keeps the first of each kind: find the kept conditions' states by label.
    plan.effective = plan
        .conditions
        .iter()
        .filter_map(|condition| labels.iter().position(|label| *label == condition.label))
        .map(|index| effective[index].clone())
        .collect();
    plan
}

/// The first congestion control without a pacing timer that the hosts allow, or else the last
/// candidate, so that the error names it. `lacking`: what the hosts lack for a kind of traffic.
///
/// # Errors
/// The errors of `lacking`.
pub fn unpaced<E>(mut lacking: impl FnMut(&Traffic) -> Result<Vec<String>, E>) -> Result<&'static str, E> {
    let [preferred @ .., last] = CongestionControl::UNPACED;
    for name in preferred {
        let congestion_control = CongestionControl::Named(name.to_owned());
        let traffic = Traffic { congestion_control, ..Traffic::new(Kind::TcpStream) };
        if lacking(&traffic)?.is_empty() {
            return Ok(name);
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_the_hosts_allow_is_taken() {
        for (allowed, chosen) in
            [(vec!["reno", "cubic"], "cubic"), (vec!["reno", "bbr"], "reno"), (vec!["bbr"], "reno")]
        {
            let lacking = |traffic: &Traffic| {
                let name = traffic.congestion_control.to_string();
                let lacks = !allowed.contains(&name.as_str());
                Ok::<_, ()>(lacks.then_some(name).into_iter().collect())
            };
            assert_eq!(unpaced(lacking), Ok(chosen), "{allowed:?}");
        }
    }
}

//! Trying a plan's switches out: what was asked is not what was got.

use study::{Condition, Family, Plan, SideSettings};
use testbed::{Effective, RunOrder, Switches};

use crate::document::PlanDocument;
use crate::lab::Bench;
use crate::words;

/// Leaves out the conditions whose traffic the hosts cannot make, sets every other condition's switches once, reads them back,
/// and merges the conditions that come to the same.
///
/// # Errors
/// When the testbed fails, or a condition's values are out of its range.
pub fn probe(plan: Plan, bench: &mut dyn Bench) -> Result<PlanDocument, testbed::Error> {
    let plan = without_what_is_lacking(plan, bench)?;
    let mut effective = Vec::with_capacity(plan.conditions.len());
    for condition in &plan.conditions {
        effective.push(bench.settle(&switches_of(condition))?);
    }
    let fingerprints: Vec<String> = plan
        .conditions
        .iter()
        .zip(&effective)
        .map(|(condition, effective)| fingerprint(condition, effective))
        .collect();
    let labels: Vec<String> = plan.conditions.iter().map(|condition| condition.label.clone()).collect();
    let plan = plan.merge(&fingerprints);
    // Merging keeps the first of each kind, so the kept conditions' states are found again by their labels.
    let effective = plan
        .conditions
        .iter()
        .filter_map(|condition| labels.iter().position(|label| *label == condition.label))
        .map(|index| effective[index].clone())
        .collect();
    Ok(PlanDocument { plan, effective })
}

/// Conditions of a workload differ in much that needs nothing of the kernel, so each kind of traffic is tried once.
fn without_what_is_lacking(plan: Plan, bench: &mut dyn Bench) -> Result<Plan, testbed::Error> {
    let mut tried: Vec<(load::Traffic, bool, Vec<String>)> = Vec::new();
    let mut reasons = Vec::with_capacity(plan.conditions.len());
    for condition in &plan.conditions {
        let RunOrder { traffic, ipv6, .. } = order_of(condition);
        let known = tried.iter().find(|(known, family, _)| *known == traffic && *family == ipv6);
        let lacks = match known {
            Some((.., lacks)) => lacks.clone(),
            None => {
                let lacks = bench.lacking(&traffic, ipv6)?;
                tried.push((traffic, ipv6, lacks.clone()));
                lacks
            }
        };
        reasons.push((!lacks.is_empty()).then(|| format!("this host lacks: {}", lacks.join("; "))));
    }
    Ok(plan.without(&reasons))
}

/// What makes two conditions one: the interfaces' state, and everything else that shapes the traffic.
fn fingerprint(condition: &Condition, effective: &Effective) -> String {
    let order = order_of(condition);
    format!("{order:?} {}", effective.fingerprint())
}

/// The switches that a condition asks for.
#[must_use]
pub fn switches_of(condition: &Condition) -> Switches {
    let features =
        |side: &SideSettings| side.wanted().into_iter().map(|(name, on)| (name.to_owned(), on)).collect();
    Switches {
        mtu: condition.mtu,
        transmitter: features(&condition.transmitter),
        receiver: features(&condition.receiver),
    }
}

/// The traffic that a condition asks for.
#[must_use]
pub fn order_of(condition: &Condition) -> RunOrder {
    let workload = &condition.workload;
    RunOrder {
        traffic: words::traffic(workload, condition.checksum),
        ipv6: condition.family == Family::Ipv6,
        ramp: workload.ramp,
        window: workload.duration,
        step: RunOrder::step_of(workload.duration),
    }
}

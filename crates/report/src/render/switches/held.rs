//! What a result was measured with and may depend on, and how long measuring took.

use std::collections::{BTreeMap, BTreeSet};

use store::{BootRow, StoredRun, StoredStudy};
use study::{Condition, Reader, Sender, Side};

use super::effect::{Context, Effect, Held};
use crate::data::acted::{self, Acted};
use crate::data::congestion_control;
use crate::data::means::boot_means;

impl Context {
    /// The context of these conditions; there is at least one.
    pub(in crate::render) fn of<'s>(
        stored: &'s StoredStudy,
        conditions: &[usize],
        at: Vec<(String, String)>,
        effects: Vec<Effect>,
    ) -> Self {
        let of_plan = |index: &usize| stored.plan.conditions.get(*index);
        let first = &stored.plan.conditions[conditions[0]];
        let boots: BTreeSet<u32> = stored
            .measurements()
            .filter(|run| conditions.contains(&run.condition))
            .map(|run| run.boot)
            .collect();
        let own = |condition: &'s Condition| {
            let means = boot_means(stored, condition.index);
            (
                condition.label.as_str(),
                Acted::of(condition, stored.plan.effective.get(condition.index), &means),
            )
        };
        let acted: Vec<_> = conditions.iter().filter_map(of_plan).map(own).collect();
        let flags = acted::flags(acted.iter().map(|(label, acted)| (*label, acted)));
        Self {
            scenario: first.boot.scenario,
            workload: first.workload.name.clone(),
            kind: first.workload.traffic.kind,
            at,
            held: held(stored, &conditions.iter().filter_map(of_plan).collect::<Vec<_>>()),
            boots: u32::try_from(boots.len()).unwrap_or(u32::MAX),
            effects,
            flags,
        }
    }
}

/// What all conditions have in common.
fn held(stored: &StoredStudy, conditions: &[&Condition]) -> Vec<Held> {
    let mut held = Vec::new();
    let mut add = |what, value: &dyn Fn(&Condition) -> Option<String>| {
        let values: BTreeSet<Option<String>> = conditions.iter().map(|one| value(one)).collect();
        if let (1, Some(Some(value))) = (values.len(), values.into_iter().next()) {
            held.push(Held { what, value });
        }
    };
    add("message", &|one| Some(format!("{} bytes", one.workload.traffic.message)));
    add("flows", &|one| Some(one.workload.traffic.flows.to_string()));
    add("MTU", &|one| {
        let effective = stored.plan.effective.get(one.index).map(|effective| effective.transmitter.mtu);
        Some(format!("{} bytes", effective.or(one.mtu)?))
    });
    add("family", &|one| Some(one.family.to_string()));
    let of_runs = congestion_control::of_runs(stored);
    add("congestion control", &|one| {
        let own = of_runs.iter().filter(|(_, members)| members.contains(&one.index));
        let names: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    });
    let unless = |word: String, default: String| (word != default).then_some(word);
    add("sender", &|one| unless(one.workload.traffic.sender.to_string(), Sender::Send.to_string()));
    add("reader", &|one| unless(one.workload.traffic.reader.to_string(), Reader::Recv.to_string()));
    add("pacing", &|one| Some(one.workload.traffic.pacing?.to_string()));
    add("CPUs", &|one| placement(stored, one));
    add("kernel", &|one| boot_of(stored, one)?.environment.transmitter.kernel.release.clone());
    held
}

/// A boot in the state of a condition.
fn boot_of<'s>(stored: &'s StoredStudy, condition: &Condition) -> Option<&'s BootRow> {
    let number = stored.measurements().find(|run| run.condition == condition.index)?.boot;
    stored.boots.iter().find(|boot| boot.number == number)
}

/// Where both hosts ran.
fn placement(stored: &StoredStudy, condition: &Condition) -> Option<String> {
    let environment = &boot_of(stored, condition)?.environment;
    let list = |side: Side| {
        let cpus: Vec<String> = environment.cpus[side].iter().map(u32::to_string).collect();
        cpus.join(",")
    };
    Some(match &environment.receiver {
        Some(_) if environment.cpus.is_shared() && !environment.scenario.has_machines() => {
            format!("both hosts on {}", list(Side::Transmitter))
        }
        Some(_) => {
            format!("transmitter on {}, receiver on {}", list(Side::Transmitter), list(Side::Receiver))
        }
        None => format!("transmitter on {}", list(Side::Transmitter)),
    })
}

/// The mean time of a boot with its runs, in seconds, summed over the states of the testbed.
pub(super) fn seconds_per_boot(stored: &StoredStudy) -> f64 {
    let states = stored.plan.states_of_conditions();
    let mut of_states: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut boots: BTreeMap<u32, Vec<&StoredRun>> = BTreeMap::new();
    for run in &stored.runs {
        boots.entry(run.boot).or_default().push(run);
    }
    for (number, runs) in boots {
        let Some(state) = runs.iter().find_map(|run| states.get(run.condition)) else { continue };
        let parts = stored.boots.iter().filter(|boot| boot.number == number);
        let ended: i64 = parts
            .filter_map(|boot| Some(boot.ended_unix_ms?.saturating_sub(boot.started_unix_ms).max(0)))
            .sum();
        let starts = || runs.iter().map(|run| run.started_unix_ms);
        let (first, last) = (starts().min().unwrap_or(0), starts().max().unwrap_or(0));
        // A boot without an end lasts at least until its last run began.
        let time = ended.max(last.saturating_sub(first));
        of_states.entry(*state).or_default().push(time as f64 / 1000.0);
    }
    of_states.values().map(|times| times.iter().sum::<f64>() / times.len() as f64).sum()
}

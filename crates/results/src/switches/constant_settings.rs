//! The settings that all runs of a result share, on which it may depend, and the duration of
//! measuring it.

use std::collections::{BTreeMap, BTreeSet};

use store::{BootRow, StoredRun, StoredStudy};
use study::{Assignment, Condition, Reader, Sender, Side, Study};

use super::switch_effect::{ConstantSetting, NarrowedStudy, SwitchContext, SwitchEffect};
use crate::data::acted::{self, ActedOffloads};
use crate::data::congestion_control;
use crate::data::means::boot_means;

impl SwitchContext {
    /// The context of these conditions; there is at least one.
    pub(crate) fn new<'s>(
        stored: &'s StoredStudy,
        conditions: &[usize],
        at: Vec<(String, String)>,
        effects: Vec<SwitchEffect>,
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
                ActedOffloads::for_condition(condition, stored.plan.effective.get(condition.index), &means),
            )
        };
        let acted: Vec<_> = conditions.iter().filter_map(of_plan).map(own).collect();
        let flags = acted::flags(acted.iter().map(|(label, acted)| (*label, acted)));
        let alone = NarrowedStudy::for_condition(stored, first, &at);
        Self {
            scenario: first.boot.scenario,
            workload: first.workload.name.clone(),
            kind: first.workload.traffic.kind,
            at,
            held: held(stored, &conditions.iter().filter_map(of_plan).collect::<Vec<_>>()),
            boots: u32::try_from(boots.len()).unwrap_or(u32::MAX),
            alone,
            effects,
            flags,
        }
    }
}

fn held(stored: &StoredStudy, conditions: &[&Condition]) -> Vec<ConstantSetting> {
    let mut held = Vec::new();
    let mut add = |what, value: &dyn Fn(&Condition) -> Option<String>| {
        let values: BTreeSet<Option<String>> = conditions.iter().map(|one| value(one)).collect();
        if let (1, Some(Some(value))) = (values.len(), values.into_iter().next()) {
            held.push(ConstantSetting { what, value });
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

impl NarrowedStudy {
    /// The settings that hold the levels of a condition: those of `at`, and the scenario, as far as
    /// they vary. A level that is no plain word is left to vary, and so are workloads: no option
    /// chooses them.
    fn for_condition(stored: &StoredStudy, first: &Condition, at: &[(String, String)]) -> Self {
        let all = &stored.plan.conditions;
        let is_plain = |level: &str| {
            level.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
        };
        let varies = |(name, level): &&(String, String)| {
            name != "twin"
                && is_plain(level)
                && all.iter().any(|one| level_of(one, name).is_some_and(|other| other != level))
        };
        let mut set: Vec<(String, String)> = at.iter().filter(varies).cloned().collect();
        if all.iter().any(|one| one.boot.scenario != first.boot.scenario) {
            set.insert(0, (SCENARIO.to_owned(), first.boot.scenario.to_string()));
        }
        let set = settable(stored, set);
        let is_kept = |condition: usize| {
            all.get(condition).is_some_and(|one| {
                set.iter().all(|(name, level)| match name.as_str() {
                    SCENARIO => one.boot.scenario == first.boot.scenario,
                    name => level_of(one, name).is_none_or(|own| own == level),
                })
            })
        };
        let seconds_per_boot = seconds_per_boot(stored, is_kept);
        Self { set, seconds_per_boot }
    }
}

/// The levels with which the study's file can still be read: a baseline may be of another level.
fn settable(stored: &StoredStudy, wanted: Vec<(String, String)>) -> Vec<(String, String)> {
    let (mut set, mut changes): (Vec<(String, String)>, Vec<Assignment>) = (Vec::new(), Vec::new());
    for (name, level) in wanted {
        let Ok(change) = format!("{name}={level}").parse() else { continue };
        changes.push(change);
        if Study::parse_with("study", &stored.row.toml, &changes).is_ok() {
            set.push((name, level));
        } else {
            changes.pop();
        }
    }
    set
}

const SCENARIO: &str = "scenario";

/// The level of a condition, if its workload has this factor.
fn level_of<'c>(condition: &'c Condition, factor: &str) -> Option<&'c String> {
    condition.levels.iter().find(|(name, _)| name == factor).map(|(_, level)| level)
}

/// The mean time of a boot with the runs of these conditions, in seconds, summed over the states of
/// the testbed that they need. The time of a run is that until the next one begins.
pub(super) fn seconds_per_boot(stored: &StoredStudy, is_kept: impl Fn(usize) -> bool) -> f64 {
    let states = stored.plan.states_of_conditions();
    let mut of_states: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut boots: BTreeMap<u32, Vec<&StoredRun>> = BTreeMap::new();
    for run in &stored.runs {
        boots.entry(run.boot).or_default().push(run);
    }
    for (number, mut runs) in boots {
        let Some(state) = runs.iter().find_map(|run| states.get(run.condition)) else { continue };
        if !states.iter().enumerate().any(|(condition, of)| of == state && is_kept(condition)) {
            continue;
        }
        runs.sort_by_key(|run| run.started_unix_ms);
        let parts = stored.boots.iter().filter(|boot| boot.number == number);
        let time: i64 = parts.map(|part| time_of_part(part, &runs, &is_kept)).sum();
        of_states.entry(*state).or_default().push(time as f64 / 1000.0);
    }
    of_states.values().map(|times| times.iter().sum::<f64>() / times.len() as f64).sum()
}

/// The time of a boot, or of a part of it where it was resumed, without runs of other conditions,
/// in ms. `runs`: those of the boot, by time.
fn time_of_part(part: &BootRow, runs: &[&StoredRun], is_kept: impl Fn(usize) -> bool) -> i64 {
    let begun = part.started_unix_ms;
    let is_in = |run: &&&StoredRun| {
        run.started_unix_ms >= begun && part.ended_unix_ms.is_none_or(|end| run.started_unix_ms <= end)
    };
    let runs: Vec<&StoredRun> = runs.iter().filter(is_in).copied().collect();
    // A boot without an end lasts at least until its last run began.
    let last = runs.last().map_or(begun, |run| run.started_unix_ms);
    let ended = part.ended_unix_ms.unwrap_or(last).max(last);
    let ends = runs.iter().skip(1).map(|run| run.started_unix_ms).chain([ended]);
    let others = runs.iter().zip(ends).filter(|(run, _)| !is_kept(run.condition));
    let without: i64 = others.map(|(run, end)| end - run.started_unix_ms).sum();
    (ended - begun).saturating_sub(without).max(0)
}

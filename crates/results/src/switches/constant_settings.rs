//! The settings that all runs of a result share, on which it may depend, and the duration of
//! measuring it.

use std::collections::{BTreeMap, BTreeSet};

use store::{BootRow, StoredRun, StoredStudy};
use study::{Assignment, Condition, Reader, Sender, Side, Study};

use super::switch_effect::{ConstantSetting, FactorLevel, SwitchContext, SwitchEffect};
use crate::data::acted::{self, ActedOffloads};
use crate::data::congestion_control;
use crate::data::means::boot_means;

impl SwitchContext {
    /// At least one condition; they differ only in the factors that are switched.
    pub(crate) fn new(
        stored: &StoredStudy,
        conditions: &[usize],
        switched: &[String],
        effects: Vec<SwitchEffect>,
    ) -> Self {
        let of_plan: Vec<&Condition> =
            conditions.iter().map(|index| &stored.plan.conditions[*index]).collect();
        let first = of_plan[0];
        let is_other =
            |name: &String| !["workload", "scenario"].contains(&name.as_str()) && !switched.contains(name);
        let others = first.levels.iter().filter(|(name, _)| is_other(name));
        let levels: Vec<_> = others.map(|(name, level)| FactorLevel::new(name, level)).collect();
        let runs = stored.measurements().filter(|run| conditions.contains(&run.condition));
        let boots: BTreeSet<u32> = runs.map(|run| run.boot).collect();
        let acted = |condition: &&Condition| {
            ActedOffloads::for_condition(stored, condition, &boot_means(stored, condition.index))
        };
        let acted: Vec<ActedOffloads> = of_plan.iter().map(acted).collect();
        let labels = of_plan.iter().map(|condition| condition.label.as_str());
        let (narrowed, seconds_per_boot) = narrowed(stored, first, &levels);
        Self {
            scenario: first.boot.scenario,
            workload: first.workload.name.clone(),
            kind: first.workload.traffic.kind,
            levels,
            constant_settings: constant_settings(stored, &of_plan),
            boots: u32::try_from(boots.len()).unwrap_or(u32::MAX),
            narrowed,
            seconds_per_boot,
            effects,
            flags: acted::flags(labels.zip(&acted)),
        }
    }
}

fn constant_settings(stored: &StoredStudy, conditions: &[&Condition]) -> Vec<ConstantSetting> {
    let mut settings = Vec::new();
    let mut add = |what, value: &dyn Fn(&Condition) -> Option<String>| {
        let values: BTreeSet<Option<String>> = conditions.iter().map(|one| value(one)).collect();
        if let (1, Some(Some(value))) = (values.len(), values.into_iter().next()) {
            settings.push(ConstantSetting { what, value });
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
    settings
}

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

fn narrowed(stored: &StoredStudy, first: &Condition, levels: &[FactorLevel]) -> (Vec<FactorLevel>, f64) {
    // A workload may lack a factor.
    let level_of = |one: &Condition, factor: &str| match factor {
        SCENARIO => Some(one.boot.scenario.to_string()),
        _ => one.levels.iter().find(|(name, _)| name == factor).map(|(_, level)| level.clone()),
    };
    let has = |one: &Condition, FactorLevel { factor, level }: &FactorLevel| {
        level_of(one, factor).is_none_or(|own| own == *level)
    };
    // No option chooses a level that is no plain word, so it is left to vary, and so are workloads.
    let is_plain =
        |level: &str| level.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    let scenario = FactorLevel::new(SCENARIO, &first.boot.scenario.to_string());
    let wanted = std::iter::once(&scenario).chain(levels).filter(|setting| {
        let varies = stored.plan.conditions.iter().any(|one| !has(one, setting));
        setting.factor != "twin" && is_plain(&setting.level) && varies
    });
    // The study's file must be readable with them: a baseline may be of another level.
    let (mut set, mut changes): (Vec<FactorLevel>, Vec<Assignment>) = (Vec::new(), Vec::new());
    for setting in wanted {
        let Ok(change) = setting.to_string().parse() else { continue };
        changes.push(change);
        if Study::parse_with("study", &stored.row.toml, &changes).is_ok() {
            set.push(setting.clone());
        } else {
            changes.pop();
        }
    }
    let is_kept = |condition: usize| {
        stored.plan.conditions.get(condition).is_some_and(|one| set.iter().all(|setting| has(one, setting)))
    };
    let seconds_per_boot = seconds_per_boot(stored, is_kept);
    (set, seconds_per_boot)
}

const SCENARIO: &str = "scenario";

/// Summed over the states of the testbed.
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

/// Without runs of other conditions, in ms. `runs`: those of the boot, by time.
fn time_of_part(part: &BootRow, runs: &[&StoredRun], is_kept: impl Fn(usize) -> bool) -> i64 {
    let begun = part.started_unix_ms;
    let is_in = |run: &&&StoredRun| {
        run.started_unix_ms >= begun && part.ended_unix_ms.is_none_or(|end| run.started_unix_ms <= end)
    };
    let runs: Vec<&StoredRun> = runs.iter().filter(is_in).copied().collect();
    // A boot without an end lasts at least until its last run began.
    let last = runs.last().map_or(begun, |run| run.started_unix_ms);
    let ended = part.ended_unix_ms.unwrap_or(last).max(last);
    // A run lasts until the next one begins: what lies between belongs to it.
    let ends = runs.iter().skip(1).map(|run| run.started_unix_ms).chain([ended]);
    let others = runs.iter().zip(ends).filter(|(run, _)| !is_kept(run.condition));
    let without: i64 = others.map(|(run, end)| end - run.started_unix_ms).sum();
    (ended - begun).saturating_sub(without).max(0)
}

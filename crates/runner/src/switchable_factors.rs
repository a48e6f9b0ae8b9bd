//! Finds a design's switchable factors from the states that the switches read back. Pure.

use std::collections::HashMap;

use study::{Condition, Dropped, Effective, Offload, OffloadDesign, Plan, Scenario, Settled, Side};
use testbed::Switches;

use crate::flows::switches_of;

#[derive(Debug, Clone)]
pub(crate) struct TriedStates {
    pub(crate) own: Effective,
    /// The states with all factors of the design on, and with all off.
    pub(crate) extremes: [Effective; 2],
}

/// A condition's factors are `None` where nothing can switch them in its scenario. Also returns the
/// factors that cannot be switched here, or not in every scenario.
pub(crate) fn reads(
    plan: &Plan,
    design: &OffloadDesign,
    shown: &[TriedStates],
) -> (Vec<Vec<Option<bool>>>, Vec<Dropped>) {
    let offloads: Vec<Option<Offload>> = design.factors.iter().map(|name| Offload::named(name)).collect();
    let groups = groups(plan, design);
    let mut reads = vec![Vec::new(); shown.len()];
    let mut dropped = Vec::new();
    for (factor, offload) in design.factors.iter().zip(&offloads) {
        let Some(offload) = offload else { continue };
        // Per group, as another state's interface may allow more; per feature, as some of one
        // offload may be fixed, and the sides may differ.
        let mut seen: HashMap<usize, Vec<Seen>> = HashMap::new();
        for (one, group) in shown.iter().zip(&groups) {
            let with_all = states(offload, &one.extremes[0]);
            let seen = seen.entry(*group).or_insert_with(|| vec![Seen::default(); with_all.len()]);
            seen.iter_mut().zip(with_all).for_each(|(seen, state)| seen.with_all = state == Some(true));
            for effective in one.extremes.iter().chain([&one.own]) {
                seen.iter_mut().zip(states(offload, effective)).for_each(|(seen, state)| seen.add(state));
            }
        }
        let lacking = lacking(plan, &groups, &seen);
        let of_conditions = shown.iter().zip(&groups).zip(&plan.conditions);
        for (((one, group), condition), reads) in of_conditions.zip(&mut reads) {
            let is_there = !lacking.contains(&condition.boot.scenario);
            reads.push(is_there.then(|| is_on(&states(offload, &one.own), &seen[group])));
        }
        for scenario in lacking {
            let of_it = |(_, condition): &(_, &Condition)| condition.boot.scenario == scenario;
            let of_it = groups.iter().zip(&plan.conditions).filter(of_it);
            let seen = of_it.flat_map(|(group, _)| &seen[group]);
            dropped.push(Dropped { label: format!("{factor} in {scenario}"), why: why(seen) });
        }
        if !seen.values().flatten().any(Seen::moved) {
            dropped.push(Dropped { label: factor.clone(), why: why(seen.values().flatten()) });
        }
    }
    (reads, dropped)
}

/// The scenarios in which nothing switches a factor that another one switches.
fn lacking(plan: &Plan, groups: &[usize], seen: &HashMap<usize, Vec<Seen>>) -> Vec<Scenario> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for (condition, group) in plan.conditions.iter().zip(groups) {
        let scenarios = if seen[group].iter().any(Seen::moved) { &mut with } else { &mut without };
        if !scenarios.contains(&condition.boot.scenario) {
            scenarios.push(condition.boot.scenario);
        }
    }
    without.retain(|scenario| !with.is_empty() && !with.contains(scenario));
    without
}

fn is_on(states: &[Option<bool>], seen: &[Seen]) -> bool {
    let states_where = |speaks: fn(&Seen) -> bool| {
        let chosen = states.iter().zip(seen).filter(move |(_, seen)| speaks(seen));
        chosen.map(|(state, _)| *state == Some(true))
    };
    // A part of an offload, such as the kind of TSO that does not need the checksum, is not what
    // was asked for. Fixed features are ignored, unless all are fixed.
    if states_where(|seen| seen.moved() && seen.with_all).next().is_some() {
        states_where(|seen| seen.moved() && seen.with_all).all(|on| on)
    } else if states_where(Seen::moved).next().is_some() {
        states_where(Seen::moved).any(|on| on)
    } else {
        states_where(|_| true).any(|on| on)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    on: bool,
    off: bool,
    /// Whether it is on with all factors of the design on.
    with_all: bool,
}

impl Seen {
    fn add(&mut self, state: Option<bool>) {
        self.on |= state == Some(true);
        self.off |= state == Some(false);
    }

    fn moved(&self) -> bool {
        self.on && self.off
    }
}

/// The transmitter's, then the receiver's; `None`: not of that side, or the interface lacks it.
fn states(offload: &Offload, effective: &Effective) -> Vec<Option<bool>> {
    let of_side = |side| {
        let settled = interface(offload, side, effective);
        offload.features.iter().map(move |name| settled?.active.get(*name).copied())
    };
    Side::BOTH.into_iter().flat_map(of_side).collect()
}

fn interface<'e>(offload: &Offload, side: Side, effective: &'e Effective) -> Option<&'e Settled> {
    if offload.side.is_some_and(|only| only != side) {
        return None;
    }
    match (offload.underlay, side) {
        (false, Side::Transmitter) => Some(&effective.transmitter),
        (false, Side::Receiver) => effective.receiver.as_ref(),
        (true, side) => effective.underlay.as_ref().map(|both| &both[side]),
    }
}

fn why<'s>(seen: impl Iterator<Item = &'s Seen> + Clone) -> String {
    let stays = match (seen.clone().any(|seen| seen.on), seen.clone().any(|seen| seen.off)) {
        (false, false) => "no interface here has it",
        (true, false) => "it stays on",
        (false, true) => "it stays off",
        (true, true) => "no interface here can switch it",
    };
    stays.to_owned()
}

/// Equal for conditions that differ in the design or the traffic only.
fn groups(plan: &Plan, design: &OffloadDesign) -> Vec<usize> {
    let mut known: HashMap<(Switches, usize), usize> = HashMap::new();
    let mut group = |(condition, state): (&Condition, usize)| {
        let switches = switches_of(&condition.with_all(design, true));
        let next = known.len();
        *known.entry((switches, state)).or_insert(next)
    };
    plan.conditions.iter().zip(plan.states_of_conditions()).map(&mut group).collect()
}

//! A design after its switches were tried: a combination that reads back as another is not a
//! condition of its own.

use std::collections::HashMap;

use words::{Side, grouped};

use crate::model::design::{ON, state};
use crate::model::{Dropped, Offload, OffloadDesign, Unreachable};
use crate::plan::{Condition, Plan, SideSettings, draft};

impl Condition {
    /// Which of a design's factors it has on.
    pub fn designed(&self, design: &OffloadDesign) -> Vec<bool> {
        let level = |factor: &String| self.levels.iter().find(|(name, _)| name == factor);
        design.factors.iter().map(|factor| level(factor).is_some_and(|(_, level)| level == ON)).collect()
    }

    /// The design without the factors that no interface can switch in this condition's scenario.
    pub fn own_design(&self, design: &OffloadDesign) -> OffloadDesign {
        let has = |factor: &&String| self.levels.iter().any(|(name, _)| name == *factor);
        OffloadDesign { factors: design.factors.iter().filter(has).cloned().collect(), ..design.clone() }
    }

    /// The condition with all offloads of a design on, or off, under the same names: for a try.
    pub fn with_all(&self, design: &OffloadDesign, on: bool) -> Self {
        let mut condition = self.clone();
        for (factor, was) in design.factors.iter().zip(self.designed(design)) {
            condition.switch(factor, was, on);
        }
        condition
    }

    /// Switches the features of a factor, except those that something more specific sets.
    fn switch(&mut self, factor: &str, was: bool, on: bool) {
        let Some(offload) = Offload::named(factor) else { return };
        for side in Side::BOTH {
            if offload.side.is_some_and(|only| only != side) {
                continue;
            }
            let settings: &mut SideSettings = match (side, offload.underlay) {
                (Side::Transmitter, false) => &mut self.transmitter,
                (Side::Receiver, false) => &mut self.receiver,
                (Side::Transmitter, true) => &mut self.underlay.transmitter,
                (Side::Receiver, true) => &mut self.underlay.receiver,
            };
            for (name, now) in &mut settings.features {
                if *now == was && offload.features.contains(&name.as_str()) {
                    *now = on;
                }
            }
        }
    }

    /// Names it by its offloads that are on, of a design that may have lost factors, here (`None`)
    /// or altogether.
    fn rename(&mut self, old: &OffloadDesign, new: &OffloadDesign, reads: &[Option<bool>]) {
        // The settings stay: they led to this state.
        let was = self.designed(old);
        let (new, on) = new.of_states(reads);
        // The design's word is the last.
        if let Some((_, rest)) = self.label.words().split_last() {
            self.label = [rest, &[new.word(&on)]].concat().into();
        }
        // A number that makes a slug unique may stand behind it.
        let (old_slug, new_slug) = (old.slug(&was), new.slug(&on));
        if let Some(place) = self.slug.rfind(&old_slug) {
            self.slug = self.slug[..place].to_owned() + &new_slug;
        }
        self.levels.retain(|(name, _)| !old.factors.contains(name));
        let levels = new.factors.iter().zip(on);
        self.levels.extend(levels.map(|(name, on)| (name.clone(), state(on).to_owned())));
    }

    fn undesigned(&self, design: &OffloadDesign) -> Vec<(String, String)> {
        self.levels.iter().filter(|(name, _)| !design.factors.contains(name)).cloned().collect()
    }
}

impl OffloadDesign {
    fn of_states(&self, states: &[Option<bool>]) -> (Self, Vec<bool>) {
        let known = self.factors.iter().zip(states).filter_map(|(name, on)| Some((name.clone(), (*on)?)));
        let (factors, on) = known.unzip();
        (Self { factors, ..self.clone() }, on)
    }

    fn without(&self, dropped: Vec<Dropped>) -> Self {
        let is_dropped = |name: &str| dropped.iter().any(|gone| gone.label == name);
        let stays = |pair: &&[String; 2]| !pair.iter().any(|name| is_dropped(name));
        let left = |group: &Vec<[String; 2]>| {
            let pairs: Vec<_> = group.iter().filter(stays).cloned().collect();
            (pairs.len() > 1).then_some(pairs)
        };
        Self {
            factors: self.factors.iter().filter(|name| !is_dropped(name)).cloned().collect(),
            aliases: self.aliases.iter().filter_map(left).collect(),
            dropped: [self.dropped.clone(), dropped].concat(),
            ..self.clone()
        }
    }
}

impl Plan {
    /// Renames the conditions of a design by the states that they read back. `reads[i]` is the
    /// state of each factor of the design in `conditions[i]`, `None` where nothing in its scenario
    /// can switch the factor; `dropped` are factors, by name, that nothing here can switch, with
    /// the reason, and notes for the user on factors that only some scenarios have.
    ///
    /// Of conditions with the same state one stays: the one that was asked for, or else the first,
    /// under the name of its state. Also returns the former number of each condition of the plan.
    /// Without a design the plan stays unchanged.
    pub fn settled(self, reads: &[Vec<Option<bool>>], dropped: Vec<Dropped>) -> (Self, Vec<usize>) {
        let Some(old) = self.design.clone() else {
            let numbers = (0..self.conditions.len()).collect();
            return (self, numbers);
        };
        let mut design = old.without(dropped.clone());
        let stays: Vec<bool> = old.factors.iter().map(|name| design.factors.contains(name)).collect();
        let left = |on: OnOff| -> OnOff {
            on.into_iter().zip(&stays).filter(|(_, stays)| **stays).map(|(on, _)| on).collect()
        };
        // An offload that the scenario does not have was not requested.
        let states = |condition: &Condition| {
            let asked = condition.designed(&old).into_iter().map(Some);
            let Some(reads) = reads.get(condition.index) else {
                let asked = left(asked.collect());
                return (asked.clone(), asked);
            };
            let asked = asked.zip(reads).map(|(asked, read)| asked.filter(|_| read.is_some()));
            (left(asked.collect()), left(reads.clone()))
        };
        let (asked, reads): (Vec<OnOff>, Vec<OnOff>) = self.conditions.iter().map(states).unzip();

        // The condition that stays for each state of each group.
        let mut kept: HashMap<State<'_>, usize> = HashMap::new();
        let key = |index: usize| (self.conditions[index].undesigned(&old), reads[index].as_slice());
        let in_order = 0..self.conditions.len();
        let as_asked = in_order.clone().filter(|&index| asked[index] == reads[index]);
        for index in as_asked.chain(in_order) {
            kept.entry(key(index)).or_insert(index);
        }
        let stands_for: Vec<_> = (0..self.conditions.len()).map(|index| Some(kept[&key(index)])).collect();
        drop(kept);
        let (mut plan, numbers) = self.keep(&stands_for);
        for (condition, old_number) in plan.conditions.iter_mut().zip(&numbers) {
            condition.rename(&old, &design, &reads[*old_number]);
        }
        draft::make_unique(&mut plan.conditions);
        let differ = asked.iter().zip(&reads).filter(|(asked, reads)| asked != reads);
        for ((asked, reads), times) in grouped(differ.map(|both| (both, ()))) {
            let count = times.len();
            let state_name = |states: &[Option<bool>]| {
                let (own, on) = design.of_states(states);
                own.state_name(&on)
            };
            let of = if count == 1 { String::new() } else { format!(", in {count} conditions") };
            let why = format!("reads back as `{}`{of}", state_name(reads));
            plan.merged.push(Dropped { label: state_name(asked), why });
            let whole = |states: &[Option<bool>]| states.iter().map(|on| on.unwrap_or(false)).collect();
            let one = Unreachable { asked: whole(asked), reads: whole(reads) };
            if !design.unreachable.contains(&one) {
                design.unreachable.push(one);
            }
        }
        let leaves =
            |gone: Dropped| Dropped { why: format!("not part of the design here: {}", gone.why), ..gone };
        plan.lacking.extend(dropped.into_iter().map(leaves));
        plan.design = Some(design);
        (plan, numbers)
    }
}

type State<'r> = (Vec<(String, String)>, &'r [Option<bool>]);

/// The state of each offload of a design; `None` if the scenario does not have it.
type OnOff = Vec<Option<bool>>;

//! The state of each condition's switches: requested, and as it reads back.

use study::Key;

use crate::data::results::Results;
use crate::words::lists::grouped;
use crate::words::number::counted;
use crate::words::phrases::listed;

// The most conditions that a sentence names; of more, the number.
const NAMED: usize = 3;

impl Results {
    /// Each condition's switches; then requests not applied, and further changes by the kernel.
    pub fn switches(&self) -> Vec<(&str, Vec<String>)> {
        let plan = &self.stored.plan;
        let Some(base) = plan.effective.first() else { return Vec::new() };
        let mut states = Vec::new();
        for (index, (condition, effective)) in plan.conditions.iter().zip(&plan.effective).enumerate() {
            // Conditions that differ in the traffic only share states: each state is listed once.
            if let Some(twin) = plan.effective[..index].iter().position(|earlier| earlier == effective) {
                let twin = &plan.conditions[twin];
                let mut state = format!("interfaces as {}", twin.label);
                let own = condition.levels.iter().filter(|own| !twin.levels.contains(own));
                let of_traffic = own.filter(|(factor, _)| Key::find(factor).is_some());
                state.extend(of_traffic.map(|(factor, level)| format!("; traffic with {factor}={level}")));
                states.push((condition.label.as_str(), vec![state]));
                continue;
            }
            let difference = effective.against(base);
            let mut state = vec![if difference.is_empty() { "as built".to_owned() } else { difference }];
            for (side, settled) in effective.sides() {
                for (feature, why) in settled.unmet() {
                    state.push(format!("{side}: {feature} was not applied: {why}"));
                }
                let followed: Vec<String> = settled
                    .follow_on
                    .iter()
                    .map(|(feature, on)| format!("{feature} {}", if *on { "on" } else { "off" }))
                    .collect();
                if !followed.is_empty() {
                    state.push(format!("{side}: changed by the kernel: {}", followed.join(", ")));
                }
            }
            states.push((condition.label.as_str(), state));
        }
        states
    }

    /// Requested levels that were not applied, with their conditions, as sentences.
    pub fn not_applied(&self) -> Vec<String> {
        let mut told: Vec<(String, &str)> = Vec::new();
        for (condition, effective) in self.stored.plan.conditions.iter().zip(&self.stored.plan.effective) {
            for (side, settled) in effective.sides() {
                // `offloads=default` asks for no single feature: no interface has all of them.
                let is_asked = |feature: &str| {
                    condition.levels.iter().any(|(name, _)| {
                        let (of, name) = name.split_once('.').unwrap_or((side, name));
                        of == side && study::feature::expand(name).is_some_and(|all| all.contains(&feature))
                    })
                };
                for (feature, why) in settled.unmet().filter(|(feature, _)| is_asked(feature)) {
                    let is_on = settled.active.get(feature) == Some(&true);
                    let state = if is_on { "on" } else { "off" };
                    told.push((
                        format!("{feature} at the {side} stays {state}: {why}"),
                        condition.label.as_str(),
                    ));
                }
            }
        }
        let conditions = |labels: &[&str]| match labels.len() {
            count if count > NAMED => counted(count, "condition"),
            _ => listed(labels),
        };
        let unmet = grouped(told).into_iter();
        let unmet = unmet.map(|(what, labels)| format!("Not applied: {}: {what}.", conditions(&labels)));
        unmet.chain(self.merged()).collect()
    }

    fn merged(&self) -> Vec<String> {
        let merged = &self.stored.plan.merged;
        if merged.len() > NAMED {
            let conditions = counted(merged.len(), "condition");
            return vec![format!("Not measured: {conditions} that read back as the same state as others.")];
        }
        merged.iter().map(|one| format!("Not measured: {}: {}.", one.label, one.why)).collect()
    }

    /// Conditions left out or merged with others, and why, as sentences without full stops.
    pub fn not_measured(&self) -> Vec<String> {
        let plan = &self.stored.plan;
        let unmeasured = plan.excluded.iter().chain(&plan.lacking).map(|one| ("Not measured", one));
        let all = unmeasured.chain(plan.merged.iter().map(|one| ("Merged", one)));
        all.map(|(title, one)| format!("{title}: {}: {}", one.label, one.why)).collect()
    }
}

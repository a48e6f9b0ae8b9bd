//! The hosts of a study, as they were recorded.

use std::collections::BTreeMap;

use record::Environment;
use results::{Results, differing, distinct, instant, leaves, machines};
use serde_json::Value;
use store::{BootRow, StoredStudy};

use crate::cells;
use crate::document::{Block, Table};

/// The machines, their changes, the differences between both hosts, and all that is recorded.
pub fn environment(results: &Results) -> Vec<Block<'static>> {
    let stored = &results.stored;
    let lists = [
        ("Measured between machines, as they were at the first boot:", machines(stored)),
        ("Changed of the machine for the study, and undone at its end:", changed(stored)),
    ];
    let lists = lists.into_iter().filter_map(|(head, lines)| Block::titled_list(head, lines));
    let differences = hosts_that_differ(stored).map(Block::Table);
    let boots = stored.boots.iter().map(|boot| (name(boot), values(&boot.environment), end(boot)));
    let all = Some(recorded(boots)).filter(|all| !all.is_empty());
    let all = all.map(|all| Block::Appendix("All that is recorded of the hosts", all));
    lists.chain(differences).chain(all).collect()
}

fn changed(stored: &StoredStudy) -> Vec<String> {
    distinct(stored.boots.iter().map(|boot| &boot.environment).flat_map(|environment| {
        let own = environment.changed.iter().map(ToString::to_string);
        let named = environment.machines.iter().flat_map(|machines| machines.each_ref());
        own.chain(named.flat_map(|(side, machine)| {
            machine.changed.iter().map(move |change| format!("{side}: {change}"))
        }))
    }))
}

/// Of the first boot; `None` if there are none, or nobody receives.
fn hosts_that_differ(stored: &StoredStudy) -> Option<Table> {
    let both = &stored.boots.first()?.environment;
    let [mut one, mut other] = [&both.transmitter, both.receiver.as_ref()?]
        .map(|host| serde_json::to_value(host).expect("it was read from JSON"));
    pair_interfaces(&mut one, &mut other);
    let (one, other) = (leaves(&one), leaves(&other));
    // Of any two hosts these differ.
    let is_own = |path: &str| {
        path.starts_with("load.") || path.contains("_steering.") || path.ends_with(".link.address")
    };
    let rows = differing([&one, &other]).filter(|(property, _)| !is_own(property));
    let rows = rows.map(|(property, [here, there])| cells![property, here, there]);
    let table = Table::with_rows(["property", "transmitter", "receiver"], rows);
    table.titled("Differences between the two hosts (first boot)").filled()
}

/// Gives interfaces that only one host has a common name, in their own order.
fn pair_interfaces(one: &mut Value, other: &mut Value) {
    let names_of = |host: &Value| -> Vec<String> {
        host["interfaces"].as_object().map_or_else(Vec::new, |all| all.keys().cloned().collect())
    };
    let (here, there) = (names_of(one), names_of(other));
    // The ends of a path are compared, whatever they are called.
    for (host, names, others) in [(one, &here, &there), (other, &there, &here)] {
        let Some(interfaces) = host["interfaces"].as_object_mut() else { continue };
        for (place, name) in names.iter().filter(|name| !others.contains(name)).enumerate() {
            if let Some(mut interface) = interfaces.remove(name) {
                if interface.is_object() {
                    interface["name"] = name.as_str().into();
                }
                interfaces.insert(format!("[{}]", place + 1), interface);
            }
        }
    }
}

/// Values by their paths.
type EnvironmentValues = BTreeMap<String, String>;

fn changes(before: &EnvironmentValues, after: &EnvironmentValues) -> String {
    let differences = differing([before, after]).map(|(path, both)| {
        let known = both.map(|value| value.filter(|text| !text.is_empty()));
        let [before, after] = known.map(|value| value.map_or("-", String::as_str));
        format!("    {path}: {before} -> {after}\n")
    });
    differences.collect()
}

// The size of differences, in bytes, from which on a boot is of another kind than the boots before,
// mostly of another scenario: boots after it are compared with it too.
const OTHER: usize = 2_000;

/// Each boot but the first as its differences from the most similar earlier one.
fn recorded(boots: impl Iterator<Item = (String, EnvironmentValues, String)>) -> String {
    let (mut kinds, mut text): (Vec<(String, EnvironmentValues)>, _) = (Vec::new(), String::new());
    for (name, own, end) in boots {
        let nearest = kinds.iter().map(|(known, values)| (known, changes(values, &own)));
        let nearest = nearest.min_by_key(|(_, differ)| differ.len());
        let is_other = nearest.as_ref().is_none_or(|(_, differ)| differ.len() > OTHER);
        match nearest {
            None => {
                text.push_str(&format!("{name}:\n"));
                let known = own.iter().filter(|(_, value)| !value.is_empty());
                text.extend(known.map(|(path, value)| format!("    {path}: {value}\n")));
            }
            Some((_, differ)) if differ.is_empty() => {}
            Some((known, differ)) => text.push_str(&format!("{name}, against {known}:\n{differ}")),
        }
        if !end.is_empty() {
            text.push_str(&format!("end of {name}:\n{end}"));
        }
        if is_other {
            kinds.push((name, own));
        }
    }
    text
}

fn name(boot: &BootRow) -> String {
    let part = if boot.part > 1 { format!(", part {}", boot.part) } else { String::new() };
    format!("boot {}{part} ({} UTC)", boot.number, instant(boot.started_unix_ms))
}

fn end(boot: &BootRow) -> String {
    match &boot.environment_after {
        Some(after) => changes(&values(&boot.environment), &values(after)),
        None if boot.ended_unix_ms.is_some() => "    its hosts could not be asked\n".to_owned(),
        None => "    it did not end normally\n".to_owned(),
    }
}

fn values(environment: &Environment) -> EnvironmentValues {
    let mut document = serde_json::to_value(environment).expect("it was read from JSON");
    document["notes"] = environment.notes.iter().map(ToString::to_string).collect();
    document["changed"] = environment.changed.iter().map(ToString::to_string).collect();
    for (side, machine) in environment.machines.iter().flat_map(|machines| machines.each_ref()) {
        let changed = machine.changed.iter().map(ToString::to_string).collect();
        document["machines"][side.word()]["changed"] = changed;
    }
    for (name, guest) in environment.guests.iter().flatten() {
        document["guests"][name]["acceleration"] = guest.acceleration.to_string().into();
    }
    leaves(&document)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn boots_of_another_scenario_are_told_against_their_first() {
        let guests =
            |clock: u32| json!({"cpu": "x", "guests": {"features": "y".repeat(OTHER), "clock": clock}});
        let documents = [json!({"cpu": "x"}), guests(1), json!({"cpu": "z"}), guests(2), json!({"cpu": "x"})];
        let named = documents.iter().zip(1..);
        let text = recorded(named.map(|(one, boot)| (format!("boot {boot}"), leaves(one), String::new())));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..4],
            ["boot 1:", "    cpu: x", "boot 2, against boot 1:", "    guests.clock: - -> 1"]
        );
        assert!(lines[4].starts_with("    guests.features: - -> yy") && lines[4].len() > OTHER);
        assert_eq!(
            lines[5..],
            [
                "boot 3, against boot 1:",
                "    cpu: x -> z",
                "boot 4, against boot 2:",
                "    guests.clock: 1 -> 2"
            ],
            "the same again needs no words"
        );
    }
}

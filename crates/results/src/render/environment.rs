//! The environment of a study.

use std::collections::{BTreeMap, BTreeSet};

use record::{Environment, NamedMachine};
use serde_json::Value;
use store::StoredStudy;
use study::Side;

use crate::render::titled_table::TitledTable;
use crate::words::number::instant;
use crate::words::table::Table;

/// The environment of every boot, as indented text.
#[must_use]
pub fn environments(stored: &StoredStudy) -> String {
    let mut text = String::new();
    for boot in &stored.boots {
        let part = if boot.part > 1 { format!(", part {}", boot.part) } else { String::new() };
        text.push_str(&format!(
            "\nboot {}{part}, begun {} UTC\n",
            boot.number,
            instant(boot.started_unix_ms)
        ));
        let before = document(&boot.environment);
        outline(&before, 1, &mut text);
        match &boot.environment_after {
            Some(after) if *after != boot.environment => {
                text.push_str("  changed at its end:\n");
                changes("", &before, &document(after), &mut text);
            }
            Some(_) => {}
            None if boot.ended_unix_ms.is_some() => {
                text.push_str("  its hosts could not be asked at its end\n");
            }
            None => text.push_str("  it did not end normally\n"),
        }
    }
    text
}

/// The environment of the first boot, as an indented outline, and the differences of the other
/// boots; empty without a boot.
#[must_use]
pub fn first_environment(stored: &StoredStudy) -> String {
    let boot = |boot: &store::BootRow| {
        (format!("boot {}, part {}", boot.number, boot.part), document(&boot.environment))
    };
    against_others(stored.boots.iter().map(boot))
}

// The size of differences, in bytes, from which on a boot is of another kind than the boots before,
// mostly of another scenario: boots after it are compared with it too.
const OTHER: usize = 2_000;

/// The first document as an outline, and each other document as its differences from the most
/// similar earlier one; an equal document adds nothing.
fn against_others(documents: impl Iterator<Item = (String, Value)>) -> String {
    let (mut kinds, mut text): (Vec<(String, Value)>, _) = (Vec::new(), String::new());
    for (name, own) in documents {
        let differences = |(_, known): &(String, Value)| {
            let mut differ = String::new();
            changes("", known, &own, &mut differ);
            differ
        };
        let differ = kinds.iter().map(differences).enumerate().min_by_key(|(_, differ)| differ.len());
        let Some((nearest, differ)) = differ else {
            outline(&own, 0, &mut text);
            kinds.push((name, own));
            continue;
        };
        if !differ.is_empty() {
            let from = if nearest == 0 { String::new() } else { format!(", against {}", kinds[nearest].0) };
            text.push_str(&format!("in {name}{from}:\n{differ}"));
        }
        if differ.len() > OTHER {
            kinds.push((name, own));
        }
    }
    text
}

/// The properties in which the two hosts of the first boot differ, with the value of each.
/// Without a row where nobody receives.
#[must_use]
pub fn hosts_that_differ(stored: &StoredStudy) -> TitledTable {
    let mut table = Table::new(&["property", "transmitter", "receiver"]);
    let environment = stored.boots.first().map(|boot| &boot.environment);
    if let Some((transmitter, receiver)) =
        environment.and_then(|both| Some((&both.transmitter, both.receiver.as_ref()?)))
    {
        let [mut one, mut other] =
            [transmitter, receiver].map(|host| serde_json::to_value(host).expect("it was read from JSON"));
        pair_interfaces(&mut one, &mut other);
        let [one, other] = [one, other].map(|host| {
            let mut leaves = BTreeMap::new();
            flatten("", &host, &mut leaves);
            leaves
        });
        let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        for name in names {
            let [here, there] = [&one, &other].map(|host| host.get(name).map_or("-", String::as_str));
            if here != there {
                table.row(&[name, here, there]);
            }
        }
    }
    TitledTable {
        title: "Differences between the two hosts (first boot)".to_owned(),
        table,
        notes: Vec::new(),
    }
}

/// The machines of its user's that a study was measured between, a line for each, as they were at
/// the first boot; empty for other studies.
#[must_use]
pub fn machines(stored: &StoredStudy) -> Vec<String> {
    let Some(first) = stored.boots.first().map(|boot| &boot.environment) else { return Vec::new() };
    let Some(named) = &first.machines else { return Vec::new() };
    let line = |side: Side| {
        let NamedMachine { host, interface, changed: _ } = &named[side];
        let about = described(first, side, interface);
        format!(
            "{side}: {}, interface {}{about}",
            words::sanitised_line(host),
            words::sanitised_line(interface)
        )
    };
    let is_there = |side: &Side| *side == Side::Transmitter || first.receiver.is_some();
    Side::BOTH.into_iter().filter(is_there).map(line).collect()
}

/// The programs and filters of others that the packets of a study passed, a sentence without a full
/// stop for each interface.
#[must_use]
pub fn programs(stored: &StoredStudy) -> Vec<String> {
    let mut told = Vec::new();
    for both in stored.boots.iter().map(|boot| &boot.environment) {
        let sides = [(Side::Transmitter, Some(&both.transmitter)), (Side::Receiver, both.receiver.as_ref())];
        for (side, host) in sides {
            for (name, interface) in host.iter().flat_map(|host| &host.interfaces) {
                let programs = interface.iter().flat_map(|interface| &interface.programs);
                let named: Vec<String> = programs
                    .map(|(place, names)| format!("{} ({place})", words::sanitised_line(&names.join(", "))))
                    .collect();
                let sentence = format!(
                    "at the {side} each packet of {} passed {}, which costs time and may fix offloads",
                    words::sanitised_line(name),
                    named.join(", ")
                );
                if !named.is_empty() && !told.contains(&sentence) {
                    told.push(sentence);
                }
            }
        }
    }
    told
}

/// A machine in short: driver and MTU of its interface, kernel, CPU.
fn described(both: &Environment, side: Side, interface: &str) -> String {
    let receiver = both.receiver.as_ref().filter(|_| side == Side::Receiver);
    let host = receiver.unwrap_or(&both.transmitter);
    let about = host.interfaces.get(interface).and_then(Option::as_ref);
    let driver = about.and_then(|one| one.driver.as_ref().or(one.link.kind.as_ref()));
    let parts = [
        driver.map(|driver| format!("driver {}", words::sanitised_line(driver))),
        about.map(|one| format!("MTU {}", one.link.mtu)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let of_interface = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let kernel = host
        .kernel
        .release
        .as_ref()
        .map_or_else(String::new, |it| format!("; kernel {}", words::sanitised_line(it)));
    let cpu =
        host.cpu.model.as_ref().map_or_else(String::new, |it| format!("; CPU {}", words::sanitised_line(it)));
    format!("{of_interface}{kernel}{cpu}")
}

/// Gives the interfaces that only one of the hosts has the same names on both, in the order of
/// their own: the ends of a path are compared, whatever they are called.
fn pair_interfaces(one: &mut Value, other: &mut Value) {
    let own = |host: &Value| -> Vec<String> {
        host["interfaces"].as_object().map_or_else(Vec::new, |all| all.keys().cloned().collect())
    };
    let (here, there) = (own(one), own(other));
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

/// The values of a JSON document by their paths, without nulls.
fn flatten(path: &str, value: &Value, leaves: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, leaves);
            }
        }
        _ => {
            leaves.insert(path.to_owned(), leaf(value));
        }
    }
}

/// An environment as JSON, its codes as sentences.
fn document(environment: &Environment) -> Value {
    let mut document = serde_json::to_value(environment).expect("it was read from JSON");
    document["notes"] = environment.notes.iter().map(ToString::to_string).collect();
    if !environment.changed.is_empty() {
        document["changed"] = environment.changed.iter().map(ToString::to_string).collect();
    }
    for (side, machine) in environment.machines.iter().flat_map(|machines| machines.each_ref()) {
        if !machine.changed.is_empty() {
            document["machines"][side.word()]["changed"] =
                machine.changed.iter().map(ToString::to_string).collect();
        }
    }
    for (name, guest) in environment.guests.iter().flatten() {
        document["guests"][name]["acceleration"] = guest.acceleration.to_string().into();
    }
    document
}

/// A JSON document as an indented outline of `key: value`, without nulls.
fn outline(value: &Value, depth: usize, text: &mut String) {
    let Value::Object(fields) = value else { return };
    let indent = "  ".repeat(depth);
    for (key, value) in fields {
        match value {
            Value::Null => {}
            Value::Object(_) => {
                text.push_str(&format!("{indent}{key}:\n"));
                outline(value, depth + 1, text);
            }
            _ => text.push_str(&format!("{indent}{key}: {}\n", leaf(value))),
        }
    }
}

fn leaf(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim_end().to_owned(),
        Value::Array(items) => items.iter().map(leaf).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn changes(path: &str, before: &Value, after: &Value, text: &mut String) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                changes(&path, old.get(key).unwrap_or(&Value::Null), value, text);
            }
        }
        // A list of hosts is as long as the other: each is compared with its own.
        (Value::Array(old), Value::Array(new))
            if old.len() == new.len() && new.iter().any(Value::is_object) =>
        {
            for ((old, new), place) in old.iter().zip(new).zip(1..) {
                changes(&format!("{path}[{place}]"), old, new, text);
            }
        }
        _ if before != after => {
            text.push_str(&format!("    {path}: {} -> {}\n", leaf(before), leaf(after)));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outlines_leave_nothing_out_but_nulls() {
        let mut text = String::new();
        outline(&json!({"a": {"b": [1, 2], "c": null}, "d": "x\n"}), 0, &mut text);
        assert_eq!(text, "a:\n  b: 1, 2\nd: x\n");
    }

    #[test]
    fn boots_of_another_scenario_are_told_against_their_first() {
        let guests =
            |clock: u32| json!({"cpu": "x", "guests": {"features": "y".repeat(OTHER), "clock": clock}});
        let documents = [json!({"cpu": "x"}), guests(1), json!({"cpu": "z"}), guests(2), json!({"cpu": "x"})];
        let named = documents.into_iter().zip(1..).map(|(one, boot)| (format!("boot {boot}"), one));
        let text = against_others(named);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["cpu: x", "in boot 2:"]);
        assert!(lines[2].starts_with("    guests: null -> ") && lines[2].len() > OTHER);
        assert_eq!(
            lines[3..],
            ["in boot 3:", "    cpu: x -> z", "in boot 4, against boot 2:", "    guests.clock: 1 -> 2"],
            "the same again needs no words"
        );
    }

    #[test]
    fn changes_are_named_by_their_path() {
        let mut text = String::new();
        changes("", &json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"b": 1, "c": 3}}), &mut text);
        assert_eq!(text, "    a.c: 2 -> 3\n");
        let mut text = String::new();
        let hosts = |clock: u32| json!({"hosts": [{"cpu": "x", "clock": 1}, {"cpu": "x", "clock": clock}]});
        changes("", &hosts(2), &hosts(3), &mut text);
        assert_eq!(text, "    hosts[2].clock: 2 -> 3\n", "not the whole list");
    }
}

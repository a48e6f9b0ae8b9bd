//! Where a study was measured.

use std::collections::{BTreeMap, BTreeSet};

use record::Environment;
use serde_json::Value;
use store::StoredStudy;

use crate::render::exhibit::Exhibit;
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

/// Where the first boot was measured, as an indented outline, and what differs in the other boots;
/// empty without a boot.
#[must_use]
pub fn first_environment(stored: &StoredStudy) -> String {
    let Some(first) = stored.boots.first() else { return String::new() };
    let base = document(&first.environment);
    let mut text = String::new();
    outline(&base, 0, &mut text);
    for boot in &stored.boots[1..] {
        let mut differ = String::new();
        changes("", &base, &document(&boot.environment), &mut differ);
        if !differ.is_empty() {
            text.push_str(&format!("in boot {}, part {}:\n{differ}", boot.number, boot.part));
        }
    }
    text
}

/// In what the two hosts of the first boot differ: the property, and its value on each of them.
/// Without a row where nobody receives.
#[must_use]
pub fn hosts_that_differ(stored: &StoredStudy) -> Exhibit {
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
    Exhibit { title: "Differences between the two hosts (first boot)".to_owned(), table, notes: Vec::new() }
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
    fn changes_are_named_by_their_path() {
        let mut text = String::new();
        changes("", &json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"b": 1, "c": 3}}), &mut text);
        assert_eq!(text, "    a.c: 2 -> 3\n");
    }
}

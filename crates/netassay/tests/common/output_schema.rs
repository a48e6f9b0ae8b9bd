//! `docs/output.schema.json` has each field of the JSON that commands print, and tests hold
//! outputs to it. With `UPDATE_SCHEMA=1` every test that prints JSON adds the fields and types of
//! its output instead (`cargo nextest run --test-threads 1`, for one file).

use std::fs;

use serde_json::{Map, Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/output.schema.json");

/// Arguments that give a command another kind of output.
const VARIANTS: &[&str] = &["--dry-run", "--aa", "--classic", "--paths", "--latency-curve"];

/// Objects whose keys are data: metrics, features, settings, counters, names of hosts.
const MAPS: &[&str] =
    &["means", "metrics", "features", "active", "follow_on", "refused", "sysctls", "counters"];

/// Parts of outputs that share a definition, or are the output of another command.
const SHARED: &[(&str, &str)] = &[
    ("report/studies/stored", "show"),
    ("report/studies/results", "run"),
    ("show/results", "run"),
    ("report/advice", "advise"),
    ("report/fleet", "fleet"),
    ("show/fleet", "fleet"),
    ("fleet/reference/history", "history"),
    ("show/boots/environment", "environment"),
    ("show/boots/environment_after", "environment"),
    ("environment/transmitter", "host"),
    ("environment/receiver", "host"),
    ("show/runs/detail/transmitter", "side of a run"),
    ("show/runs/detail/receiver", "side of a run"),
    ("load/effective/transmitter", "effective state"),
    ("load/effective/receiver", "effective state"),
    ("run --dry-run/effective/transmitter", "effective state"),
    ("run --dry-run/effective/receiver", "effective state"),
    ("load/asked/traffic", "traffic"),
    ("load --latency-curve/asked", "traffic"),
    ("run --dry-run/conditions/workload", "traffic"),
    ("show/plan/conditions/workload", "traffic"),
    ("trace/traces/asked", "traffic"),
    ("load/series/transmitter", "series"),
    ("load/series/receiver", "series"),
];

/// Whether tests add to the file.
pub(super) fn is_updating() -> bool {
    std::env::var_os("UPDATE_SCHEMA").is_some()
}

/// Asserts that the file has the fields and types of this output of a command.
pub(crate) fn expect(arguments: &[&str], output: &str) {
    let value: Value = serde_json::from_str(output)
        .unwrap_or_else(|error| panic!("{arguments:?} printed no JSON: {error}\n{output}"));
    assert_eq!(value["format_version"], 1, "{arguments:?}: {output}");
    let text = fs::read_to_string(FILE).unwrap_or_default();
    let known: Value = serde_json::from_str(&text).unwrap_or_else(|_| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "The JSON that netassay prints, by command",
            "$defs": {},
        })
    });
    let mut definitions = known["$defs"].as_object().unwrap().clone();
    let command = command(arguments);
    widen_output(&mut definitions, &command, &value);
    if definitions == *known["$defs"].as_object().unwrap() {
        return;
    }
    let mut widened = known.clone();
    widened["$defs"] = Value::Object(definitions);
    widened.sort_all_objects();
    if is_updating() {
        let mut text = String::new();
        write_indented(&mut text, &widened, 0);
        fs::write(FILE, text + "\n").unwrap();
        return;
    }
    let mut differences = Vec::new();
    list_differences("", &known, &widened, &mut differences);
    panic!("the output of `{command}` is not the one of docs/output.schema.json: {differences:#?}");
}

/// The command's words and the arguments that change the kind of its output.
fn command(arguments: &[&str]) -> String {
    let has_two = |group: &str| ["db", "fleet", "study", "kernel"].contains(&group);
    let words = if has_two(arguments[0]) { 2 } else { 1 };
    let (words, rest) = arguments.split_at(words);
    let variants = VARIANTS.iter().filter(|variant| rest.contains(variant));
    let studies = rest.iter().take_while(|argument| !argument.starts_with('-')).count();
    let two = (arguments[0] == "compare" && studies > 1).then_some("two studies");
    let parts = words.iter().chain(variants).copied().chain(two);
    parts.collect::<Vec<_>>().join(" ")
}

fn widen_output(definitions: &mut Map<String, Value>, name: &str, value: &Value) {
    let mut schema = definitions.remove(name).unwrap_or(json!({}));
    widen(definitions, &mut schema, name, value);
    definitions.insert(name.to_owned(), schema);
}

/// Lets a schema allow one more value.
fn widen(definitions: &mut Map<String, Value>, schema: &mut Value, path: &str, value: &Value) {
    // Any field of a measurement may be null on a machine that cannot measure it.
    if value.is_null() && !is_updating() {
        return;
    }
    if let Some((_, shared)) = SHARED.iter().find(|(part, _)| *part == path) {
        if !value.is_null() {
            widen_output(definitions, shared, value);
        }
        *schema = json!({ "anyOf": [{ "$ref": format!("#/$defs/{shared}") }, { "type": "null" }] });
        return;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    add_type(schema, kind);
    let name = path.rsplit('/').next().unwrap_or_default();
    match value {
        Value::Array(items) => {
            for item in items {
                let mut inner = schema.get("items").cloned().unwrap_or(json!({}));
                widen(definitions, &mut inner, path, item);
                schema["items"] = inner;
            }
        }
        // Metrics stand in tables of metrics.
        Value::Object(fields)
            if MAPS.contains(&name) || path == "load/metrics/*" && !fields.contains_key("value") =>
        {
            for field in fields.values() {
                let mut inner = schema.get("additionalProperties").cloned().unwrap_or(json!({}));
                widen(definitions, &mut inner, &format!("{path}/*"), field);
                schema["additionalProperties"] = inner;
            }
        }
        Value::Object(fields) => {
            let mut properties = schema.get("properties").cloned().unwrap_or(json!({}));
            for (field, value) in fields {
                let mut inner = properties.get(field).cloned().unwrap_or(json!({}));
                widen(definitions, &mut inner, &format!("{path}/{field}"), value);
                properties[field] = inner;
            }
            schema["properties"] = properties;
        }
        _ => {}
    }
}

fn add_type(schema: &mut Value, kind: &str) {
    let mut kinds: Vec<String> = match &schema["type"] {
        Value::Null => Vec::new(),
        Value::String(one) => vec![one.clone()],
        several => several.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
    };
    kinds.push(kind.to_owned());
    // Each whole number is a number.
    if kinds.iter().any(|kind| kind == "number") {
        kinds.retain(|kind| kind != "integer");
    }
    kinds.sort();
    kinds.dedup();
    schema["type"] = if let [one] = kinds.as_slice() { one.clone().into() } else { kinds.into() };
}

/// A value on one line where it fits, else each of its members.
fn write_indented(text: &mut String, value: &Value, indent: usize) {
    let compact = value.to_string();
    let (begin, end, members) = match value {
        Value::Object(fields) if compact.len() + indent > 120 => {
            ('{', '}', fields.iter().map(|(key, value)| (Some(key), value)).collect::<Vec<_>>())
        }
        Value::Array(items) if compact.len() + indent > 120 => {
            ('[', ']', items.iter().map(|item| (None, item)).collect())
        }
        _ => return text.push_str(&compact),
    };
    text.push(begin);
    for (number, (key, value)) in members.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        text.push_str(&format!("{comma}\n{:indent$}", "", indent = indent + 1));
        if let Some(key) = key {
            text.push_str(&format!("\"{key}\": "));
        }
        write_indented(text, value, indent + 1);
    }
    text.push_str(&format!("\n{:indent$}{end}", ""));
}

fn list_differences(path: &str, known: &Value, widened: &Value, found: &mut Vec<String>) {
    match (known, widened) {
        (Value::Object(known), Value::Object(widened)) => {
            for (key, value) in widened {
                let inner = format!("{path}/{key}");
                list_differences(&inner, known.get(key).unwrap_or(&Value::Null), value, found);
            }
        }
        _ if known != widened => found.push(format!("{path}: {known} in the file, {widened} printed")),
        _ => {}
    }
}

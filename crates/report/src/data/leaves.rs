//! A record as its values by their paths: `kernel.release`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// Every value of a record by its path, as text; what is null is left out, and a list of values is
/// one.
pub(crate) fn leaves(record: &impl Serialize) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let value = serde_json::to_value(record).expect("it was read from JSON");
    collect(String::new(), &value, &mut found);
    found
}

fn collect(path: String, value: &Value, found: &mut BTreeMap<String, String>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect(below(name), value, found));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().enumerate().for_each(|(at, item)| collect(below(&at.to_string()), item, found));
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(text).collect();
            found.insert(path, items.join(", "));
        }
        other => drop(found.insert(path, text(other))),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_has_its_path() {
        let found = leaves(&json!({"a": {"b": [1, "x"], "c": null}, "d": [{"e": true}], "f": "y\n"}));
        let found: Vec<(&str, &str)> = found.iter().map(|(path, value)| (&**path, &**value)).collect();
        assert_eq!(found, [("a.b", "1, x"), ("d.0.e", "true"), ("f", "y")]);
    }
}

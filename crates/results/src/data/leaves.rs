//! A record as its values by their paths: `kernel.release`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

/// Every value of a record by its path, as text; null is left out, a list is one value.
pub fn leaves(record: &impl Serialize) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    visit_leaves(record, &|_| true, &mut |path, value| drop(found.insert(path.to_owned(), value.to_owned())));
    found
}

/// The paths at which two records have different values, in order, with the values of both.
pub fn differing<V: PartialEq>(
    [one, other]: [&BTreeMap<String, V>; 2],
) -> impl Iterator<Item = (&str, [Option<&V>; 2])> {
    let paths: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let both = paths.into_iter().map(move |path| (path.as_str(), [one.get(path), other.get(path)]));
    both.filter(|(_, [before, after])| before != after)
}

/// Skips fields for which `counts` is false.
pub(crate) fn visit_leaves(
    record: &impl Serialize,
    counts: &impl Fn(&str) -> bool,
    visit: &mut impl FnMut(&str, &str),
) {
    let value = serde_json::to_value(record).expect("it was read from JSON");
    collect(&mut String::new(), &value, counts, visit);
}

fn collect(
    path: &mut String,
    value: &Value,
    counts: &impl Fn(&str) -> bool,
    visit: &mut impl FnMut(&str, &str),
) {
    let mut below = |name: &str, value: &Value| {
        if !counts(name) {
            return;
        }
        // One buffer for all paths: a study has thousands of values.
        let length = path.len();
        if length > 0 {
            path.push('.');
        }
        path.push_str(name);
        collect(path, value, counts, visit);
        path.truncate(length);
    };
    match value {
        Value::Null => {}
        Value::Object(fields) => fields.iter().for_each(|(name, value)| below(name, value)),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().enumerate().for_each(|(at, item)| below(&at.to_string(), item));
        }
        Value::Array(items) => {
            let items: Vec<Cow<'_, str>> = items.iter().map(text).collect();
            visit(path, &items.join(", "));
        }
        other => visit(path, &text(other)),
    }
}

fn text(value: &Value) -> Cow<'_, str> {
    match value.as_str() {
        Some(text) => text.trim_end().into(),
        None => value.to_string().into(),
    }
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

    #[test]
    fn what_is_below_a_field_that_does_not_count_is_left_out() {
        let mut found = Vec::new();
        let record = json!({"a": {"b": {"c": 1}, "d": 2}, "b": [{"e": 3}]});
        visit_leaves(&record, &|name| name != "b", &mut |path, value| found.push(format!("{path} {value}")));
        assert_eq!(found, ["a.d 2"]);
    }
}

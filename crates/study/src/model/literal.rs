//! Values as TOML writes them.

use toml_edit::Value;
use words::Key;

/// Keys whose values are texts even if they look like numbers.
const TEXTS: &[&str] = &["name", "question", "twin", "kernel", "command_line"];

/// The values of a key as TOML: one as itself, several as an array.
pub(crate) fn toml_value(key: &str, values: &[String]) -> Value {
    let is_text = TEXTS.contains(&key) || Key::find(key).is_some_and(Key::is_name);
    match values {
        [one] => single(one, is_text),
        several => several.iter().map(|one| single(one, is_text)).collect(),
    }
}

fn single(value: &str, is_text: bool) -> Value {
    // Text that TOML would read as another number, or reject (`007`, `1_000`), stays a text, and
    // the reader reports it.
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    match (number, value) {
        (Some(number), _) if !is_text => number.into(),
        (None, "true" | "false") if !is_text => (value == "true").into(),
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::assignment::Assignment;
    use proptest::prelude::*;

    #[test]
    fn numbers_switches_and_texts() {
        let of = |key: &str, values: &[&str]| {
            super::toml_value(key, &values.iter().map(ToString::to_string).collect::<Vec<_>>()).to_string()
        };
        assert_eq!(of("boots", &["2"]), "2");
        assert_eq!(of("name", &["2"]), "\"2\"");
        assert_eq!(of("seed", &["007"]), "\"007\"");
        assert_eq!(of("verify", &["true"]), "true");
        assert_eq!(of("sender", &["send", "gso"]), "[\"send\", \"gso\"]");
        assert_eq!(of("mtu", &["1500", "default"]), "[1500, \"default\"]");
        assert_eq!(of("question", &["a \"b\" \\ c"]), "'a \"b\" \\ c'");
    }

    proptest! {
        #[test]
        fn any_value_is_toml(text in "\\PC{1,20}") {
            if let Ok(assignment) = format!("x={text}").parse::<Assignment>() {
                let toml = format!("x = {}\n", toml_value("x", assignment.values()));
                prop_assert!(toml::de::DeTable::parse(&toml).is_ok(), "{}", toml);
            }
        }
    }
}

//! Values of the command line as TOML writes them.

use words::Key;

/// Keys whose values are texts even if they look like numbers.
const TEXTS: &[&str] = &["name", "question", "twin", "kernel", "command_line"];

/// The values of a key as TOML: one as itself, several as an array.
pub(crate) fn of(key: &str, values: &[String]) -> String {
    let is_text = TEXTS.contains(&key) || Key::find(key).is_some_and(Key::is_name);
    match values {
        [one] => single(one, is_text),
        several => {
            let items: Vec<String> = several.iter().map(|one| single(one, is_text)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

fn single(value: &str, is_text: bool) -> String {
    // What TOML would read as another number, or as none (`007`, `1_000`), stays a text, and the reader says so.
    let is_number = || value.parse::<i64>().is_ok_and(|number| number.to_string() == value);
    let is_switch = matches!(value, "true" | "false");
    if !is_text && (is_switch || is_number()) { value.to_owned() } else { text(value) }
}

/// A basic string (TOML 1.0, "String"): quotes and backslashes escaped. There are no control characters in an assignment.
fn text(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::assignment::Assignment;
    use proptest::prelude::*;

    #[test]
    fn numbers_switches_and_texts() {
        let of = |key: &str, values: &[&str]| {
            super::of(key, &values.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(of("boots", &["2"]), "2");
        assert_eq!(of("name", &["2"]), "\"2\"");
        assert_eq!(of("seed", &["007"]), "\"007\"");
        assert_eq!(of("verify", &["true"]), "true");
        assert_eq!(of("sender", &["send", "gso"]), "[\"send\", \"gso\"]");
        assert_eq!(of("mtu", &["1500", "default"]), "[1500, \"default\"]");
        assert_eq!(of("question", &["a \"b\" \\ c"]), "\"a \\\"b\\\" \\\\ c\"");
    }

    proptest! {
        #[test]
        fn any_value_is_toml(text in "\\PC{1,20}") {
            if let Ok(assignment) = format!("x={text}").parse::<Assignment>() {
                let toml = format!("x = {}\n", of("x", assignment.values()));
                prop_assert!(toml::de::DeTable::parse(&toml).is_ok(), "{}", toml);
            }
        }
    }
}

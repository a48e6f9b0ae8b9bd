//! The value of a setting.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The value of a setting, byte for byte with its end of line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SettingValue(String);

const SHOWN: usize = 120;

impl SettingValue {
    /// The text, with the end of line.
    pub fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn words(&self) -> Vec<String> {
        self.0.split_whitespace().map(str::to_owned).collect()
    }
}

impl From<&str> for SettingValue {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for SettingValue {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// One line for people: unprintable characters are escaped, and a long value is cut.
impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.words().join(" ");
        if text.is_empty() {
            return f.write_str("(empty)");
        }
        let shown: String = text.chars().take(SHOWN).collect();
        f.write_str(&words::sanitised_line(&shown))?;
        if text.chars().nth(SHOWN).is_some() { write!(f, "… ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}

pub(super) fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_in_one_line() {
        assert_eq!(SettingValue::from("4096\t131072\t6291456\n").to_string(), "4096 131072 6291456");
        assert_eq!(SettingValue::from("\n").to_string(), "(empty)");
        assert_eq!(SettingValue::from("a\u{1b}[2J\u{202e}\"").to_string(), "a\\u{1b}[2J\\u{202e}\"");
        let long = SettingValue::from("1,".repeat(3000).as_str()).to_string();
        assert!(long.ends_with("… (6000 bytes)") && long.len() < 150, "{long}");
    }
}
